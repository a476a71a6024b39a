// Depth-first search over states, with transactions and commit point completion (CPC).
//
// A thread goes on until its transaction is over; the others are tried only there. The names are those of the paper: a
// step that is not a left mover ends a transaction (`xend`); a state after the commit is `completed` (the paper's CPC)
// once it is known that the search goes on with all threads from a state that left movers lead to; if that is still not
// so when a commit point is about to be left, all threads are tried there.
//
// What is added to the paper: a thread that stands before a step that may have to wait is outside of any transaction,
// so that deadlocks are found, not only failures; and so is one before an access that may be in a data race. Livelocks
// are looked for where a state is left from which nothing is known to have happened.
//
// Depth-first search can follow what grows for ever. So now and then, when it has got so much further, a second search
// covers what is near the start: all that can be done within a number of steps that grows. Its share of the work is
// small, and it changes nothing about what the first one covers.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "explore/results.hpp"
#include "states/livelocks.hpp"
#include "states/movers.hpp"
#include "states/table.hpp"
#include "states/variants.hpp"

namespace mazurka {

struct StateSearchOptions {
    Reduction reduction = Reduction::cpc;
    bool exact = false;  // keep whole states, not fingerprints
    bool keep_going = false;
    bool livelocks = false;
    Races races = Races::ignore;
    // Whether a data race, told by the numbers that a machine gives to threads, is of no interest; empty: none is.
    std::function<bool(const Machine&, const DataRace&)> passes_over = {};
    bool nearby = true;         // cover what is near the start as well, in time
    bool until_cycle = false;   // end where some execution comes back to a state, and so need not end
    bool until_growth = false;  // end where it seems that something keeps growing
    u64 max_memory = 0;         // in bytes; 0: no limit
    u64 max_states = 0;
    u64 max_depth = 0;  // do not go deeper; 0: no limit
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

class StateSearch {
public:
    StateSearch(const Code& code, const StateSearchOptions& options);

    void run();  // once
    void stop() { stopping_ = true; }
    bool finished() const { return finished_; }                    // everything was covered
    bool stops_everywhere() const { return stops_ && !goes_on_; }  // at what the program assumes
    StateLimit limit() const { return limit_; }
    const StateProgress& progress() const { return progress_; }
    const std::optional<Bug>& bug() const { return bug_; }
    const std::optional<Limit>& limit_met() const { return limit_met_; }
    const std::optional<Left>& left() const { return left_; }
    const std::vector<BugKey>& bugs() const { return bugs_; }
    // Where in the code the thread is that brings an execution back to a state, if one was looked for and found.
    const std::vector<u32>& cycle() const { return cycle_; }
    const std::vector<Bug>& found() const { return found_; }  // the first `most_bugs` of them
    const std::vector<DataRace>& races() const { return races_; }
    // Whether there may be data races, though none was found, of accesses that are never side by side; and livelocks of
    // too many states.
    bool may_miss_races() const { return races_.empty() && variants_.may_miss_races(); }
    bool may_miss_livelocks() const { return livelocks_.gave_up(); }
    // There is no bug within so many steps from the start, as far as that was looked at by itself.
    u64 covered_depth() const { return covered_depth_; }
    const Machine& machine() const { return machine_; }
    std::size_t table_bytes() const { return table_.bytes(); }

private:
    static constexpr std::size_t not_stored = ~std::size_t{0};

    // A state on the way to the present one, and how far its threads have been tried.
    struct Visit {
        Machine::Mark mark;
        Fingerprint summary;  // of the thread that is being tried, before its step
        u64 untried;          // threads, once the transaction is over
        std::size_t index;    // in the table, or `not_stored`
        Slot thread;          // that is being tried
        u32 choices;          // where those of its step begin
        u8 unstored;          // so many states before this one were not stored
        bool phase : 1;       // before the commit (of the transaction of the thread that led here)
        bool right : 1;       // it was a right mover that led here
        bool xend : 1;
        bool moved : 1;  // the thread that is being tried could take a step
        bool alive : 1;  // some thread could
        bool over : 1;   // the thread that is being tried has been
    };
    struct Choice {
        u32 value;
        u32 range;
    };
    // What a thread is about to do, which may be in a data race.
    struct Racer {
        Slot thread;
        u64 site;
        bool enabled;
        bool guarded;
        bool varies;
        std::vector<u32> choices;
        Accesses accesses;
    };
    enum class End : u8 { covered, stopped, again };

