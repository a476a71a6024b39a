// Depth-first search over states, with transactions and commit point completion (CPC).
//
// A thread goes on until its transaction is over; the others are tried only there. The names are those of the paper: a step that
// is not a left mover ends a transaction (`xend`); a state after the commit is `completed` (the paper's CPC) once it is known that
// the search goes on with all threads from a state that left movers lead to; if that is still not so when a commit point is about to
// be left, all threads are tried there.
//
// What is added to the paper: a thread that stands before a step that may have to wait is outside of any transaction, so that
// deadlocks are found, not only failures.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "explore/search.hpp"
#include "search/movers.hpp"
#include "search/table.hpp"

namespace mazurka {

enum class Reduction : u8 { cpc, cycle_detection, unsound, none };
enum class StateLimit : u8 { none, memory, states };

struct StateSearchOptions {
    Reduction reduction = Reduction::cpc;
    bool exact = false;   // keep whole states, not fingerprints
    bool keep_going = false;
    u64 max_memory = 0;   // in bytes; 0: no limit
    u64 max_states = 0;
    u64 max_depth = 0;    // do not go deeper; 0: no limit
    MachineOptions machine;
};

// Counters that may be read while the search runs.
struct StateProgress {
    std::atomic<u64> states = 0;
    std::atomic<u64> transitions = 0;
    std::atomic<u64> depth = 0;
    std::atomic<u64> deepest = 0;
    std::atomic<u64> memory = 0;
    std::atomic<u64> restarts = 0;
    std::atomic<bool> shortening = false;  // a bug was found, and a shorter way to it is looked for
};

// What tells bugs apart: a failure by where it is, a deadlock by who waits where.
struct KnownBug {
    Bug::Kind kind;
    std::string fault;
    std::vector<std::pair<Slot, u32>> places;
    bool operator==(const KnownBug&) const = default;
};

class StateSearch {
public:
    StateSearch(const Code& code, const StateSearchOptions& options);

    void run();  // once
    void stop() { stopping_ = true; }
    bool finished() const { return finished_; }  // everything was covered
    StateLimit limit() const { return limit_; }
    const StateProgress& progress() const { return progress_; }
    const std::optional<Bug>& bug() const { return bug_; }
    const std::vector<KnownBug>& bugs() const { return bugs_; }
    const Machine& machine() const { return machine_; }
    std::size_t table_bytes() const { return table_.bytes(); }

private:
    static constexpr std::size_t not_stored = ~std::size_t{0};

    // A state on the way to the present one, and how far its threads have been tried.
    struct Visit {
        Machine::Mark mark;
        Fingerprint summary; // of the thread that is being tried, before its step
        u64 untried;        // threads, once the transaction is over
        std::size_t index;  // in the table, or `not_stored`
        Slot thread;        // that is being tried
        u32 choices;        // where those of its step begin
        u8 unstored;        // so many states before this one were not stored
        bool phase : 1;     // before the commit (of the transaction of the thread that led here)
        bool right : 1;     // it was a right mover that led here
        bool xend : 1;
        bool moved : 1;     // the thread that is being tried could take a step
        bool alive : 1;     // some thread could
        bool over : 1;      // the thread that is being tried has been
    };
    struct Choice {
        u32 value;
        u32 range;
    };
    enum class End : u8 { covered, stopped, again };

    End search();
    bool try_step(Visit& visit);
    bool try_next_thread(Visit& visit);
    void enter(std::size_t index, Slot thread, bool right, bool phase, bool xend);
    void pop();
    void back_to(Visit& visit);
    // Before the commit it does not matter.
    bool completed(const Visit& visit) const { return visit.index != not_stored && (table_.flags(visit.index) & StateTable::completed) != 0; }
    void complete(Visit& visit) {
        if (visit.index != not_stored) table_.set(visit.index, StateTable::completed);
    }
    void grow();
    std::size_t memory() const;
    bool should_stop();
    void note_progress();
    void note_terminal();
    void note_circle(Slot thread, Waiting waiting);
    void report_failure();
    void report(KnownBug known, Slot thread, std::size_t length);
    std::vector<Step> schedule(std::size_t length) const;
    void shorten();

    const Code& code_;
    StateSearchOptions options_;
    CodeFacts facts_;
    Machine machine_;
    Machine::Mark start_;
    Movers movers_;
    StateTable table_;
    StateWords words_;
    bool renames_ = true;  // blocks are called by how they are reached
    std::vector<Visit> stack_;
    std::vector<Choice> choices_;
    std::vector<u32> trying_;  // choices of the step that is being tried
    std::vector<Address> held_;
    Next next_;
    StateProgress progress_;
    u64 transitions_ = 0;
    u64 deepest_ = 0;
    u64 most_transitions_ = ~u64{0};
    bool revisits_ = false;  // states that are met again at a lesser depth
    u64 again_at_ = 0;  // begin again when there are so many states: something was taken for a mover and is not
    std::atomic<bool> stopping_ = false;
    bool finished_ = false;
    StateLimit limit_ = StateLimit::none;
    std::optional<Bug> bug_;
    std::vector<KnownBug> bugs_;
};

}  // namespace mazurka
