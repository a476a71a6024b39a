#include "explore/pop.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <ranges>

namespace mazurka {

namespace {

constexpr std::size_t no_item = ~std::size_t{0};

bool within(const Access& inner, const Access& outer) {
    return outer.address <= inner.address && inner.address - outer.address <= outer.size - inner.size && inner.size <= outer.size;
}

// Whether everything that conflicts with the accesses `first` also conflicts with `other`.
bool dominates(std::span<const Access> other, std::span<const Access> first) {
    return std::ranges::all_of(first, [&](const Access& access) {
        return std::ranges::any_of(other, [&](const Access& candidate) {
            return candidate.commuting == Commuting::no && within(access, candidate) && (candidate.writes || !access.writes);
        });
    });
}

// Whether some accesses touch all the bytes that others touch.
bool covers(std::span<const Access> accesses, std::span<const Access> others) {
    return std::ranges::all_of(others, [&](const Access& other) {
        return std::ranges::any_of(accesses, [&](const Access& access) { return access.address == other.address && access.size == other.size; });
    });
}

// Whether an event that touches `now` does all that it did when it touched `before`: the same bytes, and all the writes.
bool does_as_much(std::span<const Access> now, std::span<const Access> before) {
    return covers(before, now) && covers(now, before) && std::ranges::all_of(before, [&](const Access& old) {
        return !old.writes || std::ranges::any_of(now, [&](const Access& access) {
            return access.writes && access.address == old.address && access.size == old.size;
        });
    });
}

// Whether it does no more, either, except for what the event writes with which it was in a race, if it then conflicts with whatever
// conflicts with that event.
bool does_no_more(std::span<const Access> now, std::span<const Access> before, std::span<const Access> first) {
    const auto writes_within = [&](const Access& access, std::span<const Access> others) {
        return !access.writes || std::ranges::any_of(others, [&](const Access& other) { return other.writes && within(access, other); });
    };
    if (std::ranges::all_of(now, [&](const Access& access) { return writes_within(access, before); })) return true;
    return dominates(now, first) && std::ranges::all_of(now, [&](const Access& access) { return writes_within(access, before) || writes_within(access, first); });
}

// Such a section may be held up by one of them, or touch it, in some orders only. (Not so by the end of its thread's own objects.)
bool touches_several_objects(std::span<const Access> accesses) {
    return std::ranges::any_of(accesses, [&](const Access& access) {
        return access.ordering != Ordering::lifetime && object_of(access.address) != object_of(accesses[0].address);
    });
}

}  // namespace

// ------------------------------------------------------------------------------------ the search

bool Pop::run() {
    if (failed_at_start()) return false;
    random_.seed(options_.seed);
    bool arrived = false;  // at a new event
    bool ended = false;    // nothing more can be added to the execution
    for (;;) {
        if (should_stop() || gave_up_) return false;
        if (arrived) {
            if (note_event()) find_races();
            else if (options_.keep_going) ended = true;
            else return false;
        }
        arrived = !ended && explore_one_more();
        if (arrived || gave_up_) continue;
        if (!ended) find_races_of_blocked_threads();
        arrived = explore_next_plan();
        ended = false;
        if (!arrived) return true;
    }
}

Pop::Extended Pop::extend(const Step& step, bool scheduled, SchedulePtr schedule) {
    const std::size_t changes = changes_.size();
    if (!execution_.extend(step.thread, step.choices)) return Extended::disabled;
    const Position event = execution_.size() - 1;
    for (const auto& watcher : watchers_) {
        if (!update(*watcher, event)) continue;
        undo(changes);
        execution_.shorten(event);
        return Extended::asleep;
    }
    notes_.push_back({scheduled, schedule, changes, watchers_.size(), nullptr, {}});
    if (branches_.size() < notes_.size()) branches_.emplace_back();
    if (schedule) {
        heads_.push_back(event);
        watch(schedule);
    }
    return Extended::yes;
}

void Pop::shorten(Position length) {
    if (length >= notes_.size()) return;
    undo(notes_[length].changes);
    watchers_.resize(notes_[length].watchers);
    notes_.resize(length);
    while (!heads_.empty() && heads_.back() >= length) heads_.pop_back();
    execution_.shorten(length);
}

// Extend the execution by any event that is not asleep. False: there is none.
bool Pop::explore_one_more() {
    const Machine& machine = execution_.machine();
    if (machine.exited()) {
        note_end();
        return false;
    }
    // The thread that moved last is the one that can most likely go on.
    std::array<Slot, max_slots> order;
    std::size_t count = 0;
    u64 rest = machine.threads();
    if (execution_.size() != 0) {
        order[count++] = execution_[execution_.size() - 1].thread;
        rest &= ~(u64{1} << order[0]);
    }
    for (; rest != 0; rest &= rest - 1) order[count++] = static_cast<Slot>(std::countr_zero(rest));
    if (options_.seed != 0) std::shuffle(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), random_);
    bool asleep = false;
    for (std::size_t i = 0; i < count; ++i) {
        if (machine.status(order[i]) != Status::ready) continue;
        switch (extend({order[i], {}}, false, nullptr)) {
            case Extended::yes: return true;
            case Extended::disabled: break;
            case Extended::asleep: asleep = true; break;
        }
    }
    // This does not happen to events that do the same wherever they are: see docs/exploration.md.
    if (asleep) gave_up_ = true;
    else note_end();
    return false;
}

