// A subject that can only announce, step and start again: to return to a point, what led there is done once more.
#pragma once

#include <utility>
#include <vector>

#include "explore/subject.hpp"

namespace mazurka {

template <class S>
class Restarting : public S {
public:
    using Mark = std::size_t;  // so many steps from the start

    explicit Restarting(S start) : S(std::move(start)) {}

    bool take(Slot thread, std::span<const u32> choices, Effect& effect) {
        taken_.push_back({thread, {choices.begin(), choices.end()}});
        return S::take(thread, choices, effect);
    }
    Mark mark() { return taken_.size(); }
    void rewind(Mark mark) {
        if (mark == taken_.size()) return;
        taken_.resize(mark);
        static_cast<S&>(*this) = S::again();
        Effect effect;
        for (const Step& step : taken_) S::take(step.thread, step.choices, effect);
    }
    Restarting again() const { return Restarting(S::again()); }

private:
    std::vector<Step> taken_;
};

}  // namespace mazurka
