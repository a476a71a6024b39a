// POP, parsimonious optimal DPOR (Abdulla, Atig, Das, Jonsson, Sagonas): every equivalence class exactly once, in space
// that does not grow with their number. docs/exploration.md says how it is extended to events with several accesses, to
// guards, to commuting updates and to choices.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <memory>
#include <random>
#include <ranges>
#include <unordered_map>
#include <utility>

#include "explore/explorer.hpp"
#include "explore/watchers.hpp"

namespace mazurka {

// Whether it does no more, either, except for what the event writes with which it was in a race, if it then conflicts
// with whatever conflicts with that event.
inline bool does_no_more(std::span<const Access> now, std::span<const Access> before, std::span<const Access> first) {
    const auto writes_within = [&](const Access& access, std::span<const Access> others) {
        return !access.writes ||
               std::ranges::any_of(others, [&](const Access& other) { return other.writes && within(access, other); });
    };
    if (std::ranges::all_of(now, [&](const Access& access) { return writes_within(access, before); })) return true;
    return dominates(now, first) && std::ranges::all_of(now, [&](const Access& access) {
               return writes_within(access, before) || writes_within(access, first);
           });
}

// Such a section may be held up by one of them, or touch it, in some orders only. (Not so by the end of its thread's
// own objects.)
inline bool touches_several_objects(std::span<const Access> accesses) {
    return std::ranges::any_of(accesses, [&](const Access& access) {
        return access.ordering != Ordering::lifetime && object_of(access.address) != object_of(accesses[0].address);
    });
}

template <Subject S>
class Pop final : public Explorer<S> {
public:
    using Explorer<S>::Explorer;
    bool run() override;

    struct Task;
    void join(Team<Task>& team, u32 number) {
        Explorer<S>::join(team);
        team_ = &team;
        number_ = number;
    }
    // Whether places at which sections meet are the same in what another worker has explored: if not, `hand_over`.
    void compare(const Pop& other);

    // The program does what only `Optimal` can handle: start again with that. See docs/exploration.md.
    std::optional<HandOver> hand_over() const override { return hand_over_; }

protected:
    double fraction() const override;

private:
    using Explorer<S>::effect_;
    using Explorer<S>::execution_;
    using Explorer<S>::options_;

    // Reverses a race; its last event is its head.
    struct Schedule {
        std::vector<Step> steps;
        std::vector<ExpressionPtr> expressions;
    };
    using SchedulePtr = std::shared_ptr<const Schedule>;

    // What this search knows of each event.
    struct Note {
        bool scheduled;                   // in a schedule
        SchedulePtr schedule;             // of which it is the head
        typename Watchers<S>::Mark mark;  // before it
        MemoryPtr memory;
        std::vector<Position> needs;  // events without which it would be disabled, of those that it conflicts with
    };
    // A disabled event, and those without which it still would be.
    struct Rival {
        MemoryPtr event;
        std::vector<Position> needs;
    };
    // A race to reverse: `step` is to come before the event `first`.
    struct Reversal {
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
    // An event, and what is known of it, to make it again.
    struct Past {
        Step step;
        bool scheduled;
        SchedulePtr schedule;
        std::vector<Position> needs;
    };
    // An execution that was left for others.
    struct Suspended {
        struct Tail {
            Past event;
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
    void look_for_groups() {
        if constexpr (Grouping<S>)
            if (options_.symmetry && execution_.subject().grouped() != 0)
                give_up(Obstacle::alike, execution_.subject().site(1));
    }
    void find_races();
    void find_choices();
    void note_places(std::span<const Access> accesses, bool section, u64 site, std::span<const Position> conflicts,
                     Position predecessor);
    void give_up(Obstacle obstacle, u64 site) { mazurka::give_up(hand_over_, obstacle, site); }
    std::vector<Position> find_guarded_races(const Reversal& race, u32 guards, Position end, Position predecessor);
    void find_races_of_blocked_threads();
    bool is_fresh(Position first, Position end, std::span<const u32> past, bool transitively) const;
    void plan(const Reversal& race);
    bool follow(Position first, const Plan& plan);
    bool explore_next_plan();
    Past past_of(Position event) const {
        return {this->step_of(event), notes_[event].scheduled, notes_[event].schedule, notes_[event].needs};
    }
    void repeat(const Past& event);
    void divide();
    bool give_away();
    bool begin(const Task& task);
    void suspend(Position branch, Position last);
    void resume();

