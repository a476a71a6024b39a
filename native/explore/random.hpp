// Random executions: for programs that have too many to explore them all.
#pragma once

#include <random>

#include "explore/explorer.hpp"

namespace mazurka {

template <Subject S>
class RandomWalk final : public Explorer<S> {
public:
    using Explorer<S>::Explorer;

    bool run() override {
        if (this->failed_at_start()) return false;
        std::mt19937_64 random(this->options_.seed);
        while (!this->should_stop()) {
            const std::vector<Step> steps = this->enabled_steps();
            if (this->is_stopping()) break;
            if (steps.empty())
                this->note_end();
            else {
                const Step& step = steps[random() % steps.size()];
                this->execution_.take(step.thread, step.choices);
                if (this->note_event()) continue;
            }
            this->execution_.shorten(0);
        }
        return false;
    }
};

}  // namespace mazurka