// ------------------------------------------------------------------------------------ races

// Whether the event with this past, at the end of the first `end` events, is fresh after `first`: every schedule in
// between belongs to its past, so that this race was not there before that schedule was made.
bool Pop::is_fresh(Position first, Position end, std::span<const u32> past, bool transitively) const {
    for (auto head = heads_.rbegin(); head != heads_.rend() && *head > first; ++head) {
        if (*head >= end) continue;
        if (past[execution_[*head].thread] < execution_[*head].index) return false;
        if (transitively && execution_.happens_before(first, *head)) return false;
    }
    return true;
}

void Pop::find_races() {
    const Position last = execution_.size() - 1;
    const Execution::Event& event = execution_[last];
    find_choices();
    // Where what is independent depends on more than who reads and who writes, more sleeps than the schedules tell.
    if (execution_.commutes() || execution_.machine().assumes()) gave_up_ = true;
    const auto accesses = execution_.accesses(last);
    if (event.section && (execution_.machine().own_section() || touches_several_objects(accesses))) gave_up_ = true;
    const Position predecessor = event.previous != nowhere ? event.previous : execution_.spawned_by(event.thread);
    note_places(accesses, event.section, execution_.conflicts(), predecessor);
    if (gave_up_) return;
    const auto choices = execution_.choices(last);
    Race race{Race::Kind::event, nowhere, {event.thread, {choices.begin(), choices.end()}}, {accesses.begin(), accesses.end()}, {}, {}};
    if (event.guard_accesses != 0) {
        // Look at the guard from where it was.
        Machine& machine = execution_.machine();
        machine.rewind(event.mark);
        notes_[last].needs = find_guarded_races(race, event.guard_accesses, last, predecessor);
        machine.step(event.thread, race.step.choices);
        return;
    }
    for (const Position first : execution_.adjacent()) {
        if (notes_[first].scheduled || !is_fresh(first, last, execution_.clock(last), false)) continue;
        race.first = first;
        plan(race);
    }
}

// Note at which places sections are in conflict with events of other threads: here, accesses with the events `conflicts`, of which those
// before `predecessor` are ordered in any case. A section without a place that is part of all its conflicts is more than one access.
void Pop::note_places(std::span<const Access> accesses, bool section, std::span<const Position> conflicts, Position predecessor) {
    const auto note = [&](std::span<const Access> ours, std::span<const Access> theirs) {
        const auto here = [&](const Place& place) {
            return std::ranges::any_of(ours, [&](const Access& access) {
                return Place{access.address, access.size} == place && dependent({&access, 1}, theirs, execution_.commute());
            });
        };
        // Sections that begin with the same access are taken together, in all executions.
        const auto [found, added] = places_.try_emplace(ours[0].address);
        if (added)
            for (const Access& access : ours) found->second.emplace_back(access.address, access.size);
        std::erase_if(found->second, std::not_fn(here));
        if (found->second.empty()) gave_up_ = true;
    };
    for (const Position other : conflicts) {
        if (!section && !execution_[other].section) continue;
        if (predecessor != nowhere && (other == predecessor || execution_.happens_before(other, predecessor))) continue;
        if (section) note(accesses, execution_.accesses(other));
        if (execution_[other].section) note(execution_.accesses(other), accesses);
    }
}

