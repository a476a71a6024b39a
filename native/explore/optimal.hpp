// Optimal-DPOR with wakeup trees, and its treatment of blocking events (Jonsson, Lång, Sagonas: Optimal-DPOR-Await):
// every equivalence class exactly once. Needs space for all executions that are planned but not yet explored.
#pragma once

#include <algorithm>
#include <bit>
#include <random>

#include "core/choices.hpp"
#include "explore/explorer.hpp"
#include "explore/few.hpp"

namespace mazurka {

template <Subject S>
class Optimal final : public Explorer<S> {
public:
    Optimal(const S& start, const ExplorationOptions& options, Progress& progress, const std::atomic<bool>& stopping)
        : Explorer<S>(start, options, progress, stopping), scratch_(start.again()) {}
    bool run() override;

protected:
    double fraction() const override;

private:
    using Explorer<S>::effect_;
    using Explorer<S>::execution_;
    using Explorer<S>::options_;

    // A step in a known state: what it touches is known, too.
    struct Letter {
        Slot thread = 0;
        std::vector<u32> choices;
        Few<Access, 1> accesses;
        bool same_step(const Letter& other) const { return thread == other.thread && choices == other.choices; }
    };
    // The nodes of all wakeup trees are in one table; `none` is no node. A node is a step to take; its children, from
    // left to right, are what to do after it. No children: as you like.
    using TreeIndex = u32;
    static constexpr TreeIndex none = ~TreeIndex{0};
    static constexpr Position most_reversed = 1000;  // events of an execution that does not end
    struct Tree {
        Letter letter;
        TreeIndex first_child = none;
        TreeIndex next_sibling = none;
    };
    // What is known of the state after some events. The nodes beyond the present one keep their memory for later.
    struct Node {
        std::vector<Letter> sleep;  // explored here or before, and still redundant
        TreeIndex wakeup = none;    // the first of the steps to be explored
        bool expanded = false;
        u32 explored = 0;
        // of the event that is explored from here
        u32 races = 0;  // where its races begin in `races_`
        bool chooses = false;
        Position settled = nowhere;  // if it is a section: as for a race
    };
    // A race of an event of the execution with an earlier one. Reversing it was found to be redundant because of the
    // first `settled` events alone: as long as they stay, it is. `nowhere`: not so.
    struct Race {
        Position first;
        Position settled;
    };
    // An event whose order with others is to be reversed: it happens, or would, after the first `end` events.
    struct Late {
        Letter letter;
        Position end;
        Position predecessor;  // what it happens after in any case, ...
        Position twin;         // ... and this, if it is there
        Position settled = 0;  // as for a race

        // Whether it touches nothing new here.
        bool covers(std::span<const Access> met) const;
    };
    // Some of the events behind a position, in their order.
    using Events = std::vector<Position>;

    bool descend();
    bool take_any();
    void enter(TreeIndex subtree);
    bool ascend();
    void find_races();
    void reverse_all(Late& late, Position sibling);
    const Effect* foresee(Position first, const Late& late);
    bool may_enable(Position event, const Late& late, std::span<const Access> guard) const;
    void enabling(Position first, const Late& late, Events events, std::vector<Events>& found, Accesses& met,
                  bool alternative);
    Position plan(Position first, const Events& events, const Late& late, const Effect* next = nullptr);
    void not_after(Position first, Events& events) const;
    const Effect& look(Position prefix, const Events& events, Slot thread, std::span<const u32> choices);
    S& subject_after(Position prefix, const Events& events);
    bool is_weak_initial(const Letter& letter, const Events& events, const Letter* last, Position& seen) const;
    bool insert(TreeIndex& children, Events& events, const Letter* last, Position& seen);
    Letter letter_of(Position event) const;
    TreeIndex make_tree(Letter letter);
    void drop_tree(TreeIndex tree);

    Node& node() { return nodes_[depth_]; }

