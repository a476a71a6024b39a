// The front door: an exploration by the chosen algorithm, that can be watched and stopped from another thread.
#pragma once

#include <deque>
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
    Exploration(S start, const ExplorationOptions& options)
        : start_(std::move(start)), options_(options), progress_(options.division.jobs) {
        explore_by(options.algorithm);
    }

    void run() {  // once
        const Algorithm wanted = options_.algorithm;
        run_by(wanted);
        if (!explorers_[0]->tells_apart()) return;
        options_.symmetry = false;
        run_by(wanted);
    }
    void stop() { stopping_ = true; }
    bool finished() const { return finished_; }  // everything was covered
    Snapshot progress() const { return sum_of(progress_); }
    const Results& results() const { return jobs_ == 0 ? explorers_[0]->results() : results_; }
    // Whether threads that are alike were explored in one order only.
    bool symmetric() const { return options_.symmetry && options_.algorithm == Algorithm::optimal; }
    const S& subject() const { return start_; }  // knows what all threads are called that were met
    u64 instructions_executed() const {
        u64 sum = 0;
        for (const auto& explorer : explorers_) sum += explorer->subject().instructions_executed();
        return sum;
    }
    Algorithm algorithm() const { return options_.algorithm; }               // that was used in the end, ...
    const std::optional<HandOver>& hand_over() const { return hand_over_; }  // ... and why, if it is another one
    u32 jobs() const { return std::max(jobs_, u32{1}); }                     // how many workers have done it

private:
    void run_by(Algorithm algorithm) {
        explore_by(algorithm);
        finished_ = algorithm == Algorithm::pop ? run_pop() : explorers_[0]->run();
        if (!hand_over_) return;
        explore_by(Algorithm::optimal);
        finished_ = explorers_[0]->run();
    }
    template <class E>
    E& begin(u32 worker = 0) {
        auto explorer = std::make_unique<E>(start_, options_, progress_[worker], stopping_);
        E& made = *explorer;
        explorers_.push_back(std::move(explorer));
        return made;
    }
    void explore_by(Algorithm algorithm) {
        pops_.clear();
        explorers_.clear();
        for (Progress& one : progress_) one.clear();
        options_.algorithm = algorithm;
        switch (algorithm) {
            case Algorithm::exhaustive: begin<Exhaustive<S>>(); break;
            case Algorithm::optimal: begin<Optimal<S>>(); break;
            case Algorithm::random: begin<RandomWalk<S>>(); break;
            case Algorithm::pop:
                for (u32 worker = 0; worker < options_.division.jobs; ++worker) pops_.push_back(&begin<Pop<S>>(worker));
                break;
            case Algorithm::graphs: throw std::invalid_argument("graphs are explored elsewhere");
        }
    }
    bool run_pop() {
        bool finished = false;
        hand_over_.reset();
        results_ = {};
        if (options_.division.divides()) {
            Team<typename Pop<S>::Task> team(options_.division, progress_, stopping_, {});
            for (u32 worker = 0; worker < pops_.size(); ++worker) pops_[worker]->join(team, worker);
            jobs_ = options_.division.jobs;
            finished = team.run([&](u32 worker) { return pops_[worker]->run(); });
            const auto order = order_of(start_);
            for (Pop<S>* const pop : pops_) {
                if (finished && pop != pops_[0]) pops_[0]->compare(*pop);
                results_.add(pop->results(), order);
            }
            results_.settle(order);
        } else {
            finished = pops_[0]->run();
        }
        for (const Pop<S>* const pop : pops_)
            if (!hand_over_) hand_over_ = pop->hand_over();
        if (hand_over_) jobs_ = 0;
        pops_.clear();
        return finished;
    }

    S start_;
    ExplorationOptions options_;
    std::deque<Progress> progress_;  // of each worker
    std::atomic<bool> stopping_ = false;
    bool finished_ = false;
    std::optional<HandOver> hand_over_;
    std::vector<std::unique_ptr<Explorer<S>>> explorers_;
    std::vector<Pop<S>*> pops_;  // those of them, ...
    u32 jobs_ = 0;               // ... if they have worked together, ...
    Results results_;            // ... and what they have found
};

}  // namespace mazurka