// The other values of a choice: as if they were in a race with the one that was taken.
void Pop::find_choices() {
    const Position last = execution_.size() - 1;
    const std::vector<u32>& ranges = execution_.machine().ranges();
    if (std::ranges::all_of(ranges, [](u32 range) { return range == 1; })) return;
    const auto accesses = execution_.accesses(last);
    const Slot thread = execution_[last].thread;
    const bool local = ranges.size() == 1 && accesses.size() == 1 && accesses[0].address == address_of(thread, 0) + code_.thread_block_size - 1;
    if (!local) {
        gave_up_ = true;
        return;
    }
    if (notes_[last].scheduled) return;
    for (u32 value = ranges[0]; value-- > 1;) plan({Race::Kind::choice, last, {thread, {value}}, {}, {}, {}});
}

// The races of an event that can be disabled, with events before `end`. The machine is where the event is about to happen. A
// race with an event that the guard needs cannot be reversed; then the races behind that one count. The result is those events.
std::vector<Position> Pop::find_guarded_races(const Race& race, u32 guards, Position end, Position predecessor) {
    std::vector<u32> base(execution_.clock_size(), 0);
    if (predecessor != nowhere) std::ranges::copy(execution_.clock(predecessor), base.begin());
    const auto in = [&](const std::vector<u32>& clock, Position event) { return clock[execution_[event].thread] >= execution_[event].index; };
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
                    if (!access.known) gave_up_ = true;
                }
        if (writes) writers.push_back(event);
    }
    for (std::size_t i = 1; i < writers.size(); ++i)
        if (!execution_.happens_before(writers[i], writers[i - 1])) gave_up_ = true;
    if (gave_up_) return {};

    Machine& machine = execution_.machine();
    std::vector<u32> hidden = base;
    std::vector<bool> enabled{race.kind == Race::Kind::event};  // without the latest 0, 1, ... writers
    const Machine::Mark mark = machine.mark();
    std::vector<Position> held_up;  // conflicting events without which it would be disabled
    for (const Position first : conflicting_) {
        if (in(hidden, first)) continue;
        // Without `first` and what comes after it, the guard sees what was there before.
        const auto stays = [&](Position writer) { return writer != first && !execution_.happens_before(first, writer); };
        const auto gone = static_cast<std::size_t>(std::ranges::find_if(writers, stays) - writers.begin());
        while (enabled.size() <= gone) {
            // (What it wrote first overwrote what was there before it.)
            for (const Access& access : execution_.accesses(writers[enabled.size() - 1]) | std::views::reverse)
                if (access.writes && std::ranges::any_of(guard, [&](const Access& read) { return overlap(access, read); }))
                    machine.poke(access.address, static_cast<u32>(access.size), access.before);
            machine.next(race.step.thread, race.step.choices, next_);
            enabled.push_back(next_.enabled);
            // Held up by something that it has not met here.
            if (!next_.enabled && !covers(guard, next_.accesses)) gave_up_ = true;
        }
        if (!enabled[gone]) {
            held_up.push_back(first);
            continue;
        }
        // Then it comes after events that it may have to come before once this race is reversed.
        if (std::ranges::any_of(held_up, [&](Position other) { return !execution_.happens_before(first, other); })) gave_up_ = true;
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
    machine.rewind(mark);
    return held_up;
}

