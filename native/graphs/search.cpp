#include "graphs/search.hpp"

#include <utility>

namespace mazurka {

GraphSearch::GraphSearch(Machine start, const GraphOptions& options)
    : start_(std::move(start)), options_(options), progress_(options.division.jobs) {
    for (Progress& progress : progress_) workers_.emplace_back(start_, options_, progress, stopping_);
}

void GraphSearch::run() {
    finished_ = options_.division.divides() ? run_together() : workers_[0].run();
    if (!options_.division.divides()) results_ = workers_[0].results();
}

bool GraphSearch::run_together() {
    SharedCells cells;
    if (options_.equivalence == Equivalence::reads_from) cells.look([](Graph& all) { all.leave_open(); });
    for (;;) {
        Team<GraphExploration::Task> team(options_.division, progress_, stopping_, {});
        const bool finished = team.run([&](u32 worker) { return workers_[worker].run(team, cells); });
        if (!stopping_ && std::ranges::any_of(workers_, &GraphExploration::is_divided)) {
            cells.look([](Graph& all) { all.forget_cells(); });
            // What tells threads apart for one of them does so for all.
            if (!symmetric())
                for (GraphExploration& worker : workers_) worker.tell_apart();
            continue;
        }
        const auto order = order_of(start_);
        for (const GraphExploration& worker : workers_) results_.add(worker.results(), order);
        results_.settle(order);
        return finished;
    }
}

u64 GraphSearch::instructions_executed() const {
    u64 sum = 0;
    for (const GraphExploration& worker : workers_) sum += worker.subject().instructions_executed();
    return sum;
}

}  // namespace mazurka
