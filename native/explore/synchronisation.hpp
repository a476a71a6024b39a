// What happens before what, by the rules of the memory model of C, along one execution.
//
// Every event has an index in its thread. A *clock* tells for each thread how many of its events happen before some
// point. Each thread carries three of them: what it knows of; what it had known of at its last release fence, which
// goes with its atomic writes from there on even if they are relaxed; and what it has read without acquiring it, which
// an acquire fence will catch up on. Each event leaves another one behind: what those get to know of who acquire what
// it wrote. An update goes on with what it found there (a release sequence, as C++20 has it).
//
// This knows nothing of where events come from, or of which write a read reads: that is what it is told. Fences are
// followed only if there are any.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "core/step.hpp"

namespace mazurka {

constexpr bool acquires(Ordering ordering) {
    return ordering == Ordering::acquire || ordering == Ordering::acq_rel || ordering == Ordering::seq_cst;
}
constexpr bool releases(Ordering ordering) {
    return ordering == Ordering::release || ordering == Ordering::acq_rel || ordering == Ordering::seq_cst;
}
constexpr bool synchronises(Ordering ordering) { return ordering != Ordering::plain && ordering != Ordering::lifetime; }

// A table of clocks with room for more threads.
inline std::vector<u32> widened(std::span<const u32> clocks, u32 stride, u32 wider) {
    std::vector<u32> table(clocks.size() / stride * wider, 0);
    for (std::size_t i = 0; i < clocks.size() / stride; ++i)
        std::copy_n(clocks.data() + i * stride, stride, table.data() + i * wider);
    return table;
}

class Synchronisation {
public:
    explicit Synchronisation(bool fences) : clocks_of_state_(fences ? 3 : 1), states_(clocks_of_state_ * stride_) {}

    // Make room for so many threads.
    void widen(u32 stride) {
        states_ = widened(states_, stride_, stride);
        left_ = widened(left_, stride_, stride);
        stride_ = stride;
    }

    // What a thread knows of now.
    const u32* known(Slot thread) const { return clock(current_[thread], knows); }
    // What those get to know of who acquire what an event wrote.
    const u32* left_by(u32 event) const { return left_.data() + std::size_t{event} * stride_; }

    // The next event, whose thread comes to its `index`th: it begins, ...
    void begin(Slot thread, u32 index) {
        events_.push_back({thread, current_[thread], number_of_states(), static_cast<u32>(births_.size())});
        left_.resize(left_.size() + stride_, 0);
        current_[thread] = copy_state(current_[thread]);
        clock(current_[thread], knows)[thread] = index;
        releases_ = writes_ = false;
    }
    // ... makes an atomic access, which reads what an earlier event wrote, ...
    void read(const Access& access, u32 written_by) {
        const u32* const found = left_by(written_by);
        if (acquires(access.ordering))
            join(clock(current(), knows), found);
        else if (follows_fences())
            join(clock(current(), unacquired), found);
        if (access.writes) join(left(), found);
    }
    // ... or writes, ...
    void write(const Access& access) {
        writes_ = true;
        releases_ |= releases(access.ordering);
    }
    // ... and is over. What was done in it, a section, is done at once: so it acquires before it releases.
    void end(std::span<const LocalAct> acts) {
        for (const LocalAct& act : acts)
            if (act.inside && act.created == 0 && acquires(act.fence))
                join(clock(current(), knows), clock(current(), unacquired));
        if (releases_)
            join(left(), clock(current(), knows));
        else if (writes_ && follows_fences())
            join(left(), clock(current(), fenced));
    }
    // What threads did after it on their own.
    void go_on(std::span<const LocalAct> acts) {
        for (const LocalAct& act : acts) {
            const u32 state = current_[act.thread];
            if (act.created != 0) {
                // Only what the creator knows is passed on: what it did about fences was done in its own thread.
                births_.push_back({act.created, current_[act.created]});
                const u32 born = copy_state(state);
                std::fill_n(clock(born, knows) + stride_, (clocks_of_state_ - 1) * stride_, 0);
                current_[act.created] = born;
            } else if (follows_fences()) {
                if (acquires(act.fence)) join(clock(state, knows), clock(state, unacquired));
                if (releases(act.fence)) std::copy_n(clock(state, knows), stride_, clock(state, fenced));
            }
        }
    }
    // Forget all events but the first ones.
    void shorten(u32 length) {
        while (events_.size() > length) {
            const Event& last = events_.back();
            for (; births_.size() > last.births; births_.pop_back())
                current_[births_.back().thread] = births_.back().before;
            current_[last.thread] = last.before;
            states_.resize(std::size_t{last.states} * clocks_of_state_ * stride_);
            events_.pop_back();
        }
        left_.resize(std::size_t{length} * stride_);
    }

private:
    enum Clock : u8 { knows, fenced, unacquired };
    struct Event {
        Slot thread;
        u32 before;  // the state of its thread
        u32 states;  // so many there were
        u32 births;  // where those of the threads that it created begin
    };
    struct Birth {
        Slot thread;
        u32 before;  // the state of whoever was in that slot
    };

    bool follows_fences() const { return clocks_of_state_ > 1; }
    u32 current() const { return current_[events_.back().thread]; }
    u32* left() { return left_.data() + left_.size() - stride_; }
    u32 number_of_states() const { return static_cast<u32>(states_.size() / (clocks_of_state_ * stride_)); }
    u32* clock(u32 state, Clock which) {
        return states_.data() + (std::size_t{state} * clocks_of_state_ + which) * stride_;
    }
    const u32* clock(u32 state, Clock which) const {
        return states_.data() + (std::size_t{state} * clocks_of_state_ + which) * stride_;
    }
    u32 copy_state(u32 state) {
        const u32 copy = number_of_states();
        states_.resize(states_.size() + clocks_of_state_ * stride_);
        std::copy_n(clock(state, knows), clocks_of_state_ * stride_, clock(copy, knows));
        return copy;
    }
    void join(u32* into, const u32* from) const {
        for (u32 i = 0; i < stride_; ++i) into[i] = std::max(into[i], from[i]);
    }

    u32 stride_ = 4;
    std::size_t clocks_of_state_;
    std::vector<u32> states_;  // the first one is that of a thread that knows nothing
    std::vector<u32> left_;    // by events
    std::array<u32, max_slots> current_{};
    std::vector<Event> events_;
    std::vector<Birth> births_;
    bool writes_ = false;  // the last event, atomically, ...
    bool releases_ = false;
};

}  // namespace mazurka
