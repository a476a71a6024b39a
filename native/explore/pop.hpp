// POP, parsimonious optimal DPOR (Abdulla, Atig, Das, Jonsson, Sagonas): every equivalence class exactly once, in space that
// does not grow with their number. docs/exploration.md says how it is extended to events with several accesses, to guards,
// to commuting updates and to choices.
#pragma once

#include <memory>
#include <random>
#include <unordered_map>
#include <utility>

#include "explore/search.hpp"

namespace mazurka {

class Pop final : public Search {
public:
    using Search::Search;
    bool run() override;

    // The program does what only `Optimal` can handle: start again with that. See docs/exploration.md.
    bool gave_up() const { return gave_up_; }

protected:
    double fraction() const override;

private:
    // An event that outlives its place in the execution.
    struct Memory {
        Slot thread;
        u32 index;
        std::vector<u32> choices;
        Accesses accesses;
    };
    using MemoryPtr = std::shared_ptr<const Memory>;

    // A part of an execution: its events, and the heads of the schedules that were left out.
    struct Item {
        MemoryPtr event;
        bool head;
        bool needs_first;  // it was disabled without the event that the race is with
    };
    // Characterises the schedules that precede another one in the order of exploration, all of which reverse a race with
    // `first`: those that are contained in `items` or conflict with them, or, with `inner`, those that continue one that `inner`
    // characterises.
    struct Expression {
        MemoryPtr first;
        std::shared_ptr<const std::vector<Item>> items;
        std::size_t length;
        std::shared_ptr<const Expression> inner;
    };
    using ExpressionPtr = std::shared_ptr<const Expression>;

    // An expression that watches the execution, in order to block it before it completes one of its schedules.
    struct Watcher {
        ExpressionPtr expression;
        std::vector<std::vector<Position>> conflicts;  // per item: events met that conflict with it or with such an event
        std::vector<bool> removed;                     // per item: it has been met
        std::vector<Position> rivals;                  // events met that conflict with the first event, or are it
        std::vector<Position> inner_heads;             // heads met of schedules of the inner one
        std::unique_ptr<Watcher> inner;
        bool dead = false;  // no schedule can be completed any more
    };
    struct Change {
        enum class Kind : u8 { conflict, removed, rival, inner_head, dead } kind;
        Watcher* watcher;
        std::size_t item;
    };

    // Reverses a race; its last event is its head.
    struct Schedule {
        std::vector<Step> steps;
        std::vector<ExpressionPtr> expressions;
    };
    using SchedulePtr = std::shared_ptr<const Schedule>;

    // What this search knows of each event.
    struct Note {
        bool scheduled;       // in a schedule
        SchedulePtr schedule; // of which it is the head
        std::size_t changes;  // before it
        std::size_t watchers;
        MemoryPtr memory;
        std::vector<Position> needs;  // events without which it would be disabled, of those that it conflicts with
    };
    // A disabled event, and those without which it still would be.
    struct Rival {
        MemoryPtr event;
        std::vector<Position> needs;
    };
    // A race to reverse: `step` is to come before the event `first`.
    struct Race {
        enum class Kind : u8 {
            event,    // with the last event of the execution
            choice,   // with another value of the choice that is the last event
            blocked,  // with an event that is disabled at the end of the execution
        } kind;
        Position first;
        Step step;
        Accesses accesses;      // of the step, as far as they are known
        std::vector<u32> past;  // a clock: what the step happens after once the race is reversed; empty: as it is now
        std::vector<Rival> rivals;  // other disabled events whose races are reversed before
    };
    // A schedule that is to be explored after the events before `first`.
    struct Plan {
        SchedulePtr schedule;
        bool varies;        // what its head touches can depend on what comes before it, ...
        Accesses expected;  // ... and is known to be this where the race was found, ...
        Accesses first;     // ... with this one
    };
    // What is explored in the place of an event.
    struct Branch {
        std::vector<Plan> plans;
        u32 explored = 0;
    };
    // An execution that was left for others.
    struct Suspended {
        struct Tail {
            Step step;
            bool scheduled;
            SchedulePtr schedule;
            Branch branch;
        };
        Position branch;         // where the others branch off
        std::vector<Tail> tail;  // the events from there on
    };
    static constexpr std::size_t most_plans = 16;  // for one event
    enum class Extended : u8 { yes, disabled, asleep };

    Extended extend(const Step& step, bool scheduled, SchedulePtr schedule);
    void shorten(Position length);
    bool explore_one_more();
    void find_races();
    void find_choices();
    void note_places(std::span<const Access> accesses, bool section, std::span<const Position> conflicts, Position predecessor);
    std::vector<Position> find_guarded_races(const Race& race, u32 guards, Position end, Position predecessor);
    void find_races_of_blocked_threads();
    bool is_fresh(Position first, Position end, std::span<const u32> past, bool transitively) const;
    void plan(const Race& race);
    bool follow(Position first, const Plan& plan);
    bool explore_next_plan();
    void suspend(Position branch, Position last);
    void resume();

    MemoryPtr remember(Position position);
    std::vector<ExpressionPtr> characterise(const Race& race, Position end, const std::vector<bool>& in_schedule);
    void watch(const SchedulePtr& schedule);
    std::unique_ptr<Watcher> make_watcher(const ExpressionPtr& expression, Position from);
    bool update(Watcher& watcher, Position event);
    std::size_t match(Watcher& watcher, Position event);
    bool conflicts(const Memory& event, Position position) const;
    bool is(const Memory& event, Position position) const;
    bool is_head(const Watcher& watcher, Position event, std::size_t items) const;
    void change(Change change);
    void undo(std::size_t length);

    std::vector<Note> notes_;
    std::vector<std::unique_ptr<Watcher>> watchers_;
    std::vector<Change> changes_;
    std::vector<Suspended> suspended_;
    std::vector<Branch> branches_;  // for each event, and for more
    std::vector<Position> heads_;
    using Place = std::pair<Address, u64>;  // and its size
    std::unordered_map<Address, std::vector<Place>> places_;  // by where sections begin: those at which all their conflicts are
    Next next_;
    std::vector<Position> conflicting_;
    std::vector<bool> in_schedule_;
    std::mt19937_64 random_;
    bool gave_up_ = false;
};

}  // namespace mazurka
