#include "explore/optimal.hpp"

#include <algorithm>
#include <bit>

#include "explore/choices.hpp"
#include "vm/arithmetic.hpp"

namespace mazurka {

// ------------------------------------------------------------------------------------ the search

bool Optimal::run() {
    if (failed_at_start()) return false;
    random_.seed(options_.seed);
    nodes_.emplace_back();
    for (;;) {
        if (should_stop()) return false;
        if (descend()) {
            if (note_event()) continue;
            if (!options_.keep_going) return false;
        } else if (!node().expanded) {
            // Nothing could be done here: the execution is maximal.
            find_races();
        }
        if (!ascend()) return true;
    }
}

// Take the next step that is planned, or any step if nothing is. False: nothing is left to do here.
bool Optimal::descend() {
    const TreeIndex planned = node().wakeup;
    if (planned == none) return !node().expanded && take_any();
    const Tree& tree = trees_[planned];
    const TreeIndex subtree = tree.first_child;
    node().wakeup = tree.next_sibling;
    execution_.take(tree.letter.thread, tree.letter.choices);
    drop_tree(planned);
    enter(subtree);
    return true;
}

// Extend the execution by a step of any thread that does not sleep.
bool Optimal::take_any() {
    const auto sleeps = [&](const Letter& letter) {
        return std::ranges::any_of(node().sleep, [&](const Letter& one) { return one.same_step(letter); });
    };
    Machine& machine = execution_.machine();
    bool asleep = false;
    u64 rest = machine.exited() ? 0 : machine.threads();
    while (rest != 0) {
        Slot thread = static_cast<Slot>(std::countr_zero(rest));
        if (options_.seed != 0)
            for (u64 skip = random_() % static_cast<u64>(std::popcount(rest)), left = rest; skip > 0; --skip) {
                left &= left - 1;
                thread = static_cast<Slot>(std::countr_zero(left));
            }
        rest &= ~(u64{1} << thread);
        if (machine.status(thread) != Status::ready) continue;
        Letter letter{thread, {}, {}};
        bool more = true;
        do {
            // Most steps choose nothing: to see whether they are enabled, take them.
            if (letter.choices.empty() && std::ranges::none_of(node().sleep, [&](const Letter& one) { return one.thread == thread; })) {
                if (execution_.extend(thread, {})) {
                    enter(none);
                    return true;
                }
                more = advance(letter.choices, machine.ranges());
                continue;
            }
            machine.next(thread, letter.choices, next_);
            letter.choices.resize(next_.ranges.size(), 0);
            if (next_.enabled && !sleeps(letter)) {
                execution_.take(thread, letter.choices);
                enter(none);
                return true;
            }
            asleep |= next_.enabled;
            more = advance(letter.choices, next_.ranges);
        } while (more);
    }
    if (asleep) {
        note_redundant();
        node().expanded = true;
    } else {
        note_end();
    }
    return false;
}

// The last event of the execution leads from the present node to a new one.
void Optimal::enter(TreeIndex subtree) {
    if (nodes_.size() == depth_ + 1) nodes_.emplace_back();
    Node& parent = nodes_[depth_];
    Node& child = nodes_[++depth_];
    const Position last = execution_.size() - 1;
    const Slot thread = execution_[last].thread;
    parent.expanded = true;
    parent.races = static_cast<u32>(races_.size());
    for (const Position first : execution_.adjacent()) races_.push_back({first, nowhere});
    parent.chooses = std::ranges::any_of(execution_.machine().ranges(), [](u32 range) { return range > 1; });
    parent.settled = nowhere;
    child.sleep.clear();
    for (const Letter& letter : parent.sleep)
        if (letter.thread != thread && !dependent(letter.accesses, execution_.accesses(last), options_.commute)) child.sleep.push_back(letter);
    child.wakeup = subtree;
    child.expanded = false;
    child.explored = 0;
}

// Leave a state for the one before it. False: there is none.
bool Optimal::ascend() {
    if (depth_ == 0) return false;
    --depth_;
    node().sleep.push_back(letter_of(depth_));
    ++node().explored;
    execution_.shorten(depth_);
    races_.resize(node().races);
    kept_ = std::min(kept_, depth_);
    return true;
}

double Optimal::fraction() const {
    double done = 0, part = 1;
    for (Position i = 0; i <= depth_; ++i) {
        double all = 1.0 + nodes_[i].explored;
        for (TreeIndex tree = nodes_[i].wakeup; tree != none; tree = trees_[tree].next_sibling) ++all;
        done += part * nodes_[i].explored / all;
        part /= all;
    }
    return done;
}

Optimal::Letter Optimal::letter_of(Position event) const {
    const auto choices = execution_.choices(event);
    return {execution_[event].thread, {choices.begin(), choices.end()}, execution_.accesses(event)};
}

// ------------------------------------------------------------------------------------ races

// Reverse the races of a maximal execution. What is settled since an earlier one is left alone: going through all races of all
// executions is most of the work otherwise.
void Optimal::find_races() {
    const Position size = execution_.size();
    for (Position i = 0; i < size; ++i) {
        Node& at = nodes_[i];
        const Execution::Event& event = execution_[i];
        const u32 end = i + 1 < size ? nodes_[i + 1].races : static_cast<u32>(races_.size());
        const auto unsettled = [&](Position settled) { return settled > kept_; };
        const std::span<Race> races = std::span(races_).subspan(at.races, end - at.races);
        const bool any = event.section ? unsettled(at.settled) : std::ranges::any_of(races, unsettled, &Race::settled);
        if (!any && !at.chooses) continue;
        const Position predecessor = event.previous != nowhere ? event.previous : execution_.spawned_by(event.thread);
        Late late{letter_of(i), i, predecessor};
        if (any && event.section) {
            reverse_all(late, nowhere);
            at.settled = late.settled;
        } else if (any) {
            for (Race& race : races) {
                if (!unsettled(race.settled)) continue;
                not_after(race.first, events_);
                race.settled = plan(race.first, events_, late);
            }
        }
        if (!at.chooses) continue;
        // The other values of its choices: disabled by the ones that were taken.
        std::vector<u32> choices;
        Late other = late;
        bool more = true;
        do {
            const Next& next = look(i, {}, event.thread, choices);
            const std::vector<u32> ranges = next.ranges;
            other.letter.choices = choices;
            other.letter.choices.resize(ranges.size(), 0);
            if (other.letter.choices != late.letter.choices) {
                other.letter.accesses.assign(next.accesses);
                reverse_all(other, i);
            }
            choices = other.letter.choices;
            more = advance(choices, ranges);
        } while (more);
    }
    // What is disabled at the end; by the end of the process, if that is how it ended.
    const Machine& machine = execution_.machine();
    const Position end = machine.exited() ? size - 1 : size;
    for (u64 rest = machine.threads(); rest != 0; rest &= rest - 1) {
        const Slot thread = static_cast<Slot>(std::countr_zero(rest));
        if (machine.status(thread) != Status::ready) continue;
        std::vector<u32> choices;
        bool more = true;
        do {
            const Next& next = look(end, {}, thread, choices);
            const std::vector<u32> ranges = next.ranges;
            choices.resize(ranges.size(), 0);
            Late late{{thread, choices, std::span<const Access>(next.accesses)}, size, execution_.before(thread)};
            reverse_all(late, machine.exited() ? end : nowhere);
            more = advance(choices, ranges);
        } while (more);
    }
    kept_ = size;
}

void Optimal::not_after(Position first, Events& events) const {
    events.clear();
    for (Position i = first + 1; i < execution_.size(); ++i)
        if (!execution_.happens_before(first, i)) events.push_back(i);
}

// An event that can be disabled in some orders: reverse its order with everything that it conflicts with, as far as that enables
// it. `sibling` is the event that took its place, if any.
void Optimal::reverse_all(Late& late, Position sibling) {
    std::vector<u32> hidden(execution_.clock_size(), 0);
    if (late.predecessor != nowhere) std::ranges::copy(execution_.clock(late.predecessor), hidden.begin());
    // What is behind it is reversed when this order has been explored.
    const auto hide = [&](Position first) {
        const auto clock = execution_.clock(first);
        for (u32 i = 0; i < hidden.size(); ++i) hidden[i] = std::max(hidden[i], clock[i]);
    };
    const auto is_hidden = [&](Position event) { return hidden[execution_[event].thread] >= execution_[event].index; };
    // The events to come before it, the latest at the back.
    Events firsts, conflicting;
    const auto consider = [&](std::span<const Access> accesses, Position end) {
        execution_.conflicting(accesses, [&](Position event) { return !is_hidden(event); }, conflicting);
        for (const Position first : conflicting)
            if (first < end) firsts.push_back(first);
        std::ranges::sort(firsts);
        firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
    };
    consider(late.letter.accesses, late.end);
    if (sibling != nowhere && (firsts.empty() || firsts.back() != sibling)) firsts.push_back(sibling);
    while (!firsts.empty()) {
        const Position first = firsts.back();
        firsts.pop_back();
        if (first != sibling && is_hidden(first)) continue;
        Events events;
        not_after(first, events);
        // Not itself, and what happens after it.
        if (late.end < execution_.size())
            std::erase_if(events, [&](Position event) { return event == late.end || execution_.happens_before(late.end, event); });
        if (const Next* next = sibling == nowhere ? judge(first, late) : nullptr) {
            if (next->enabled) {
                late.settled = std::max(late.settled, plan(first, events, late, next));
                hide(first);
                continue;
            }
            if (std::ranges::none_of(events, [&](Position event) { return may_enable(event, late, next->accesses); })) continue;
        }
        late.settled = nowhere;
        std::vector<Events> found;
        Accesses met;
        enabling(first, late, events, found, met, first == sibling);
        // What disabled it may be something that it did not meet in the order that was explored.
        consider(met, first);
        for (const Events& chosen : found) plan(first, chosen, late);
        if (first != sibling && found.size() == 1 && found[0].size() == events.size()) hide(first);
    }
}

bool Optimal::Late::covers(std::span<const Access> met) const {
    return std::ranges::all_of(met, [&](const Access& access) {
        return std::ranges::any_of(std::span<const Access>(letter.accesses), [&](const Access& known) {
            // An update that commutes stands for others of its kind only: a read conflicts with more.
            const bool same = known.commuting == access.commuting && known.address == access.address && known.size == access.size;
            const bool within = known.address <= access.address && access.address + access.size <= known.address + known.size;
            return same || (known.commuting == Commuting::no && within);
        });
    });
}

// What the late event would do without `first` and what happens after it, as far as that can be told from the values that it would
// find: without executing anything else.
const Next* Optimal::judge(Position first, const Late& late) {
    if (late.end < execution_.size() && !execution_.happens_before(first, late.end)) return nullptr;
    Machine& machine = machine_after(late.end, {});
    const Machine::Mark mark = machine.mark();
    bool known = true;
    for (const Access& access : std::span<const Access>(late.letter.accesses)) {
        const std::optional<u64> value = execution_.value_without(access, first, late.end);
        known = value.has_value();
        if (!known) break;
        if (machine.defined_value(access.address, access.size) != value) machine.poke(access.address, static_cast<u32>(access.size), *value);
    }
    if (known) machine.next(late.letter.thread, late.letter.choices, next_);
    machine.rewind(mark);
    return known && late.covers(next_.accesses) ? &next_ : nullptr;
}

// Whether leaving out this event may enable a late one that touched `guard` where it was disabled.
bool Optimal::may_enable(Position event, const Late& late, std::span<const Access> guard) const {
    if (late.predecessor != nowhere && (event == late.predecessor || execution_.happens_before(event, late.predecessor))) return false;
    return std::ranges::any_of(execution_.accesses(event), [&](const Access& access) {
        return access.writes && std::ranges::any_of(guard, [&](const Access& read) { return overlap(access, read); });
    });
}

// The maximal parts of `events`, each with all that its events happen after, which enable the late event after those before `first`.
// Only those count where it conflicts with `first`, unless it is an `alternative` to that: otherwise, its order with `first` is not
// reversed. `met` collects what it touched where it was disabled.
void Optimal::enabling(Position first, const Late& late, Events events, std::vector<Events>& found, Accesses& met, bool alternative) {
    if (std::ranges::any_of(found, [&](const auto& larger) { return std::ranges::includes(larger, events); })) return;
    const Next& next = look(first, events, late.letter.thread, late.letter.choices);
    if (next.enabled && (alternative || dependent(next.accesses, execution_.accesses(first), options_.commute))) {
        std::erase_if(found, [&](const auto& smaller) { return std::ranges::includes(events, smaller); });
        found.push_back(std::move(events));
        return;
    }
    const Accesses guard = next.accesses;
    if (!next.enabled) met.insert(met.end(), guard.begin(), guard.end());
    for (const Position without : events) {
        if (!may_enable(without, late, guard)) continue;
        Events fewer;
        for (const Position event : events)
            if (event != without && !execution_.happens_before(without, event)) fewer.push_back(event);
        enabling(first, late, std::move(fewer), found, met, alternative);
    }
}

// Plan to explore, after the events before `first`, some of those behind it and then the late one, unless that is redundant.
// `next` is what it does there, if that is known already. Says how many events settle that it is redundant.
Position Optimal::plan(Position first, const Events& events, const Late& late, const Next* next) {
    Letter last = late.letter;
    bool known = late.end < execution_.size() && !execution_[late.end].section;
    if (known && execution_[late.end].varies) {
        // A compare-exchange: it writes if it finds what it expects. If `first` wrote there, it finds what that overwrote.
        Access& access = last.accesses[0];
        for (const Access& other : execution_.accesses(first)) {
            if (!other.writes || !overlap(other, access)) continue;
            known = other.address == access.address && other.size == access.size && other.commuting == Commuting::no && other.known;
            const u32 bits = code_.instructions[static_cast<u32>(execution_[late.end].site)].bits;
            access.writes = (other.before & mask(bits)) == execution_[late.end].expected;
            break;
        }
    }
    if (!known) {
        // What it touches may depend on what comes before it.
        if (next == nullptr) next = &look(first, events, last.thread, last.choices);
        if (!next->enabled) {
            last.choices.clear();
            next = &look(first, events, last.thread, last.choices);
            if (!next->enabled) return nowhere;
        }
        last.choices.resize(next->ranges.size(), 0);
        last.accesses.assign(next->accesses);
    }
    word_ = events;
    Position seen = 0;
    for (const Letter& letter : nodes_[first].sleep)
        if (is_weak_initial(letter, word_, &last, seen)) return seen;
    return insert(nodes_[first].wakeup, word_, &last, seen) ? nowhere : seen;
}

// What a step would do after the first `prefix` events and then some others.
const Next& Optimal::look(Position prefix, const Events& events, Slot thread, std::span<const u32> choices) {
    machine_after(prefix, events).next(thread, choices, next_);
    execution_.machine().share_names(scratch_);
    return next_;
}

// A machine after the first `prefix` events and then some others.
Machine& Optimal::machine_after(Position prefix, const Events& events) {
    if (prefix == execution_.size() && events.empty()) return execution_.machine();
    scratch_.share_names(execution_.machine());
    const auto wanted = [&](Position i) { return i < prefix ? i : events[i - prefix]; };
    const Position size = prefix + static_cast<Position>(events.size());
    Position same = 0;
    while (same < tried_.size() && same < size && tried_[same].thread == execution_[wanted(same)].thread &&
           std::ranges::equal(tried_[same].choices, execution_.choices(wanted(same))))
        ++same;
    if (same < tried_.size()) {
        scratch_.rewind(tried_[same].mark);
        tried_.resize(same);
    }
    for (Position i = same; i < size; ++i) {
        const auto made = execution_.choices(wanted(i));
        tried_.push_back({execution_[wanted(i)].thread, {made.begin(), made.end()}, scratch_.mark()});
        if (scratch_.step(tried_.back().thread, made) == Machine::Outcome::blocked)
            throw std::logic_error("another order of independent steps is not possible");
    }
    return scratch_;
}

// ------------------------------------------------------------------------------------ wakeup trees

// Whether a word, the events and then the last letter (if any), can be reordered to start with this letter, or followed by it at any
// place. `seen` becomes as many events as that depends on, if it was less.
bool Optimal::is_weak_initial(const Letter& letter, const Events& events, const Letter* last, Position& seen) const {
    for (const Position event : events) {
        const bool same = execution_[event].thread == letter.thread;
        if (!same && !dependent(letter.accesses, execution_.accesses(event), options_.commute)) continue;
        seen = std::max(seen, event + 1);
        return same && std::ranges::equal(execution_.choices(event), letter.choices);
    }
    seen = nowhere;
    if (last == nullptr) return true;
    if (last->thread == letter.thread) return last->choices == letter.choices;
    return !dependent(letter.accesses, last->accesses, options_.commute);
}

// Add a word to a wakeup tree, unless it begins like something that is there; whether it was added. Takes out of `events` what is
// there.
bool Optimal::insert(TreeIndex& children, Events& events, const Letter* last, Position& seen) {
    TreeIndex parent = none;
    const auto first_of = [&](TreeIndex tree) -> TreeIndex& { return tree == none ? children : trees_[tree].first_child; };
    for (;;) {
        // descend into the leftmost branch that the word can take
        TreeIndex taken = first_of(parent);
        while (taken != none && !is_weak_initial(trees_[taken].letter, events, last, seen)) taken = trees_[taken].next_sibling;
        if (taken == none) break;
        const Slot thread = trees_[taken].letter.thread;
        const auto same_thread = std::ranges::find_if(events, [&](Position event) { return execution_[event].thread == thread; });
        if (same_thread != events.end()) events.erase(same_thread);
        else if (last != nullptr && last->thread == thread) last = nullptr;
        else return false;
        if ((events.empty() && last == nullptr) || trees_[taken].first_child == none) return false;
        parent = taken;
    }
    TreeIndex previous = first_of(parent);
    while (previous != none && trees_[previous].next_sibling != none) previous = trees_[previous].next_sibling;
    const auto append = [&](Letter letter) {
        const TreeIndex added = make_tree(std::move(letter));
        if (previous != none) trees_[previous].next_sibling = added;
        else first_of(parent) = added;
        parent = added;
        previous = none;
    };
    for (const Position event : events) append(letter_of(event));
    if (last != nullptr) append(*last);
    return true;
}

Optimal::TreeIndex Optimal::make_tree(Letter letter) {
    if (unused_ == none) {
        trees_.push_back({std::move(letter)});
        return static_cast<TreeIndex>(trees_.size() - 1);
    }
    const TreeIndex tree = unused_;
    unused_ = trees_[tree].next_sibling;
    trees_[tree] = {std::move(letter)};
    return tree;
}

void Optimal::drop_tree(TreeIndex tree) {
    trees_[tree].next_sibling = unused_;
    unused_ = tree;
}

}  // namespace mazurka
