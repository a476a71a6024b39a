// What all searches over executions share: the execution, the limits, the counts, the first bug.
#pragma once

#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "explore/execution.hpp"

namespace mazurka {

enum class Algorithm : u8 {
    exhaustive,  // every interleaving
    optimal,     // Optimal-DPOR: one execution of each class, with wakeup trees
    pop,         // parsimonious optimal DPOR: the same, in space that does not grow with their number
    random,      // random executions, without end
};

enum class Races : u8 { ignore, warn, error };

struct SearchOptions {
    Algorithm algorithm = Algorithm::pop;
    bool commute = true;      // respect commuting updates
    bool keep_going = false;  // after a bug
    bool allow_livelock = false;
    Races races = Races::ignore;
    bool keep_executions = false;  // their schedules; for tests
    u64 max_executions = 0;   // 0: no limit
    u64 max_steps = 100'000;  // in one execution
    u64 seed = 0;             // not 0: shuffles which thread goes first
    MachineOptions machine;
};

struct Bug {
    enum class Kind : u8 { failure, deadlock, livelock, steps, race };
    Kind kind;
    Slot thread;
    std::vector<Step> schedule;
};

// Two steps of an execution with conflicting accesses that nothing orders, at least one of them not atomic.
struct DataRace {
    Position first;
    std::vector<Step> schedule;  // ends with the second, which may be a round of a loop that leads nowhere
};

// Counters that may be read while the search runs.
struct Progress {
    std::atomic<u64> complete = 0;   // maximal executions
    std::atomic<u64> blocked = 0;    // maximal executions with a thread stopped by an assume
    std::atomic<u64> bounded = 0;    // those of them in which the bound on a loop did that
    std::atomic<u64> assumed = 0;    // those of the others in which something that the program assumes did that
    std::atomic<u64> redundant = 0;  // given up: an equivalent one was explored
    std::atomic<u64> steps = 0;
    std::atomic<u64> depth = 0;
    std::atomic<double> fraction = 0;  // about how much of everything that is; 0: not known
};

class Search {
public:
    Search(const Code& code, const SearchOptions& options, Progress& progress, const std::atomic<bool>& stopping)
        : code_(code), options_(options), execution_(code, options.machine, options.commute, options.races != Races::ignore), progress_(progress), stopping_(stopping) {}
    virtual ~Search() = default;
    Search(const Search&) = delete;
    Search& operator=(const Search&) = delete;

    // Until everything is covered, a bug or a limit is met, or someone asks to stop. Whether everything was covered.
    virtual bool run() = 0;

    const std::optional<Bug>& bug() const { return bug_; }
    const std::vector<DataRace>& races() const { return races_; }
    const std::vector<std::vector<Step>>& executions() const { return executions_; }
    const Machine& machine() const { return execution_.machine(); }

protected:
    // After each new event: count it, and notice failures and executions that are too long. False: do not go on from here.
    bool note_event();
    // The execution cannot be extended: count it, and notice deadlocks and livelocks.
    void note_end();
    void note_redundant() { progress_.redundant.fetch_add(1, std::memory_order_relaxed); }
    bool should_stop() const;
    // Whether the machine failed before the first event.
    bool failed_at_start();
    // About how much of the search is done, judged by the branches that are known along the present execution.
    virtual double fraction() const { return 0; }

    const Code& code_;
    const SearchOptions options_;
    Execution execution_;

private:
    void report(Bug::Kind kind, Slot thread);
    bool only_a_limit(Bug::Kind kind) const;
    void note_races(u64 waiting_site);
    void note_races_of_waiting();
    void note_waiting(Slot thread, const Accesses& accesses, Position length);
    std::vector<Step> schedule() const;

    Progress& progress_;
    const std::atomic<bool>& stopping_;
    std::optional<Bug> bug_;
    bool bug_is_limit_ = false;
    std::vector<DataRace> races_;
    std::vector<std::vector<Step>> executions_;
    std::vector<std::pair<u64, u64>> racy_sites_;  // of `races_`
    std::vector<std::pair<Slot, Accesses>> waiting_;  // threads that wait at the end, and with what
    Next next_;
};

}  // namespace mazurka
