// The front door: a search for graphs by one worker or several, that can be watched and stopped from another thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <optional>

#include "graphs/explorer.hpp"

namespace mazurka {

class GraphSearch {
public:
    GraphSearch(Machine start, const GraphOptions& options);

    void run();  // once
    void stop() { stopping_ = true; }
    bool finished() const { return finished_; }
    Snapshot progress() const { return sum_of(progress_); }
    const Results& results() const { return results_; }
    const Machine& subject() const { return start_; }  // knows what all threads are called that were met
    u64 instructions_executed() const;
    u32 jobs() const { return options_.division.jobs; }
    // Whether threads that are alike were explored in one order only.
    bool symmetric() const {
        return std::ranges::all_of(workers_, [](const GraphExploration& worker) { return worker.symmetric(); });
    }
    static Algorithm algorithm() { return Algorithm::graphs; }
    static std::optional<HandOver> hand_over() { return {}; }

private:
    bool run_together();

    Machine start_;
    const GraphOptions options_;
    std::deque<Progress> progress_;  // of each worker
    std::atomic<bool> stopping_ = false;
    bool finished_ = false;
    std::deque<GraphExploration> workers_;
    Results results_;
};

}  // namespace mazurka
