// Random executions: for programs that have too many to explore them all.
#pragma once

#include <random>

#include "explore/choices.hpp"
#include "explore/search.hpp"

namespace mazurka {

class RandomWalk final : public Search {
public:
    using Search::Search;

    bool run() override {
        if (failed_at_start()) return false;
        std::mt19937_64 random(options_.seed);
        while (!should_stop()) {
            const std::vector<Step> steps = enabled_steps(execution_.machine());
            if (steps.empty()) note_end();
            else {
                const Step& step = steps[random() % steps.size()];
                execution_.take(step.thread, step.choices);
                if (note_event()) continue;
            }
            execution_.shorten(0);
        }
        return false;
    }
};

}  // namespace mazurka
