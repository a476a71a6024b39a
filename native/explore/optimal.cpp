#include "explore/optimal.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include "explore/choices.hpp"

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
        } else if (!nodes_.back().expanded) {
            // Nothing could be done here: the execution is maximal.
            find_races();
        }
        if (!ascend()) return true;
    }
}

// Take the next step that is planned, or any step if nothing is. False: nothing is left to do here.
bool Optimal::descend() {
    Node& node = nodes_.back();
    std::vector<std::unique_ptr<Tree>> subtree;
    Step step;
    if (!node.wakeup.empty()) {
        step = std::move(node.wakeup.front()->letter.step);
        subtree = std::move(node.wakeup.front()->children);
        node.wakeup.erase(node.wakeup.begin());
    } else if (node.expanded) {
        return false;
    } else {
        std::vector<Step> steps = enabled_steps(execution_.machine());
        if (steps.empty()) {
            note_end();
            return false;
        }
        std::erase_if(steps, [&](const Step& one) {
            return std::ranges::any_of(node.sleep, [&](const Letter& letter) { return letter.step == one; });
        });
        if (steps.empty()) {
            note_redundant();
            node.expanded = true;
            return false;
        }
        step = std::move(options_.seed == 0 ? steps.front() : steps[random_() % steps.size()]);
    }
    node.expanded = true;
    execution_.take(step.thread, step.choices);
    const Position last = execution_.size() - 1;
    const auto accesses = execution_.accesses(last);
    const auto choices = execution_.choices(last);
    node.current = {{step.thread, {choices.begin(), choices.end()}}, {accesses.begin(), accesses.end()}};
    node.adjacent = execution_.adjacent();
    node.chooses = std::ranges::any_of(execution_.machine().ranges(), [](u32 range) { return range > 1; });
    Node child;
    for (const Letter& letter : node.sleep)
        if (letter.step.thread != step.thread && !dependent(letter.accesses, accesses, options_.commute)) child.sleep.push_back(letter);
    child.wakeup = std::move(subtree);
    nodes_.push_back(std::move(child));
    return true;
}

// Leave a state for the one before it. False: there is none.
bool Optimal::ascend() {
    nodes_.pop_back();
    if (nodes_.empty()) return false;
    execution_.shorten(static_cast<Position>(nodes_.size() - 1));
    nodes_.back().sleep.push_back(std::move(nodes_.back().current));
    ++nodes_.back().explored;
    return true;
}

double Optimal::fraction() const {
    double done = 0, part = 1;
    for (const Node& node : nodes_) {
        const double all = 1.0 + node.explored + static_cast<double>(node.wakeup.size());
        done += part * node.explored / all;
        part /= all;
    }
    return done;
}

// ------------------------------------------------------------------------------------ races

void Optimal::find_races() {
    const Position size = execution_.size();
    for (Position i = 0; i < size; ++i) {
        const Execution::Event& event = execution_[i];
        const auto accesses = execution_.accesses(i);
        const Position predecessor = event.previous != nowhere ? event.previous : execution_.spawned_by(event.thread);
        const Late late{nodes_[i].current.step, {accesses.begin(), accesses.end()}, i, predecessor};
        if (event.section) reverse_all(late, nowhere);
        else
            for (const Position first : nodes_[i].adjacent) plan(first, not_after(first), late);
        if (!nodes_[i].chooses) continue;
        // The other values of its choices: disabled by the ones that were taken.
        std::vector<u32> choices;
        Late other = late;
        bool more = true;
        do {
            const Next& next = look(i, {}, {event.thread, choices});
            const std::vector<u32> ranges = next.ranges;
            other.step.choices = choices;
            other.step.choices.resize(ranges.size(), 0);
            if (other.step.choices != late.step.choices) {
                other.accesses = next.accesses;
                reverse_all(other, i);
            }
            choices = other.step.choices;
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
            const Next& next = look(end, {}, {thread, choices});
            const std::vector<u32> ranges = next.ranges;
            choices.resize(ranges.size(), 0);
            const Late late{{thread, choices}, next.accesses, size, execution_.before(thread)};
            reverse_all(late, machine.exited() ? end : nowhere);
            more = advance(choices, ranges);
        } while (more);
    }
}

std::vector<Position> Optimal::not_after(Position first) const {
    std::vector<Position> events;
    for (Position i = first + 1; i < execution_.size(); ++i)
        if (!execution_.happens_before(first, i)) events.push_back(i);
    return events;
}

// An event that can be disabled in some orders: reverse its order with everything that it conflicts with, as far as that enables
// it. `sibling` is the event that took its place, if any.
void Optimal::reverse_all(const Late& late, Position sibling) {
    std::vector<u32> hidden(execution_.clock_size(), 0);
    if (late.predecessor != nowhere) std::ranges::copy(execution_.clock(late.predecessor), hidden.begin());
    std::set<Position, std::greater<>> firsts;
    const auto consider = [&](const Accesses& accesses) {
        std::vector<Position> conflicting;
        execution_.conflicting(accesses, true, conflicting);
        for (const Position first : conflicting)
            if (first < late.end) firsts.insert(first);
    };
    consider(late.accesses);
    if (sibling != nowhere) firsts.insert(sibling);
    while (!firsts.empty()) {
        const Position first = *firsts.begin();
        firsts.erase(firsts.begin());
        if (first != sibling && hidden[execution_[first].thread] >= execution_[first].index) continue;
        const std::vector<Position> events = not_after(first);
        std::vector<std::vector<Position>> found;
        Accesses met;
        enabling(first, late, events, found, met);
        // What disabled it may be something that it did not meet in the order that was explored.
        consider(met);
        while (!firsts.empty() && *firsts.begin() >= first) firsts.erase(firsts.begin());
        for (const std::vector<Position>& chosen : found) plan(first, chosen, late);
        // What is behind it is reversed when this order has been explored.
        if (first != sibling && found.size() == 1 && found[0].size() == events.size()) {
            const auto clock = execution_.clock(first);
            for (u32 i = 0; i < hidden.size(); ++i) hidden[i] = std::max(hidden[i], clock[i]);
        }
    }
}