    std::vector<Node> nodes_;
    Position depth_ = 0;
    std::vector<Race> races_;  // of all events of the execution, one after the other
    Position kept_ = 0;        // the events that were part of the maximal execution before this one
    std::vector<Tree> trees_;
    TreeIndex unused_ = none;
    // To try other orders of what has happened: a subject, and the steps that it has taken.
    struct Tried {
        Slot thread;
        std::vector<u32> choices;
        typename S::Mark mark;  // before it
    };
    S scratch_;
    std::vector<Tried> tried_;
    std::mt19937_64 random_;
    Events events_, word_;
};

// ------------------------------------------------------------------------------------ the search

template <Subject S>
bool Optimal<S>::run() {
    if (this->failed_at_start()) return false;
    random_.seed(options_.seed);
    nodes_.emplace_back();
    for (;;) {
        if (this->should_stop()) return false;
        if (descend()) {
            if (this->note_event()) continue;
            if (this->should_stop()) return false;
            // It is too long. What it has shown by then is not lost, except for its end: there may be too much of it.
            while (depth_ > most_reversed) ascend();
            find_races();
        } else if (!node().expanded) {
            // Nothing could be done here: the execution is maximal.
            find_races();
        }
        if (this->is_stopping()) return false;  // not all that is to be done may have been planned
        if (!ascend()) return true;
    }
}

// Take the next step that is planned, or any step if nothing is. False: nothing is left to do here.
template <Subject S>
bool Optimal<S>::descend() {
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
template <Subject S>
bool Optimal<S>::take_any() {
    const auto sleeps = [&](const Letter& letter) {
        return std::ranges::any_of(node().sleep, [&](const Letter& one) { return one.same_step(letter); });
    };
    S& subject = execution_.subject();
    bool asleep = false;
    u64 rest = subject.exited() ? 0 : subject.threads();
    while (rest != 0) {
        Slot thread = static_cast<Slot>(std::countr_zero(rest));
        if (options_.seed != 0)
            for (u64 skip = random_() % static_cast<u64>(std::popcount(rest)), left = rest; skip > 0; --skip) {
                left &= left - 1;
                thread = static_cast<Slot>(std::countr_zero(left));
            }
        rest &= ~(u64{1} << thread);
        if (subject.status(thread) != Status::ready) continue;
        Letter letter{thread, {}, {}};
        bool more = true;
        do {
            // Most steps choose nothing: to see whether they are enabled, take them.
            if (letter.choices.empty() &&
                std::ranges::none_of(node().sleep, [&](const Letter& one) { return one.thread == thread; })) {
                if (execution_.extend(thread, {})) {
                    enter(none);
                    return true;
                }
                more = advance(letter.choices, execution_.effect().ranges);
                continue;
            }
            subject.announce(thread, letter.choices, effect_);
            letter.choices.resize(effect_.ranges.size(), 0);
            const bool enabled = effect_.enabled && execution_.admits(thread, effect_, letter.choices);
            if (enabled && !sleeps(letter)) {
                execution_.take(thread, letter.choices);
                enter(none);
                return true;
            }
            asleep |= enabled;
            more = advance(letter.choices, effect_.ranges);
        } while (more && !this->is_stopping());
    }
    if (this->is_stopping()) return false;
    if (asleep) {
        this->note_redundant();
        node().expanded = true;
    } else {
        this->note_end();
    }
    return false;
}

// The last event of the execution leads from the present node to a new one.
template <Subject S>
void Optimal<S>::enter(TreeIndex subtree) {
    if (nodes_.size() == depth_ + 1) nodes_.emplace_back();
    Node& parent = nodes_[depth_];
    Node& child = nodes_[++depth_];
    const Position last = execution_.size() - 1;
    const Slot thread = execution_[last].thread;
    parent.expanded = true;
    parent.races = static_cast<u32>(races_.size());
    for (const Position first : execution_.adjacent()) races_.push_back({first, nowhere});
    parent.chooses = std::ranges::any_of(execution_.effect().ranges, [](u32 range) { return range > 1; });
    parent.settled = nowhere;
    child.sleep.clear();
    for (const Letter& letter : parent.sleep)
        if (letter.thread != thread && !dependent(letter.accesses, execution_.accesses(last), options_.commute))
            child.sleep.push_back(letter);
    child.wakeup = subtree;
    child.expanded = false;
    child.explored = 0;
}

// Leave a state for the one before it. False: there is none.
template <Subject S>
bool Optimal<S>::ascend() {
    if (depth_ == 0) return false;
    --depth_;
    node().sleep.push_back(letter_of(depth_));
    ++node().explored;
    execution_.shorten(depth_);
    races_.resize(node().races);
    kept_ = std::min(kept_, depth_);
    return true;
}

template <Subject S>
double Optimal<S>::fraction() const {
    double done = 0, part = 1;
    for (Position i = 0; i <= depth_; ++i) {
        double all = 1.0 + nodes_[i].explored;
        for (TreeIndex tree = nodes_[i].wakeup; tree != none; tree = trees_[tree].next_sibling) ++all;
        done += part * nodes_[i].explored / all;
        part /= all;
    }
    return done;
}

template <Subject S>
typename Optimal<S>::Letter Optimal<S>::letter_of(Position event) const {
    const auto choices = execution_.choices(event);
    return {execution_[event].thread, {choices.begin(), choices.end()}, execution_.accesses(event)};
}

// ------------------------------------------------------------------------------------ races

// Reverse the races of a maximal execution. What is settled since an earlier one is left alone: going through all races
// of all executions is most of the work otherwise.
template <Subject S>
void Optimal<S>::find_races() {
    const Position size = execution_.size();
    for (Position i = 0; i < size; ++i) {
        Node& at = nodes_[i];
        const auto& event = execution_[i];
        const u32 end = i + 1 < size ? nodes_[i + 1].races : static_cast<u32>(races_.size());
        const auto unsettled = [&](Position settled) { return settled > kept_; };
        const std::span<Race> races = std::span(races_).subspan(at.races, end - at.races);
        const bool any = event.section ? unsettled(at.settled) : std::ranges::any_of(races, unsettled, &Race::settled);
        if (!any && !at.chooses) continue;
        Late late{letter_of(i), i, event.predecessor, event.twin};
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
            const Effect& next = look(i, {}, event.thread, choices);
            const std::vector<u32> ranges = next.ranges;
            other.letter.choices = choices;
            other.letter.choices.resize(ranges.size(), 0);
            if (other.letter.choices != late.letter.choices &&
                execution_.admits_instead(i, next, other.letter.choices)) {
                other.letter.accesses.assign(next.accesses);
                reverse_all(other, i);
            }
            choices = other.letter.choices;
            more = advance(choices, ranges);
        } while (more && !this->is_stopping());
    }
    // What is disabled at the end; by the end of the process, if that is how it ended.
    const S& subject = execution_.subject();
    const Position end = subject.exited() ? size - 1 : size;
    for (u64 rest = subject.threads(); rest != 0; rest &= rest - 1) {
        const Slot thread = static_cast<Slot>(std::countr_zero(rest));
        if (subject.status(thread) != Status::ready) continue;
        std::vector<u32> choices;
        bool more = true;
        do {
            const Effect& next = look(end, {}, thread, choices);
            const std::vector<u32> ranges = next.ranges;
            choices.resize(ranges.size(), 0);
            if (execution_.admits(thread, next, choices)) {
                const Position twin = execution_.twin_of_next(thread).event;
                Late late{
                    {thread, choices, std::span<const Access>(next.accesses)}, size, execution_.before(thread), twin};
                reverse_all(late, subject.exited() ? end : nowhere);
            }
            more = advance(choices, ranges);
        } while (more && !this->is_stopping());
    }
    kept_ = size;
}

template <Subject S>
void Optimal<S>::not_after(Position first, Events& events) const {
    events.clear();
    for (Position i = first + 1; i < execution_.size(); ++i)
        if (!execution_.happens_before(first, i)) events.push_back(i);
}

// An event that can be disabled in some orders: reverse its order with everything that it conflicts with, as far as
// that enables it. `sibling` is the event that took its place, if any.
template <Subject S>
void Optimal<S>::reverse_all(Late& late, Position sibling) {
    std::vector<u32> hidden(execution_.clock_size(), 0);
    // What is behind it is reversed when this order has been explored.
    const auto hide = [&](Position first) {
        const auto clock = execution_.clock(first);
        for (u32 i = 0; i < hidden.size(); ++i) hidden[i] = std::max(hidden[i], clock[i]);
    };
    for (const Position before : {late.predecessor, late.twin})
        if (before != nowhere) hide(before);
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
            std::erase_if(events, [&](Position event) {
                return event == late.end || execution_.happens_before(late.end, event);
            });
        if (const Effect* next = sibling == nowhere ? foresee(first, late) : nullptr) {
            // Only if it conflicts with `first` there, too: otherwise, their order is not reversed.
            if (next->enabled && !dependent(next->accesses, execution_.accesses(first), options_.commute)) {
                late.settled = nowhere;
                continue;
            }
            if (next->enabled) {
                late.settled = std::max(late.settled, plan(first, events, late, next));
                hide(first);
                continue;
            }
            if (std::ranges::none_of(events, [&](Position event) { return may_enable(event, late, next->accesses); }))
                continue;
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

template <Subject S>
bool Optimal<S>::Late::covers(std::span<const Access> met) const {
    return std::ranges::all_of(met, [&](const Access& access) {
        return std::ranges::any_of(std::span<const Access>(letter.accesses), [&](const Access& known) {
            // An update that commutes stands for others of its kind only: a read conflicts with more.
            const bool same =
                known.commuting == access.commuting && known.address == access.address && known.size == access.size;
            const bool within =
                known.address <= access.address && access.address + access.size <= known.address + known.size;
            return same || (known.commuting == Commuting::no && within);
        });
    });
}

// What the late event would do without `first` and what happens after it, as far as that can be told from the values
// that it would find: without executing anything else.
template <Subject S>
const Effect* Optimal<S>::foresee(Position first, const Late& late) {
    if constexpr (Pokable<S>) {
        if (late.end < execution_.size() && !execution_.happens_before(first, late.end)) return nullptr;
        S& subject = subject_after(late.end, {});
        const typename S::Mark mark = subject.mark();
        bool known = true;
        for (const Access& access : std::span<const Access>(late.letter.accesses)) {
            const std::optional<u64> value = execution_.value_without(access, first, late.end);
            known = value.has_value();
            if (!known) break;
            if (subject.defined_value(access.address, static_cast<u32>(access.size)) != value)
                subject.poke(access.address, static_cast<u32>(access.size), *value);
        }
        if (known) subject.announce(late.letter.thread, late.letter.choices, effect_);
        subject.rewind(mark);
        return known && late.covers(effect_.accesses) ? &effect_ : nullptr;
    }
    return nullptr;
}

// Whether leaving out this event may enable a late one that touched `guard` where it was disabled.
template <Subject S>
bool Optimal<S>::may_enable(Position event, const Late& late, std::span<const Access> guard) const {
    for (const Position before : {late.predecessor, late.twin})
        if (before != nowhere && (event == before || execution_.happens_before(event, before))) return false;
    return std::ranges::any_of(execution_.accesses(event), [&](const Access& access) {
        return access.writes && std::ranges::any_of(guard, [&](const Access& read) { return overlap(access, read); });
    });
}

// The maximal parts of `events`, each with all that its events happen after, which enable the late event after those
// before `first`. Only those count where it conflicts with `first`, unless it is an `alternative` to that: otherwise,
// its order with `first` is not reversed. `met` collects what it touched where it was disabled.
template <Subject S>
void Optimal<S>::enabling(Position first, const Late& late, Events events, std::vector<Events>& found, Accesses& met,
                          bool alternative) {
    if (std::ranges::any_of(found, [&](const auto& larger) { return std::ranges::includes(larger, events); })) return;
    const Effect& next = look(first, events, late.letter.thread, late.letter.choices);
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

// Plan to explore, after the events before `first`, some of those behind it and then the late one, unless that is
// redundant. `next` is what it does there, if that is known already. Says how many events settle that it is redundant.
template <Subject S>
Position Optimal<S>::plan(Position first, const Events& events, const Late& late, const Effect* next) {
    Letter last = late.letter;
    bool known = late.end < execution_.size() && !execution_[late.end].section;
    if (known && execution_[late.end].varies) {
        // A compare-exchange: it writes if it finds what it expects. If `first` wrote there, it finds what that
        // overwrote.
        Access& access = last.accesses[0];
        for (const Access& other : execution_.accesses(first)) {
            if (!other.writes || !overlap(other, access)) continue;
            known = other.address == access.address && other.size == access.size && other.commuting == Commuting::no &&
                    other.known;
            access.writes = (other.before & execution_[late.end].compared) == execution_[late.end].expected;
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
template <Subject S>
const Effect& Optimal<S>::look(Position prefix, const Events& events, Slot thread, std::span<const u32> choices) {
    subject_after(prefix, events).announce(thread, choices, effect_);
    execution_.subject().share_names(scratch_);
    return effect_;
}

// A subject after the first `prefix` events and then some others.
template <Subject S>
S& Optimal<S>::subject_after(Position prefix, const Events& events) {
    if (prefix == execution_.size() && events.empty()) return execution_.subject();
    scratch_.share_names(execution_.subject());
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
        if (!scratch_.take(tried_.back().thread, made, effect_))
            throw std::logic_error("another order of independent steps is not possible");
    }
    return scratch_;
}

// ------------------------------------------------------------------------------------ wakeup trees

// Whether a word, the events and then the last letter (if any), can be reordered to start with this letter, or followed
// by it at any place. `seen` becomes as many events as that depends on, if it was less.
template <Subject S>
bool Optimal<S>::is_weak_initial(const Letter& letter, const Events& events, const Letter* last, Position& seen) const {
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

// Add a word to a wakeup tree, unless it begins like something that is there; whether it was added. Takes out of
// `events` what is there.
template <Subject S>
bool Optimal<S>::insert(TreeIndex& children, Events& events, const Letter* last, Position& seen) {
    TreeIndex parent = none;
    const auto first_of = [&](TreeIndex tree) -> TreeIndex& {
        return tree == none ? children : trees_[tree].first_child;
    };
    for (;;) {
        // descend into the leftmost branch that the word can take
        TreeIndex taken = first_of(parent);
        while (taken != none && !is_weak_initial(trees_[taken].letter, events, last, seen))
            taken = trees_[taken].next_sibling;
        if (taken == none) break;
        const Slot thread = trees_[taken].letter.thread;
        const auto same_thread =
            std::ranges::find_if(events, [&](Position event) { return execution_[event].thread == thread; });
        if (same_thread != events.end())
            events.erase(same_thread);
        else if (last != nullptr && last->thread == thread)
            last = nullptr;
        else
            return false;
        if ((events.empty() && last == nullptr) || trees_[taken].first_child == none) return false;
        parent = taken;
    }
    TreeIndex previous = first_of(parent);
    while (previous != none && trees_[previous].next_sibling != none) previous = trees_[previous].next_sibling;
    const auto append = [&](Letter letter) {
        const TreeIndex added = make_tree(std::move(letter));
        if (previous != none)
            trees_[previous].next_sibling = added;
        else
            first_of(parent) = added;
        parent = added;
        previous = none;
    };
    for (const Position event : events) append(letter_of(event));
    if (last != nullptr) append(*last);
    return true;
}

template <Subject S>
typename Optimal<S>::TreeIndex Optimal<S>::make_tree(Letter letter) {
    if (unused_ == none) {
        trees_.push_back({std::move(letter)});
        return static_cast<TreeIndex>(trees_.size() - 1);
    }
    const TreeIndex tree = unused_;
    unused_ = trees_[tree].next_sibling;
    trees_[tree] = {std::move(letter)};
    return tree;
}

template <Subject S>
void Optimal<S>::drop_tree(TreeIndex tree) {
    trees_[tree].next_sibling = unused_;
    unused_ = tree;
}

}  // namespace mazurka