void Pop::find_races_of_blocked_threads() {
    Machine& machine = execution_.machine();
    std::vector<Rival> rivals;
    for (u64 rest = machine.threads(); rest != 0 && !gave_up_; rest &= rest - 1) {
        const Slot thread = static_cast<Slot>(std::countr_zero(rest));
        if (machine.status(thread) != Status::ready) continue;
        // The end of the process disables everything.
        if (machine.exited()) gave_up_ = true;
        machine.next(thread, {}, next_);
        if (next_.enabled) continue;
        if (machine.assumes() || touches_several_objects(next_.accesses)) gave_up_ = true;
        execution_.conflicting(next_.accesses, [](Position) { return false; }, conflicting_);
        note_places(next_.accesses, true, conflicting_, execution_.before(thread));
        const Race race{Race::Kind::blocked, nowhere, {thread, {}}, next_.accesses, {}, rivals};
        std::vector<Position> needs = find_guarded_races(race, static_cast<u32>(race.accesses.size()), execution_.size(), execution_.before(thread));
        rivals.push_back({std::make_shared<const Memory>(Memory{thread, execution_.next_index(thread), {}, race.accesses}), std::move(needs)});
    }
}

// Plan to explore executions in which a race is reversed.
void Pop::plan(const Race& race) {
    const Position size = execution_.size();
    const Position end = race.kind == Race::Kind::blocked ? size : size - 1;
    const std::span<const u32> past = race.past.empty() ? execution_.clock(size - 1) : std::span<const u32>(race.past);
    auto schedule = std::make_shared<Schedule>();
    std::vector<bool>& in_schedule = in_schedule_;
    in_schedule.assign(size, false);
    for (Position i = race.first + 1; i < end; ++i) {
        const Execution::Event& event = execution_[i];
        if (past[event.thread] < event.index || execution_.happens_before(race.first, i)) continue;
        in_schedule[i] = true;
        const auto choices = execution_.choices(i);
        schedule->steps.push_back({event.thread, {choices.begin(), choices.end()}});
    }
    schedule->steps.push_back(race.step);
    const bool varies = race.kind == Race::Kind::event ? execution_[size - 1].varies : race.kind == Race::Kind::blocked;
    if (race.kind != Race::Kind::choice && !dominates(race.accesses, execution_.accesses(race.first)))
        schedule->expressions = characterise(race, end, in_schedule);
    const auto first = execution_.accesses(race.first);
    branches_[race.first].plans.push_back({std::move(schedule), varies, race.accesses, {first.begin(), first.end()}});
}

// Explore a schedule in the place of an event. False: that has been explored elsewhere, or cannot be.
bool Pop::follow(Position first, const Plan& plan) {
    ++branches_[first].explored;
    shorten(first);
    const std::vector<Step>& steps = plan.schedule->steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const Extended extended = extend(steps[i], true, i + 1 == steps.size() ? plan.schedule : nullptr);
        // A guard that was not met where the race was found.
        if (extended == Extended::disabled) gave_up_ = true;
        if (extended != Extended::yes) return false;
    }
    const auto accesses = execution_.accesses(execution_.size() - 1);
    if (plan.varies && !(does_as_much(accesses, plan.expected) && does_no_more(accesses, plan.expected, plan.first))) gave_up_ = true;
    return true;
}

// Go back to the last event for which something is planned. The paper's algorithm leaves an execution for each race at once, and
// returns to it, so that plans do not pile up. Here that is done when many have piled up for one event: returning is dear, as
// what is returned to has to be executed again.
bool Pop::explore_next_plan() {
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
            if (follow(next, chosen) || gave_up_) return true;
        }
    }
}

// Leave the present execution in order to explore what is planned in the place of the event `branch`. What is planned for the
// events behind it, up to `last`, is left for later.
void Pop::suspend(Position branch, Position last) {
    Suspended left{branch, {}};
    for (Position i = branch; i <= last; ++i) {
        const auto choices = execution_.choices(i);
        left.tail.push_back({{execution_[i].thread, {choices.begin(), choices.end()}}, notes_[i].scheduled, notes_[i].schedule, {}});
        if (i != branch) std::swap(left.tail.back().branch, branches_[i]);
    }
    suspended_.push_back(std::move(left));
}