    End search();
    bool try_step(Visit& visit);
    Mover mover_of(Slot thread);
    bool go_on(Visit& visit, Mover mover);
    bool make_room();
    void meet_again(Visit& visit, std::size_t index);
    bool try_next_thread(Visit& visit);
    void enter(std::size_t index, Slot thread, bool right, bool phase, bool xend);
    void pop();
    void back_to(Visit& visit);
    // Before the commit it does not matter.
    bool completed(const Visit& visit) const {
        return visit.index != not_stored && (table_.flags(visit.index) & StateTable::completed) != 0;
    }
    void complete(Visit& visit) {
        if (visit.index != not_stored) table_.set(visit.index, StateTable::completed);
    }
    void grow();
    std::size_t memory() const;
    bool should_stop();
    void note_progress();
    void note_terminal();
    bool has_stopped() const;
    void note_circle(Slot thread, Waiting waiting);
    void report_failure();
    void report(BugKey known, Slot thread, std::size_t length);
    void note_progress_from(std::size_t visit);
    bool note_livelock();
    bool looks_for_races() const;
    bool may_race(Slot thread) const;
    void note_step();
    void find_racers();
    void note_races();
    void note_race_between(const Racer& one, const Racer& other);
    bool can_follow(const Racer& first, const Racer& second);
    void note_race(RaceKey key, std::vector<Step> schedule);
    bool knows_race(const RaceKey& key) const;
    void look_nearby();
    void add_findings(const StateSearch& other);
    std::vector<Step> schedule(std::size_t length) const;
    void shorten();

    StateSearchOptions options_;
    CodeFacts facts_;
    Machine machine_;
    Machine::Mark start_;
    Movers movers_;
    Livelocks livelocks_;
    Variants variants_;
    StateTable table_;
    StateWords words_;
    bool renames_ = true;  // blocks are called by how they are reached
    std::vector<Visit> stack_;
    std::vector<Choice> choices_;
    std::vector<u32> trying_;  // choices of the step that is being tried
    std::vector<Address> held_;
    Effect effect_;  // of the step that is being tried
    Effect other_;   // of another thread
    StateProgress progress_;
    u64 transitions_ = 0;
    u64 deepest_ = 0;
    u64 most_transitions_ = ~u64{0};
    bool revisits_ = false;  // states that are met again at a lesser depth
    u64 again_at_ = 0;       // begin again when there are so many states: something was taken for a mover and is not
    std::size_t moving_on_ = 0;  // from so many of the states on the way, something is known to happen
    bool cut_ = false;           // something was too deep
    std::unique_ptr<StateSearch> near_;
    u64 near_at_ = 2000;  // look there when there are so many states
    u64 covered_depth_ = 0;
    std::atomic<bool> stopping_ = false;
    const std::atomic<bool>* stop_ = &stopping_;
    bool finished_ = false;
    bool stops_ = false;    // some execution ends at what the program assumes, ...
    bool goes_on_ = false;  // ... some in another way, or not at all
    StateLimit limit_ = StateLimit::none;
    std::vector<Stay> stays_;         // where nobody can go on
    std::optional<Bug> bug_;          // the first
    std::optional<Limit> limit_met_;  // the first
    std::optional<Left> left_;        // as many as there ever are
    std::vector<BugKey> bugs_;
    std::vector<u32> cycle_;
    std::vector<Bug> found_;
    std::vector<DataRace> races_;
    std::set<RaceKey> passed_over_;  // data races of no interest
    std::vector<Racer> racers_;
};

}  // namespace mazurka