    MemoryPtr remember(Position position);
    std::vector<ExpressionPtr> characterise(const Reversal& race, Position end, const std::vector<bool>& in_schedule);

    std::vector<Note> notes_;
    std::optional<HandOver> hand_over_;
    Watchers<S> watchers_{execution_, hand_over_};
    std::vector<Suspended> suspended_;
    std::vector<Branch> branches_;  // for each event, and for more
    std::vector<Position> heads_;
    using Place = std::pair<Address, u64>;  // and its size
    struct Meeting {
        std::vector<Place> places;
        u64 site;
    };
    std::unordered_map<Address, Meeting> meetings_;  // by where sections begin: the places of all their conflicts
    std::vector<Position> conflicting_;
    std::vector<bool> in_schedule_;
    std::mt19937_64 random_;
    Team<Task>* team_ = nullptr;
    u32 number_ = 0;    // in the team
    double share_ = 1;  // of the present task, of everything, ...
    double done_ = 0;   // ... and of those before it, without what was given away
};

// A plan that whoever is free can carry out. It looks at nothing that is planned elsewhere; a race with an event before
// it is reversed by whoever finds it.
template <Subject S>
struct Pop<S>::Task {
    std::vector<Past> past;    // all events before it
    std::optional<Plan> plan;  // nothing: all that there is
    double share = 1;
};

// ------------------------------------------------------------------------------------ the search

template <Subject S>
bool Pop<S>::run() {
    if (team_ == nullptr && this->failed_at_start()) return false;
    random_.seed(options_.seed + number_);
    bool arrived = false;           // at a new event
    bool ended = team_ != nullptr;  // nothing more can be added to the execution
    for (;;) {
        look_for_groups();
        if (hand_over_ || this->should_stop()) return false;
        if (arrived) {
            if (this->note_event())
                find_races();
            else if (this->should_stop())
                return false;
            else
                ended = true;
        }
        arrived = !ended && explore_one_more();
        if (arrived || hand_over_) continue;
        if (!ended) find_races_of_blocked_threads();
        if (this->is_over()) return false;
        if (team_ != nullptr) divide();
        arrived = explore_next_plan();
        ended = false;
        if (arrived) continue;
        if (team_ == nullptr) return true;
        done_ += share_;
        share_ = 0;
        const std::unique_ptr<Task> task = team_->take();
        if (!task) return team_->is_done();
        if (!task->plan && this->failed_at_start()) return false;
        arrived = begin(*task);
        ended = task->plan && !arrived;
    }
}

// Give tasks to whoever has none.
template <Subject S>
void Pop<S>::divide() {
    if (team_->division().split != 0) {
        while (random_() % 2 == 0 && give_away()) {
        }
        return;
    }
    while (team_->is_hungry() && give_away()) {
    }
}

// Give the oldest plan away, which is probably the largest. False: there is none.
template <Subject S>
bool Pop<S>::give_away() {
    // Plans in the present execution, and in those that were left; these have its first events, too.
    const Suspended* left = nullptr;
    Branch* chosen = nullptr;
    Position at = execution_.size();
    double part = share_, share = 0;
    const auto look = [&](Branch& branch, Position position, const Suspended* of) {
        const double all = 1.0 + branch.explored + static_cast<double>(branch.plans.size());
        part /= all;
        const bool any = team_->division().split != 0 && random_() % 4 == 0;
        if (branch.plans.empty() || (chosen != nullptr && position >= at && !any)) return;
        left = of;
        chosen = &branch;
        at = position;
        share = part;
    };
    for (Position i = 0; i < execution_.size(); ++i) look(branches_[i], i, nullptr);
    for (Suspended& one : suspended_) {
        part = 0;
        for (std::size_t i = 1; i < one.tail.size(); ++i)
            look(one.tail[i].branch, one.branch + static_cast<Position>(i), &one);
    }
    if (chosen == nullptr) return false;
    Task task{{}, std::move(chosen->plans.front()), share};
    chosen->plans.erase(chosen->plans.begin());
    ++chosen->explored;
    done_ -= share;
    for (Position i = 0; i < at; ++i)
        task.past.push_back(left == nullptr || i < left->branch ? past_of(i) : left->tail[i - left->branch].event);
    team_->give(std::move(task));
    return true;
}

// Whether the task leads to a new event.
template <Subject S>
bool Pop<S>::begin(const Task& task) {
    share_ = task.share;
    shorten(0);
    for (const Past& event : task.past) repeat(event);
    return task.plan && follow(execution_.size(), *task.plan);
}

template <Subject S>
void Pop<S>::compare(const Pop& other) {
    for (const auto& [where, theirs] : other.meetings_) {
        const auto [found, added] = meetings_.try_emplace(where, theirs);
        auto& [places, site] = found->second;
        std::erase_if(
            places, [&](const Place& place) { return std::ranges::find(theirs.places, place) == theirs.places.end(); });
        if (places.empty()) give_up(Obstacle::several_places, site);
    }
}

template <Subject S>
typename Pop<S>::Extended Pop<S>::extend(const Step& step, bool scheduled, SchedulePtr schedule) {
    const auto mark = watchers_.mark();
    if (!execution_.extend(step.thread, step.choices)) return Extended::disabled;
    const Position event = execution_.size() - 1;
    if (watchers_.forbid(event)) {
        execution_.shorten(event);
        return Extended::asleep;
    }
    notes_.push_back({scheduled, schedule, mark, nullptr, {}});
    if (branches_.size() < notes_.size()) branches_.emplace_back();
    if (schedule) {
        heads_.push_back(event);
        watchers_.watch(schedule->expressions, execution_.size() - static_cast<Position>(schedule->steps.size()));
    }
    return Extended::yes;
}

template <Subject S>
void Pop<S>::shorten(Position length) {
    if (length >= notes_.size()) return;
    watchers_.rewind(notes_[length].mark);
    notes_.resize(length);
    while (!heads_.empty() && heads_.back() >= length) heads_.pop_back();
    execution_.shorten(length);
}

// Extend the execution by any event that is not asleep. False: there is none.
template <Subject S>
bool Pop<S>::explore_one_more() {
    const S& subject = execution_.subject();
    if (subject.exited()) {
        this->note_end();
        return false;
    }
    // The thread that moved last is the one that can most likely go on. But if it goes on and on, the others take
    // turns, so that what they do is seen.
    std::array<Slot, max_slots> order;
    std::size_t count = 0;
    const Slot last = execution_.size() == 0 ? 0 : execution_[execution_.size() - 1].thread;
    const u64 all = subject.threads(), later = all & ~u64{1} << last;
    const auto add = [&](u64 threads) { this->each_thread(threads, [&](Slot thread) { order[count++] = thread; }); };
    if (last == 0) {
        add(all);
    } else if (2 * execution_.size() <= options_.max_steps) {
        order[count++] = last;
        add(all & ~(u64{1} << last));
    } else {
        add(later);
        add(all & ~later);
    }
    if (options_.seed != 0) std::shuffle(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), random_);
    std::optional<u64> asleep;  // where
    for (std::size_t i = 0; i < count; ++i) {
        if (subject.status(order[i]) != Status::ready) continue;
        switch (extend({order[i], {}}, false, nullptr)) {
            case Extended::yes: return true;
            case Extended::disabled: break;
            case Extended::asleep: asleep = execution_.effect().site; break;
        }
    }
    // This does not happen to events that do the same wherever they are: see docs/exploration.md.
    if (asleep)
        give_up(Obstacle::asleep, *asleep);
    else
        this->note_end();
    return false;
}

// ------------------------------------------------------------------------------------ races

// Whether the event with this past, at the end of the first `end` events, is fresh after `first`: every schedule in
// between belongs to its past, so that this race was not there before that schedule was made.
template <Subject S>
bool Pop<S>::is_fresh(Position first, Position end, std::span<const u32> past, bool transitively) const {
    for (auto head = heads_.rbegin(); head != heads_.rend() && *head > first; ++head) {
        if (*head >= end) continue;
        if (past[execution_[*head].thread] < execution_[*head].index) return false;
        if (transitively && execution_.happens_before(first, *head)) return false;
    }
    return true;
}

template <Subject S>
void Pop<S>::find_races() {
    const Position last = execution_.size() - 1;
    const auto& event = execution_[last];
    find_choices();
    // Where what is independent depends on more than who reads and who writes, more sleeps than the schedules tell.
    if (execution_.commutes()) give_up(Obstacle::commuting, event.site);
    if (execution_.effect().assumes) give_up(Obstacle::assumption, event.site);
    const auto accesses = execution_.accesses(last);
    if (execution_.effect().own_section) give_up(Obstacle::own_section, event.site);
    if (event.section && touches_several_objects(accesses)) give_up(Obstacle::several_objects, event.site);
    note_places(accesses, event.section, event.site, execution_.conflicts(), event.predecessor);
    if (hand_over_) return;
    Reversal race{Reversal::Kind::event, nowhere, this->step_of(last), {accesses.begin(), accesses.end()}, {}, {}};
    if (event.guard_accesses != 0) {
        // Look at the guard from where it was.
        S& subject = execution_.subject();
        subject.rewind(event.mark);
        notes_[last].needs = find_guarded_races(race, event.guard_accesses, last, event.predecessor);
        subject.take(event.thread, race.step.choices, effect_);
        return;
    }
    for (const Position first : execution_.adjacent()) {
        if (notes_[first].scheduled || !is_fresh(first, last, execution_.clock(last), false)) continue;
        race.first = first;
        plan(race);
    }
}

// Note at which places sections are in conflict with events of other threads: here, accesses with the events
// `conflicts`, of which those before `predecessor` are ordered in any case. A section without a place that is part of
// all its conflicts is more than one access.
template <Subject S>
void Pop<S>::note_places(std::span<const Access> accesses, bool section, u64 site, std::span<const Position> conflicts,
                         Position predecessor) {
    const auto note = [&](std::span<const Access> ours, std::span<const Access> theirs, u64 at) {
        const auto here = [&](const Place& place) {
            return std::ranges::any_of(ours, [&](const Access& access) {
                return Place{access.address, access.size} == place &&
                       dependent({&access, 1}, theirs, execution_.commute());
            });
        };
        // Sections that begin with the same access are taken together, in all executions.
        const auto [found, added] = meetings_.try_emplace(ours[0].address);
        auto& [places, known_at] = found->second;
        known_at = at;
        if (added)
            for (const Access& access : ours) places.emplace_back(access.address, access.size);
        std::erase_if(places, std::not_fn(here));
        if (places.empty()) give_up(Obstacle::several_places, at);
    };
    for (const Position other : conflicts) {
        if (!section && !execution_[other].section) continue;
        if (predecessor != nowhere && (other == predecessor || execution_.happens_before(other, predecessor))) continue;
        if (section) note(accesses, execution_.accesses(other), site);
        if (execution_[other].section) note(execution_.accesses(other), accesses, execution_[other].site);
    }
}

// The other values of a choice: as if they were in a race with the one that was taken.
template <Subject S>
void Pop<S>::find_choices() {
    const Position last = execution_.size() - 1;
    const std::vector<u32>& ranges = execution_.effect().ranges;
    if (std::ranges::all_of(ranges, [](u32 range) { return range == 1; })) return;
    const auto accesses = execution_.accesses(last);
    const Slot thread = execution_[last].thread;
    const bool local = ranges.size() == 1 && accesses.size() == 1 && accesses[0].address == process_byte(thread);
    if (!local) return give_up(Obstacle::choice, execution_[last].site);
    if (notes_[last].scheduled) return;
    for (u32 value = ranges[0]; value-- > 1;) plan({Reversal::Kind::choice, last, {thread, {value}}, {}, {}, {}});
}

// The races of an event that can be disabled, with events before `end`. The subject is where the event is about to
// happen. A race with an event that the guard needs cannot be reversed; then the races behind that one count. The
// result is those events.
template <Subject S>
std::vector<Position> Pop<S>::find_guarded_races(const Reversal& race, u32 guards, Position end, Position predecessor) {
    std::vector<u32> base(execution_.clock_size(), 0);
    if (predecessor != nowhere) std::ranges::copy(execution_.clock(predecessor), base.begin());
    const auto in = [&](const std::vector<u32>& clock, Position event) {
        return clock[execution_[event].thread] >= execution_[event].index;
    };
    execution_.conflicting(race.accesses, [&](Position event) { return !in(base, event); }, conflicting_);
    std::erase_if(conflicting_, [&](Position event) { return event >= end || in(base, event); });

    const std::span<const Access> guard = std::span(race.accesses).first(guards);
    std::vector<Position> writers;  // that may enable or disable it, latest first
    for (const Position event : conflicting_) {
        bool writes = false;
        for (const Access& access : execution_.accesses(event))
            for (const Access& read : guard)
                if (access.writes && overlap(access, read)) {
                    writes = true;
                    if (!access.known || !Pokable<S>) give_up(Obstacle::unknown_value, execution_[event].site);
                }
        if (writes) writers.push_back(event);
    }
    for (std::size_t i = 1; i < writers.size(); ++i)
        if (!execution_.happens_before(writers[i], writers[i - 1]))
            give_up(Obstacle::unordered, execution_[writers[i]].site);
    if (hand_over_) return {};

    S& subject = execution_.subject();
    std::vector<u32> hidden = base;
    std::vector<bool> enabled{race.kind == Reversal::Kind::event};  // without the latest 0, 1, ... writers
    const typename S::Mark mark = subject.mark();
    std::vector<Position> held_up;  // conflicting events without which it would be disabled
    for (const Position first : conflicting_) {
        if (in(hidden, first)) continue;
        // Without `first` and what comes after it, the guard sees what was there before.
        const auto stays = [&](Position writer) {
            return writer != first && !execution_.happens_before(first, writer);
        };
        const auto gone = static_cast<std::size_t>(std::ranges::find_if(writers, stays) - writers.begin());
        while (enabled.size() <= gone) {
            // (What it wrote first overwrote what was there before it.)
            for (const Access& access : execution_.accesses(writers[enabled.size() - 1]) | std::views::reverse)
                if (access.writes &&
                    std::ranges::any_of(guard, [&](const Access& read) { return overlap(access, read); }))
                    if constexpr (Pokable<S>)
                        subject.poke(access.address, static_cast<u32>(access.size), access.before);
            subject.announce(race.step.thread, race.step.choices, effect_);
            enabled.push_back(effect_.enabled);
            // Held up by something that it has not met here.
            if (!effect_.enabled && !covers(guard, effect_.accesses)) give_up(Obstacle::held_up, effect_.site);
        }
        if (!enabled[gone]) {
            held_up.push_back(first);
            continue;
        }
        // Then it comes after events that it may have to come before once this race is reversed.
        if (std::ranges::any_of(held_up, [&](Position other) { return !execution_.happens_before(first, other); }))
            give_up(Obstacle::unordered, execution_[first].site);
        const auto clock = execution_.clock(first);
        for (u32 i = 0; i < hidden.size(); ++i) hidden[i] = std::max(hidden[i], clock[i]);
        if (notes_[first].scheduled) continue;
        std::vector<u32> past = base;
        for (const Position other : conflicting_) {
            if (other == first || execution_.happens_before(first, other)) continue;
            const auto joined = execution_.clock(other);
            for (u32 i = 0; i < past.size(); ++i) past[i] = std::max(past[i], joined[i]);
        }
        if (!is_fresh(first, end, past, true)) continue;
        plan({race.kind, first, race.step, race.accesses, std::move(past), race.rivals});
    }
    subject.rewind(mark);
    return held_up;
}

template <Subject S>
void Pop<S>::find_races_of_blocked_threads() {
    S& subject = execution_.subject();
    std::vector<Rival> rivals;
    for (u64 rest = subject.threads(); rest != 0 && !hand_over_; rest &= rest - 1) {
        const Slot thread = static_cast<Slot>(std::countr_zero(rest));
        if (subject.status(thread) != Status::ready) continue;
        // The end of the process disables everything.
        if (subject.exited()) give_up(Obstacle::exit_, execution_[execution_.size() - 1].site);
        subject.announce(thread, {}, effect_);
        if (effect_.enabled) continue;
        if (effect_.assumes) give_up(Obstacle::assumption, effect_.site);
        if (touches_several_objects(effect_.accesses)) give_up(Obstacle::several_objects, effect_.site);
        execution_.conflicting(effect_.accesses, [](Position) { return false; }, conflicting_);
        note_places(effect_.accesses, true, effect_.site, conflicting_, execution_.before(thread));
        const Reversal race{Reversal::Kind::blocked, nowhere, {thread, {}}, effect_.accesses, {}, rivals};
        std::vector<Position> needs = find_guarded_races(race, static_cast<u32>(race.accesses.size()),
                                                         execution_.size(), execution_.before(thread));
        rivals.push_back(
            {std::make_shared<const Memory>(Memory{thread, execution_.next_index(thread), {}, race.accesses}),
             std::move(needs)});
    }
}

// Plan to explore executions in which a race is reversed.
template <Subject S>
void Pop<S>::plan(const Reversal& race) {
    const Position size = execution_.size();
    const Position end = race.kind == Reversal::Kind::blocked ? size : size - 1;
    const std::span<const u32> past = race.past.empty() ? execution_.clock(size - 1) : std::span<const u32>(race.past);
    auto schedule = std::make_shared<Schedule>();
    std::vector<bool>& in_schedule = in_schedule_;
    in_schedule.assign(size, false);
    for (Position i = race.first + 1; i < end; ++i) {
        const auto& event = execution_[i];
        if (past[event.thread] < event.index || execution_.happens_before(race.first, i)) continue;
        in_schedule[i] = true;
        schedule->steps.push_back(this->step_of(i));
    }
    schedule->steps.push_back(race.step);
    const bool varies =
        race.kind == Reversal::Kind::event ? execution_[size - 1].varies : race.kind == Reversal::Kind::blocked;
    if (race.kind != Reversal::Kind::choice && !dominates(race.accesses, execution_.accesses(race.first)))
        schedule->expressions = characterise(race, end, in_schedule);
    const auto first = execution_.accesses(race.first);
    branches_[race.first].plans.push_back({std::move(schedule), varies, race.accesses, {first.begin(), first.end()}});
}

// Explore a schedule in the place of an event. False: that has been explored elsewhere, or cannot be.
template <Subject S>
bool Pop<S>::follow(Position first, const Plan& plan) {
    shorten(first);
    const std::vector<Step>& steps = plan.schedule->steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const Extended extended = extend(steps[i], true, i + 1 == steps.size() ? plan.schedule : nullptr);
        // A guard that was not met where the race was found.
        if (extended == Extended::disabled) give_up(Obstacle::held_up, execution_.effect().site);
        if (extended != Extended::yes) return false;
    }
    const auto accesses = execution_.accesses(execution_.size() - 1);
    if (plan.varies && !(does_as_much(accesses, plan.expected) && does_no_more(accesses, plan.expected, plan.first)))
        give_up(Obstacle::varies, execution_[execution_.size() - 1].site);
    return true;
}

// Go back to the last event for which something is planned. The paper's algorithm leaves an execution for each race at
// once, and returns to it, so that plans do not pile up. Here that is done when many have piled up for one event:
// returning is dear, as what is returned to has to be executed again.
template <Subject S>
bool Pop<S>::explore_next_plan() {
    for (;;) {
        const Position lowest = suspended_.empty() ? 0 : suspended_.back().branch;
        Position last = execution_.size();
        while (last > lowest && branches_[last - 1].plans.empty()) branches_[--last].explored = 0;
        if (last == lowest) {
            if (suspended_.empty()) return false;
            resume();
            continue;
        }
        Position next = --last;
        for (Position i = lowest; i < last; ++i)
            if (branches_[i].plans.size() >= most_plans) next = i;
        if (next != last) suspend(next, last);
        while (!branches_[next].plans.empty()) {
            const Plan chosen = std::move(branches_[next].plans.back());
            branches_[next].plans.pop_back();
            ++branches_[next].explored;
            if (follow(next, chosen) || hand_over_) return true;
        }
    }
}

// Leave the present execution in order to explore what is planned in the place of the event `branch`. What is planned
// for the events behind it, up to `last`, is left for later.
template <Subject S>
void Pop<S>::suspend(Position branch, Position last) {
    Suspended left{branch, {}};
    for (Position i = branch; i <= last; ++i) {
        left.tail.push_back({past_of(i), {}});
        if (i != branch) std::swap(left.tail.back().branch, branches_[i]);
    }
    suspended_.push_back(std::move(left));
}

// Go back to the execution that was left last.
template <Subject S>
void Pop<S>::resume() {
    Suspended left = std::move(suspended_.back());
    suspended_.pop_back();
    shorten(left.branch);
    for (auto& event : left.tail) {
        repeat(event.event);
        branches_[execution_.size() - 1] = std::move(event.branch);
    }
}

template <Subject S>
void Pop<S>::repeat(const Past& event) {
    if (extend(event.step, event.scheduled, event.schedule) != Extended::yes)
        throw std::logic_error("an execution that was left cannot be resumed");
    notes_.back().needs = event.needs;
}

template <Subject S>
double Pop<S>::fraction() const {
    double done = done_, part = share_;
    for (std::size_t i = 0; i < notes_.size(); ++i) {
        const double all = 1.0 + branches_[i].explored + static_cast<double>(branches_[i].plans.size());
        done += part * branches_[i].explored / all;
        part /= all;
    }
    return done;
}

template <Subject S>
MemoryPtr Pop<S>::remember(Position position) {
    MemoryPtr& memory = notes_[position].memory;
    if (!memory) {
        const auto choices = execution_.choices(position);
        const auto accesses = execution_.accesses(position);
        memory = std::make_shared<const Memory>(Memory{execution_[position].thread,
                                                       execution_[position].index,
                                                       {choices.begin(), choices.end()},
                                                       {accesses.begin(), accesses.end()}});
    }
    return memory;
}

// The schedules that come before the one that is about to reverse a race.
template <Subject S>
std::vector<ExpressionPtr> Pop<S>::characterise(const Reversal& race, Position end,
                                                const std::vector<bool>& in_schedule) {
    const auto items = std::make_shared<std::vector<Item>>();
    const MemoryPtr event = remember(race.first);
    std::vector<ExpressionPtr> expressions;
    const auto inherit = [&](Position head) {
        for (const ExpressionPtr& inner : notes_[head].schedule->expressions)
            expressions.push_back(std::make_shared<const Expression>(Expression{event, items, items->size(), inner}));
    };
    const auto needs_first = [&](const std::vector<Position>& needs) {
        return std::ranges::find(needs, race.first) != needs.end();
    };
    for (Position i = race.first + 1; i < end; ++i) {
        if (!in_schedule[i]) {
            items->push_back({remember(i), false, needs_first(notes_[i].needs)});
        } else if (notes_[i].schedule) {
            inherit(i);
            items->push_back({remember(i), true, false});
        }
    }
    if (race.kind == Reversal::Kind::event && notes_[end].schedule) inherit(end);
    for (const Rival& other : race.rivals) items->push_back({other.event, false, needs_first(other.needs)});
    expressions.push_back(std::make_shared<const Expression>(Expression{event, items, items->size(), nullptr}));
    return expressions;
}

}  // namespace mazurka
