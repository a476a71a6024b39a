// Whether a program can do nothing any more but wait in loops.
//
// A *livelock* is a state from which, whatever the threads do, for ever: nothing that another thread could see is
// changed, but for who holds a lock (that is, no global, and no block on the heap or a stack that another one touches),
// and for counters to which each thread adds what it takes away again; no thread ends, fails or is created; some thread
// can take a step, always; and in the end each thread that takes steps stays in one loop that could be left (see
// vm/loops.hpp). So it waits for something, and nobody is left to do it. All schedules are looked at, so this needs no
// fairness: there is no way out, fair or not.
//
// What a thread has added to a counter so far is its *balance*. Threads that try, fail, put back what they took and try
// again come back to a state with the balances that they had there; where one hands on what another one takes, for
// ever, the balances of the two drift apart. So the rule is that they depend on the state alone. If that is broken from
// some state on, it is from all states before it: like all else that is asked of a livelock, and the search relies on
// it.
//
// It is decided here by going through all states that can be reached from the one in question, without any reduction.
// Wherever something still happens, that is soon over: the first step that changes anything is the answer, and so is a
// thread that goes round a loop that was written to have no end.
#pragma once

#include <atomic>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "explore/ending.hpp"
#include "vm/loops.hpp"
#include "vm/machine.hpp"

namespace mazurka {

// Whether a step that was taken, which says nothing about locks, has changed a global; as far as is known from what it
// overwrote.
bool surely_changes(const Machine& machine, const Effect& effect);

class Livelocks {
public:
    explicit Livelocks(const Code& code) : facts_(code), loops_(code) {}

    // Looking ends where this is set, and the answer means nothing then.
    void stop_at(const std::atomic<bool>* stop) { stop_ = stop; }

    // Where a thread waits, one way or the other.
    struct Waiter {
        Slot thread;
        u32 position;
        bool spins;
        auto operator<=>(const Waiter&) const = default;
    };
    // Whether the present state of a machine, which follows locks and pointers, is a livelock; and who waits where.
    bool find(Machine& machine);
    const std::vector<Waiter>& waiters() const { return waiters_; }
    // What a thread touches in its loop, each once.
    const Accesses& touched(Slot thread) const { return touched_[thread]; }
    // Whether some look was too much, so that a livelock may have been missed.
    bool gave_up() const { return gave_up_; }

private:
    using Balances = std::map<std::tuple<Slot, Address, u64>, i64>;  // by thread and counter, with its size; none is 0

    struct Visit {  // of a state on the way to the present one
        Machine::Mark mark;
        std::size_t number;  // of the state, as they are met
        std::size_t low;     // the first state that is known to be reached from here
        u64 untried;         // threads
        std::vector<u32> choices;
        bool alive;
        std::vector<Stay> stays;
        Balances balances;
    };
    struct Known {  // a state
        std::size_t number;
        Balances balances;
    };
    struct Taken {         // a step
        std::size_t from;  // the number of the state
        Slot thread;
        std::vector<Passage> way;
    };

    bool excused(const Machine& machine) const;
    bool look_around(Machine& machine);
    bool changes_nothing(Machine& machine, Slot thread, std::span<const u32> choices);
    bool drift_apart(const Machine& machine, const Balances& balances, const Balances& others);
    bool goes_round();
    bool all_wait(const std::vector<Taken>& taken, std::size_t from, const std::set<Waiter>& held_up);
    bool is_noticed() const;
    bool waits(Slot thread, std::set<Passage>& passages);

    CodeFacts facts_;
    CodeLoops loops_;
    Effect effect_;
    std::vector<Passage> way_;
    std::vector<Accesses> touched_;                 // by each thread
    std::vector<std::pair<Slot, Access>> changed_;  // in blocks that nobody else may touch
    Balances balances_;                             // in the present state
    std::vector<Waiter> waiters_;
    const std::atomic<bool>* stop_ = nullptr;
    bool gave_up_ = false;
};

}  // namespace mazurka
