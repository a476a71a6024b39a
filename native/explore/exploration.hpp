// The front door: an exploration by the chosen algorithm, that can be watched and stopped from another thread.
#pragma once

#include <memory>
#include <stdexcept>

#include "explore/exhaustive.hpp"
#include "explore/optimal.hpp"
#include "explore/pop.hpp"
#include "explore/random.hpp"

namespace mazurka {

template <Subject S>
class Exploration {
public:
    Exploration(S start, const ExplorationOptions& options) : start_(std::move(start)), options_(options) {
        explore_by(options.algorithm);
    }

    void run() {  // once
        const Algorithm wanted = options_.algorithm;
        run_by(wanted);
        if (!explorer_->tells_apart()) return;
        options_.symmetry = false;
        run_by(wanted);
    }
    void stop() { stopping_ = true; }
    bool finished() const { return finished_; }  // everything was covered
    const Progress& progress() const { return progress_; }
    const Results& results() const { return explorer_->results(); }
    // Whether threads that are alike were explored in one order only.
    bool symmetric() const { return options_.symmetry && options_.algorithm == Algorithm::optimal; }
    const S& subject() const { return explorer_->subject(); }
    Algorithm algorithm() const { return options_.algorithm; }               // that was used in the end, ...
    const std::optional<HandOver>& hand_over() const { return hand_over_; }  // ... and why, if it is another one

private:
    void run_by(Algorithm algorithm) {
        explore_by(algorithm);
        progress_.show({}, 0);
        finished_ = explorer_->run();
        hand_over_ = explorer_->hand_over();
        if (!hand_over_) return;
        explore_by(Algorithm::optimal);
        progress_.show({}, 0);
        finished_ = explorer_->run();
    }
    template <class E>
    void begin() {
        explorer_ = std::make_unique<E>(start_, options_, progress_, stopping_);
    }
    void explore_by(Algorithm algorithm) {
        options_.algorithm = algorithm;
        switch (algorithm) {
            case Algorithm::exhaustive: return begin<Exhaustive<S>>();
            case Algorithm::optimal: return begin<Optimal<S>>();
            case Algorithm::random: return begin<RandomWalk<S>>();
            case Algorithm::pop: return begin<Pop<S>>();
            case Algorithm::graphs: throw std::invalid_argument("graphs are explored elsewhere");
        }
    }

    S start_;
    ExplorationOptions options_;
    Progress progress_;
    std::atomic<bool> stopping_ = false;
    bool finished_ = false;
    std::optional<HandOver> hand_over_;
    std::unique_ptr<Explorer<S>> explorer_;
};

}  // namespace mazurka
