// Searches over the executions of a program, without storing states.
#pragma once

#include <atomic>
#include <optional>
#include <string_view>
#include <vector>

#include "vm/machine.hpp"

namespace mazurka {

enum class Algorithm : u8 {
    exhaustive,  // every interleaving
    sleep_sets,  // every equivalence class to its end exactly once; others are given up as soon as that shows
};

struct ExplorationOptions {
    Algorithm algorithm = Algorithm::sleep_sets;
    bool commute = true;     // respect commuting updates
    bool keep_going = false; // after a bug
    u64 max_executions = 0;  // 0: no limit
    u64 max_steps = 100'000; // in one execution
    MachineOptions machine;
};

// A step that a thread can take: the thread, and the choices it makes on the way.
struct Step {
    Slot thread = 0;
    std::vector<u32> choices;
};

struct Bug {
    enum class Kind : u8 { failure, deadlock, steps };
    Kind kind;
    Slot thread;
    std::vector<Step> schedule;
};

// Counters that may be read while the search runs.
struct Progress {
    std::atomic<u64> complete = 0;   // maximal executions
    std::atomic<u64> blocked = 0;    // maximal executions with a thread stopped by an assume
    std::atomic<u64> redundant = 0;  // given up: an equivalent one was explored
    std::atomic<u64> steps = 0;
    std::atomic<u64> depth = 0;
};

class Exploration {
public:
    Exploration(const Code& code, ExplorationOptions options);

    void run();  // until everything is covered, a bug or a limit is met, or `stop` is called
    void stop() { stopping_ = true; }
    bool finished() const { return finished_; }
    const Progress& progress() const { return progress_; }
    const std::optional<Bug>& bug() const { return bug_; }
    const Machine& machine() const { return machine_; }

private:
    struct Candidate {
        Step step;
        Accesses accesses;
        bool asleep;
    };
    // A state on the current path: what can be done there, and how much of it has been tried.
    struct Node {
        Machine::Mark mark;
        std::vector<Candidate> candidates;
        std::size_t count;  // candidates in use; the rest is kept for its memory
        std::size_t next;
    };

    void expand();
    void end_execution();
    void report(Bug::Kind kind, Slot thread);
    Candidate& add_candidate(Node& node);

    ExplorationOptions options_;
    Machine machine_;
    std::vector<Node> path_;
    std::size_t depth_ = 0;  // nodes of path_ in use
    Next next_;
    bool waits_for_resource_ = false;  // in the state just expanded: some thread waits in an await ...
    bool waits_for_assume_ = false;    // ... or was stopped by an assume
    Slot waiting_thread_ = 0;
    Progress progress_;
    std::atomic<bool> stopping_ = false;
    bool finished_ = false;
    std::optional<Bug> bug_;
    const Code& code_;
};

}  // namespace mazurka