// Go back to the execution that was left last.
void Pop::resume() {
    Suspended left = std::move(suspended_.back());
    suspended_.pop_back();
    shorten(left.branch);
    for (Suspended::Tail& event : left.tail) {
        if (extend(event.step, event.scheduled, std::move(event.schedule)) != Extended::yes)
            throw std::logic_error("an execution that was left cannot be resumed");
        branches_[execution_.size() - 1] = std::move(event.branch);
    }
}

double Pop::fraction() const {
    double done = 0, part = 1;
    for (std::size_t i = 0; i < notes_.size(); ++i) {
        const double all = 1.0 + branches_[i].explored + static_cast<double>(branches_[i].plans.size());
        done += part * branches_[i].explored / all;
        part /= all;
    }
    return done;
}

// ------------------------------------------------------------------------------------ sleep sets

Pop::MemoryPtr Pop::remember(Position position) {
    MemoryPtr& memory = notes_[position].memory;
    if (!memory) {
        const auto choices = execution_.choices(position);
        const auto accesses = execution_.accesses(position);
        memory = std::make_shared<const Memory>(Memory{execution_[position].thread, execution_[position].index,
                                                       {choices.begin(), choices.end()}, {accesses.begin(), accesses.end()}});
    }
    return memory;
}

// The schedules that come before the one that is about to reverse a race.
std::vector<Pop::ExpressionPtr> Pop::characterise(const Race& race, Position end, const std::vector<bool>& in_schedule) {
    const auto items = std::make_shared<std::vector<Item>>();
    const MemoryPtr event = remember(race.first);
    std::vector<ExpressionPtr> expressions;
    const auto inherit = [&](Position head) {
        for (const ExpressionPtr& inner : notes_[head].schedule->expressions)
            expressions.push_back(std::make_shared<const Expression>(Expression{event, items, items->size(), inner}));
    };
    const auto needs_first = [&](const std::vector<Position>& needs) { return std::ranges::find(needs, race.first) != needs.end(); };
    for (Position i = race.first + 1; i < end; ++i) {
        if (!in_schedule[i]) {
            items->push_back({remember(i), false, needs_first(notes_[i].needs)});
        } else if (notes_[i].schedule) {
            inherit(i);
            items->push_back({remember(i), true, false});
        }
    }
    if (race.kind == Race::Kind::event && notes_[end].schedule) inherit(end);
    for (const Rival& other : race.rivals) items->push_back({other.event, false, needs_first(other.needs)});
    expressions.push_back(std::make_shared<const Expression>(Expression{event, items, items->size(), nullptr}));
    return expressions;
}

void Pop::watch(const SchedulePtr& schedule) {
    const Position head = execution_.size() - 1;
    const Position from = execution_.size() - static_cast<Position>(schedule->steps.size());
    for (const ExpressionPtr& expression : schedule->expressions)
        if (!dominates(execution_.accesses(head), expression->first->accesses)) watchers_.push_back(make_watcher(expression, from));
}

std::unique_ptr<Pop::Watcher> Pop::make_watcher(const ExpressionPtr& expression, Position from) {
    auto watcher = std::make_unique<Watcher>();
    watcher->expression = expression;
    watcher->conflicts.resize(expression->length);
    watcher->removed.resize(expression->length);
    for (Position i = from; i < execution_.size(); ++i)
        if (conflicts(*expression->first, i) || is(*expression->first, i)) watcher->rivals.push_back(i);
    if (expression->inner) watcher->inner = make_watcher(expression->inner, from);
    return watcher;
}

// Whether an event that happens at `position` excludes or is ordered with one that is remembered.
bool Pop::conflicts(const Memory& event, Position position) const {
    if (event.thread == execution_[position].thread)
        return event.index == execution_[position].index && !std::ranges::equal(event.choices, execution_.choices(position));
    return dependent(event.accesses, execution_.accesses(position), execution_.commute());
}

bool Pop::is(const Memory& event, Position position) const {
    return event.thread == execution_[position].thread && event.index == execution_[position].index &&
           std::ranges::equal(event.choices, execution_.choices(position));
}

void Pop::change(Change change) { changes_.push_back(change); }