// The maximal parts of `events`, each with all that its events happen after, which enable the late event after those before `first`.
// `met` collects what it touched where it was disabled.
void Optimal::enabling(Position first, const Late& late, std::vector<Position> events, std::vector<std::vector<Position>>& found, Accesses& met) {
    if (std::ranges::any_of(found, [&](const auto& larger) { return std::ranges::includes(larger, events); })) return;
    const Next& next = look(first, events, late.step);
    if (next.enabled) {
        std::erase_if(found, [&](const auto& smaller) { return std::ranges::includes(events, smaller); });
        found.push_back(std::move(events));
        return;
    }
    const Accesses guard = next.accesses;
    met.insert(met.end(), guard.begin(), guard.end());
    for (const Position without : events) {
        if (late.predecessor != nowhere && (without == late.predecessor || execution_.happens_before(without, late.predecessor))) continue;
        const auto writes = [&](const Access& access) {
            return access.writes && std::ranges::any_of(guard, [&](const Access& read) { return overlap(access, read); });
        };
        if (std::ranges::none_of(execution_.accesses(without), writes)) continue;
        std::vector<Position> fewer;
        for (const Position event : events)
            if (event != without && !execution_.happens_before(without, event)) fewer.push_back(event);
        enabling(first, late, std::move(fewer), found, met);
    }
}

// Plan to explore, after the events before `first`, some of those behind it and then the late one, unless that is redundant.
void Optimal::plan(Position first, const std::vector<Position>& events, const Late& late) {
    Word word;
    for (const Position event : events) {
        if (event == late.end && late.end < execution_.size() && execution_[event].thread == late.step.thread) continue;
        const auto accesses = execution_.accesses(event);
        word.push_back({nodes_[event].current.step, {accesses.begin(), accesses.end()}});
    }
    Letter last{late.step, late.accesses};
    bool known = late.end < execution_.size() && !execution_[late.end].section;
    if (known && execution_[late.end].varies) {
        // A compare-exchange: it writes if it finds what it expects. If `first` wrote there, it finds what that overwrote.
        Access& access = last.accesses[0];
        for (const Access& other : execution_.accesses(first)) {
            if (!other.writes || !overlap(other, access)) continue;
            known = other.address == access.address && other.size == access.size && other.commuting == Commuting::no;
            access.writes = other.before == execution_[late.end].expected;
            break;
        }
    }
    if (!known) {
        // What it touches may depend on what comes before it.
        const Next* next = &look(first, events, last.step);
        if (!next->enabled) {
            last.step.choices.clear();
            next = &look(first, events, last.step);
            if (!next->enabled) return;
        }
        last.step.choices.resize(next->ranges.size(), 0);
        last.accesses = next->accesses;
    }
    word.push_back(std::move(last));
    Node& node = nodes_[first];
    if (std::ranges::any_of(node.sleep, [&](const Letter& letter) { return is_weak_initial(letter, word); })) return;
    insert(node.wakeup, std::move(word));
}

// What a step would do after the first `prefix` events and then some others.
const Next& Optimal::look(Position prefix, const std::vector<Position>& events, const Step& step) {
    execution_.machine().share_names(scratch_.machine());
    scratch_.machine().share_names(execution_.machine());
    const auto wanted = [&](Position i) { return i < prefix ? i : events[i - prefix]; };
    const Position size = prefix + static_cast<Position>(events.size());
    Position same = 0;
    while (same < scratch_.size() && same < size && scratch_[same].thread == execution_[wanted(same)].thread &&
           std::ranges::equal(scratch_.choices(same), execution_.choices(wanted(same))))
        ++same;
    scratch_.shorten(same);
    for (Position i = same; i < size; ++i) scratch_.take(execution_[wanted(i)].thread, execution_.choices(wanted(i)));
    scratch_.machine().next(step.thread, step.choices, next_);
    execution_.machine().share_names(scratch_.machine());
    return next_;
}

// ------------------------------------------------------------------------------------ wakeup trees

// Whether a word can be reordered to start with this letter, or followed by it at any place.
bool Optimal::is_weak_initial(const Letter& letter, std::span<const Letter> word) const {
    for (const Letter& other : word) {
        if (other.step.thread == letter.step.thread) return other.step == letter.step;
        if (dependent(letter.accesses, other.accesses, options_.commute)) return false;
    }
    return true;
}

void Optimal::insert(std::vector<std::unique_ptr<Tree>>& children, Word word) const {
    auto* level = &children;
    for (;;) {
        // descend into the leftmost branch that the word can take
        Tree* taken = nullptr;
        for (const auto& child : *level) {
            if (!is_weak_initial(child->letter, word)) continue;
            const auto same_thread = std::ranges::find_if(word, [&](const Letter& letter) { return letter.step.thread == child->letter.step.thread; });
            if (same_thread == word.end()) return;
            word.erase(same_thread);
            if (word.empty() || child->children.empty()) return;
            taken = child.get();
            break;
        }
        if (taken == nullptr) break;
        level = &taken->children;
    }
    for (Letter& letter : word) {
        level->push_back(std::make_unique<Tree>(Tree{std::move(letter), {}}));
        level = &level->back()->children;
    }
}

}  // namespace mazurka