void Pop::undo(std::size_t length) {
    while (changes_.size() > length) {
        const Change last = changes_.back();
        changes_.pop_back();
        switch (last.kind) {
            case Change::Kind::conflict: last.watcher->conflicts[last.item].pop_back(); break;
            case Change::Kind::removed: last.watcher->removed[last.item] = false; break;
            case Change::Kind::rival: last.watcher->rivals.pop_back(); break;
            case Change::Kind::inner_head: last.watcher->inner_heads.pop_back(); break;
            case Change::Kind::dead: last.watcher->dead = false; break;
        }
    }
}

// Find the first item that the event is, or is in conflict with, and note that.
std::size_t Pop::match(Watcher& watcher, Position event) {
    const std::vector<Item>& items = *watcher.expression->items;
    for (std::size_t i = 0; i < watcher.expression->length; ++i) {
        if (items[i].head || watcher.removed[i]) continue;
        const bool against = conflicts(*items[i].event, event) ||
                             std::ranges::any_of(watcher.conflicts[i], [&](Position met) {
                                 return execution_[met].thread == execution_[event].thread ||
                                        dependent(execution_.accesses(met), execution_.accesses(event), execution_.commute());
                             });
        if (against) {
            watcher.conflicts[i].push_back(event);
            change({Change::Kind::conflict, &watcher, i});
            return i;
        }
        if (is(*items[i].event, event)) {
            watcher.removed[i] = true;
            change({Change::Kind::removed, &watcher, i});
            return i;
        }
    }
    return no_item;
}

// Whether the event, which conflicts with the first one, is the head of a schedule that could have come from a race with it, fresh
// after the heads among the first `count` items.
bool Pop::is_head(const Watcher& watcher, Position event, std::size_t count) const {
    const std::vector<Item>& items = *watcher.expression->items;
    const auto clock = execution_.clock(event);
    for (std::size_t i = 0; i < count; ++i)
        if (items[i].head && clock[items[i].event->thread] < items[i].event->index) return false;
    return std::ranges::none_of(watcher.rivals, [&](Position rival) { return execution_.happens_before(rival, event); });
}

// Tell a watcher of an event. True: it would complete one of the schedules that are to be avoided.
bool Pop::update(Watcher& watcher, Position event) {
    if (watcher.dead) return false;
    const Memory& first = *watcher.expression->first;
    const bool itself = is(first, event);
    if (itself && !(does_as_much(execution_.accesses(event), first.accesses) && does_as_much(first.accesses, execution_.accesses(event)))) gave_up_ = true;
    const bool rival = conflicts(first, event);
    bool blocks = false;
    const std::size_t matched = match(watcher, event);
    if (matched != no_item) {
        blocks = rival && is_head(watcher, event, matched);
        // That its order with the item can be reversed is not known of an event that can be disabled; nor, if it is the item and needed
        // the first event where that was found, in which other way it has come here.
        const Item& item = (*watcher.expression->items)[matched];
        const bool known = watcher.removed[matched] ? !item.needs_first : execution_[event].guard_accesses == 0;
        if (blocks && !known) gave_up_ = true;
    } else if (watcher.inner) {
        const bool inner = update(*watcher.inner, event);
        const bool continues = inner || std::ranges::any_of(watcher.inner_heads, [&](Position head) { return execution_.happens_before(head, event); });
        if (rival && continues && is_head(watcher, event, watcher.expression->length)) blocks = true;
        if (inner) {
            watcher.inner_heads.push_back(event);
            change({Change::Kind::inner_head, &watcher, 0});
        }
    }
    if (rival || itself) {
        watcher.rivals.push_back(event);
        change({Change::Kind::rival, &watcher, 0});
    }
    const auto hides = [&] {
        return std::ranges::all_of(first.accesses, [&](const Access& access) {
            return std::ranges::any_of(execution_.accesses(event), [&](const Access& other) {
                return other.writes && other.commuting == Commuting::no && within(access, other);
            });
        });
    };
    if (itself || (rival && hides())) {
        watcher.dead = true;
        change({Change::Kind::dead, &watcher, 0});
    }
    return blocks;
}

}  // namespace mazurka
