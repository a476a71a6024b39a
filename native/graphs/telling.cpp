// What an exploration of graphs finds, and how it is told: as schedules, in which each step says what it reads.
#include <algorithm>
#include <bit>
#include <utility>

#include "explore/symmetry.hpp"
#include "graphs/explorer.hpp"

namespace mazurka {

// After a step, of which this is the last node. False: do not go on from here.
bool GraphExploration::note_step(Node last) {
    Counts& counts = results_.counts;
    ++counts.steps;
    if (options_.races != Races::ignore)
        for (const Node node : graph_.step_of(last)) note_races(node);
    note_lives(last);
    if (machine_.limited() && !machine_.failed()) note_limit(machine_.failure().fault, machine_.failure().thread);
    if (machine_.failed()) note_failures(last);
    bool goes_on = options_.keep_going || !results_.bug;
    const auto is_step = [](const GraphEvent& event) { return event.completes && event.kind != EventKind::fence; };
    if (goes_on && graph_.size() > options_.max_steps &&
        std::ranges::count_if(graph_.events(), is_step) > static_cast<i64>(options_.max_steps)) {
        note_limit(Fault::too_many_steps, graph_[last].thread);
        ++counts.beyond;
        goes_on = false;
    }
    if (!goes_on) {
        ++counts.complete;
        counts.tell_apart(weight(), false);
    }
    progress_.show(counts, graph_.size());
    return goes_on;
}

// All threads that have failed, perhaps in the step of which `last` is the last node: whoever creates one has it go on
// to its first event, which it may not get to.
void GraphExploration::note_failures(Node last) {
    for (u64 rest = machine_.threads(); rest != 0; rest &= rest - 1) {
        const auto thread = static_cast<Slot>(std::countr_zero(rest));
        if (machine_.status(thread) != Status::failed || is_limit(machine_.failure(thread).fault)) continue;
        BugKey key = key_of(machine_.failure(thread));
        const bool known = std::ranges::find(results_.bugs, key, &Sighting::key) != results_.bugs.end();
        const Node before = graph_.before_next(thread);
        const bool is_new = team_ != nullptr && before != nobody && before >= last;
        if ((known && !is_new) || results_.bugs.size() >= most_bugs) continue;
        // What it depends on; and the ends of objects, which may be why it fails. What is lost depends on who has
        // ended.
        std::vector<Node> goals;
        const bool all = machine_.failure(thread).fault == Fault::leaked;
        if (before != nobody) goals.push_back(before);
        for (Node node = 0; node < graph_.size(); ++node)
            if (!graph_[node].ended.empty()) goals.push_back(node);
        std::vector<bool> only(graph_.size());
        for (Node node = 0; node < graph_.size(); ++node)
            only[node] =
                all || std::ranges::any_of(goals, [&](Node goal) { return graph_.is_before(node, goal, Graph::past); });
        report(Ending::failure, thread, machine_.failure(thread).fault, schedule(only));
        sighting(std::move(key), thread, schedule(only));
    }
}

void GraphExploration::report(Ending kind, Slot thread, Fault fault, std::vector<Step> steps) {
    if (!results_.bug) results_.bug = Bug{kind, thread, std::move(steps), fault};
}

Sighting* GraphExploration::sighting(BugKey key, Slot thread, std::vector<Step> steps) {
    Bug bug{key.kind, thread, std::move(steps), key.fault};
    for (Sighting& known : results_.bugs) {
        if (known.key != key) continue;
        if (team_ != nullptr && precedes(bug, known.bug)) known.bug = std::move(bug);
        return &known;
    }
    if (results_.bugs.size() >= (team_ == nullptr ? most_bugs : 16 * most_bugs)) return nullptr;
    results_.bugs.push_back({std::move(key), std::move(bug)});
    return &results_.bugs.back();
}

void GraphExploration::note_limit(Fault fault, Slot thread) {
    if (results_.limit) return;
    results_.limit = Limit{fault, thread, schedule(std::vector<bool>(graph_.size(), true))};
    const bool is_over = options_.until_endless && fault == Fault::too_many_steps;
    if (team_ != nullptr) team_->limit_steps(is_over);
    if (is_over || team_ == nullptr) most_steps_ = is_over ? 0 : 10 * results_.counts.steps + effort_beyond;
}

// The steps of some events, all that they depend on among them.
std::vector<Step> GraphExploration::schedule(const std::vector<bool>& only, bool whole) {
    std::vector<Node> ends;
    for (Node node = 0; node < graph_.size(); ++node)
        if (only[node] && graph_[node].completes && graph_[node].kind != EventKind::fence) ends.push_back(node);
    put_in_order(true);
    std::vector<Node> ordered;
    for (const bool overwritten : {true, false})
        if (ordered.empty()) ordered = in_order(ends, overwritten);
    std::vector<Step> steps = schedule(ordered.empty() ? ends : ordered, whole);
    put_in_order(false);
    return steps;
}

// Steps of which these are the last nodes, in an order in which each reads the latest write, and the latest writes are
// the newest; without `overwritten` only the latter. Nothing if there is none.
std::vector<Node> GraphExploration::in_order(const std::vector<Node>& ends, bool overwritten) const {
    const auto count = static_cast<u32>(ends.size());
    std::vector<u32> number(graph_.size(), count);  // of the step of a node
    for (u32 i = 0; i < count; ++i)
        for (const Node node : graph_.step_of(ends[i])) number[node] = i;
    for (Node node = 0; node < graph_.size(); ++node)
        if (graph_[node].kind == EventKind::fence && graph_[node].index > 1)
            number[node] = number[graph_.of_thread(graph_[node].thread)[graph_[node].index - 2]];
    std::vector<std::vector<u32>> after(count);
    std::vector<u32> before(count, 0);
    const auto edge = [&](u32 first, u32 second) {
        if (first == second || first == count || second == count) return;
        after[first].push_back(second);
        ++before[second];
    };
    const auto each_next = [&](u32 cell, u32 place, u32 from) {
        const std::vector<Node>& writes = graph_.cells()[cell].writes;
        for (; place < writes.size(); ++place)
            if (number[writes[place]] != count && number[writes[place]] != from)
                return edge(from, number[writes[place]]);
    };
    for (Node node = 0; node < graph_.size(); ++node) {
        const u32 mine = number[node];
        if (mine == count) continue;
        const GraphEvent& event = graph_[node];
        if (event.index > 1) edge(number[graph_.of_thread(event.thread)[event.index - 2]], mine);
        for (const LocalAct& act : event.acts)
            for (const Node theirs : graph_.of_thread(act.created))
                if (theirs > node) edge(mine, number[theirs]);
        for (const Part& part : graph_.parts(node)) {
            if (part.reads && part.source != initially) edge(number[part.source], mine);
            if (part.writes) each_next(part.cell, graph_.place_of(node, part.cell), mine);
            if (part.reads && overwritten && !part.blind)
                each_next(part.cell, graph_.place_of(part.source, part.cell), mine);
        }
        // Whoever uses an object does so before its end.
        for (const u64 object : event.ended)
            for (Node user = 0; user < node; ++user)
                if (std::ranges::any_of(graph_.parts(user), [&](const Part& part) {
                        return object_of(graph_.cells()[part.cell].address) == object;
                    }))
                    edge(number[user], mine);
    }
    // The process ends last.
    if (machine_.exited())
        for (u32 i = 0; i + 1 < count; ++i) edge(i, count - 1);
    std::vector<Node> ordered;
    std::set<u32> next;
    for (u32 i = 0; i < count; ++i)
        if (before[i] == 0) next.insert(i);
    while (!next.empty()) {
        const u32 step = *next.begin();
        next.erase(next.begin());
        ordered.push_back(ends[step]);
        for (const u32 other : after[step])
            if (--before[other] == 0) next.insert(other);
    }
    if (ordered.size() != count) ordered.clear();
    return ordered;
}

// Steps, in this order, of which these are the last nodes. `whole`: and what is in memory at the end.
std::vector<Step> GraphExploration::schedule(const std::vector<Node>& ends, bool whole) const {
    std::vector<Step> steps;
    std::vector<i64> position(graph_.size(), -1);
    std::vector<Node> last(graph_.cells().size(), initially);  // who wrote a cell, in the order of the schedule
    for (const Node end : ends) {
        Step step{graph_[end].thread, {}};
        for (const Node node : graph_.step_of(end)) {
            if (graph_[node].kind == EventKind::choice) step.choices.push_back(graph_[node].choice);
            for (const Part& part : graph_.parts(node)) {
                if (part.reads && !part.blind && part.source != last[part.cell]) {
                    const Cell& cell = graph_.cells()[part.cell];
                    const Machine::Content content = content_of(part.cell, part.source);
                    const i64 source = part.source == initially ? -1 : position[part.source];
                    step.reads.push_back({cell.address, cell.size, content.value, content.undefined, source});
                }
                if (part.writes) last[part.cell] = node;
            }
            position[node] = static_cast<i64>(steps.size());
        }
        steps.push_back(std::move(step));
    }
    if (ends.size() < 2 || !whole) return steps;
    // What is in memory at the end, where the last step that writes a place does not write what is newest.
    Step end{0, {}};
    for (u32 cell = 0; cell < graph_.cells().size(); ++cell) {
        const Cell& place = graph_.cells()[cell];
        if (place.writes.empty() || place.writes.back() == last[cell]) continue;
        const Machine::Content content = content_of(cell, place.writes.back());
        end.reads.push_back(
            {place.address, place.size, content.value, content.undefined, position[place.writes.back()]});
    }
    std::ranges::sort(end.reads, {}, &Reading::address);
    if (!end.reads.empty()) steps.push_back(std::move(end));
    return steps;
}

// The last nodes of the steps that two events depend on, and then of their own: the step of the second comes last.
// `at`: the position of the first.
std::vector<Node> GraphExploration::steps_up_to(Node first, Node second, std::size_t& at) const {
    const Node earlier = graph_.step_of(first).back(), later = graph_.step_of(second).back();
    std::vector<Node> ends;
    for (Node node = 0; node < graph_.size(); ++node) {
        if (!graph_[node].completes || graph_[node].kind == EventKind::fence || node == later) continue;
        if (node == earlier) at = ends.size();
        if (node == earlier || graph_.is_before(node, first, Graph::past) ||
            graph_.is_before(node, second, Graph::past))
            ends.push_back(node);
    }
    ends.push_back(later);
    return ends;
}

// Conflicting accesses, one of them not atomic, that nothing orders. A read that a loop makes again and again may have
// been made, in vain, as soon as its thread had got there.
void GraphExploration::note_races(Node node) {
    const GraphEvent& event = graph_[node];
    const Node before =
        event.index > 1 ? graph_.of_thread(event.thread)[event.index - 2] : graph_.created_by(event.thread);
    for (const Part& part : graph_.parts(node)) {
        const Cell& cell = graph_.cells()[part.cell];
        if (part.blind && part.reads) continue;
        if ((cell.threads & ~(u64{1} << event.thread)) == 0 || (part.ordering != Ordering::plain && !cell.plain))
            continue;
        const auto look = [&](Node other) {
            if (!graph_[graph_.step_of(other).back()].completes || graph_[other].thread == event.thread) return;
            const Node since = event.guarded ? before : node;
            if (since != nobody && graph_.is_before(other, since, Graph::known)) return;
            const Part& theirs = *graph_.part(other, part.cell);
            if (part.ordering != Ordering::plain && theirs.ordering != Ordering::plain) return;
            note_race(other, node, part.cell);
        };
        for (const Node write : cell.writes) look(write);
        if (part.writes)
            for (const Node reader : cell.readers)
                if (!graph_.part(reader, part.cell)->blind) look(reader);
    }
}

// The same for a thread that waits, in the present attempt, and has read in vain.
void GraphExploration::note_races_in_vain(Slot thread) {
    if (section_ || decisions_.size() != 1 || decisions_[0].chooses) return;
    const Node last = graph_.before_next(thread);
    const Part part = decisions_[0].part;
    const std::vector<Node> writes = graph_.cells()[part.cell].writes;
    for (const Node write : writes) {
        const Part& theirs = *graph_.part(write, part.cell);
        const bool known = last != nobody && graph_.is_before(write, last, Graph::known);
        if (known || graph_[write].thread == thread) continue;
        if (part.ordering != Ordering::plain && theirs.ordering != Ordering::plain) continue;
        GraphEvent made = event(thread, EventKind::read);
        made.completes = true;
        const Node node = push(std::move(made), {&part, 1}, {});
        note_race(write, node, part.cell);
        graph_.pop();
        synced_ = graph_.size();
    }
}

void GraphExploration::note_race(Node first, Node second, u32 cell) {
    const std::pair<u64, u64> sites = std::minmax(graph_[first].site, graph_[second].site);
    const RaceKey key{sites, options_.passes_over ? graph_.cells()[cell].address : 0};
    const auto known = std::ranges::find(results_.races, sites, &DataRace::sites);
    const bool is_known = known != results_.races.end();
    if ((is_known && team_ == nullptr) || passed_over_.contains(key)) return;
    std::size_t at = 0;
    const std::vector<Node> ends = steps_up_to(first, second, at);
    if (is_known && ends.size() > known->schedule.size()) return;
    DataRace race{sites, static_cast<Position>(at), schedule(ends)};
    if (is_known && !precedes(race, *known)) return;
    if (options_.passes_over && !wanted_.contains(key)) {
        const bool passes_over = options_.passes_over(race);
        (passes_over ? passed_over_ : wanted_).insert(key);
        if (passes_over) return;
    }
    if (options_.races == Races::error && !results_.bug)
        results_.bug = Bug{Ending::race, race.schedule.back().thread, race.schedule};
    if (is_known)
        *known = std::move(race);
    else
        results_.races.push_back(std::move(race));
}

// What tells a failure apart from others; and a use of an object that nothing orders before its end.
BugKey GraphExploration::key_of(const Failure& failure) {
    BugKey key{Ending::failure, failure.fault, {}};
    for (const u32 frame : failure.frames) key.places.emplace_back(0, frame);
    return key;
}

BugKey GraphExploration::key_of(Node user, Node end, Fault fault) const {
    return {Ending::failure, fault, {{0, graph_[user].site}, {0, graph_[end].site}}};
}

// Calls `visit` with those who use an object whose life an event ends, before that in the graph, and are not known to
// have done so before; and with the cell.
template <class Visit>
void GraphExploration::each_late_use(Node end, Visit visit) const {
    for (const u64 object : graph_[end].ended)
        for (u32 cell = 0; cell < graph_.cells().size(); ++cell) {
            const Cell& place = graph_.cells()[cell];
            if (object_of(place.address) != object) continue;
            const auto look = [&](Node user) {
                if (user > end || graph_[user].thread == graph_[end].thread) return;
                if (!graph_[graph_.step_of(user).back()].completes) return;
                if (!graph_.is_before(user, end, Graph::known)) visit(user, cell);
            };
            for (const Node write : place.writes) look(write);
            for (const Node reader : place.readers) look(reader);
        }
}

// Whoever uses an object whose life ends, and is not known to have done so before, may do so after; or else nothing but
// weak accesses say that it was before, which is a data race.
void GraphExploration::note_lives(Node node) {
    each_late_use(node, [&](Node user, u32 cell) {
        const bool on_heap = machine_.object(graph_.cells()[cell].address)->kind == ObjectKind::heap;
        if (on_heap && options_.races != Races::ignore) note_race(user, node, cell);
        if (is_surely_before(user, node)) return;
        std::size_t at = 0;
        const Fault fault = on_heap ? Fault::freed : Fault::returned;
        report(Ending::failure, graph_[user].thread, fault, schedule_of(node, user, at));
        sighting(key_of(user, node, fault), graph_[user].thread, schedule_of(node, user, at));
    });
}

// At the end of an execution: it counts once for each failure that it shows.
void GraphExploration::count_failures() {
    std::set<Sighting*> shown;
    const auto show = [&](const BugKey& key) {
        const auto known = std::ranges::find(results_.bugs, key, &Sighting::key);
        if (known != results_.bugs.end() && shown.insert(&*known).second) ++known->executions;
    };
    for (u64 rest = machine_.threads(); rest != 0; rest &= rest - 1) {
        const auto thread = static_cast<Slot>(std::countr_zero(rest));
        if (machine_.status(thread) == Status::failed && !is_limit(machine_.failure(thread).fault))
            show(key_of(machine_.failure(thread)));
    }
    for (Node node = 0; node < graph_.size(); ++node)
        each_late_use(node, [&](Node user, u32 cell) {
            const bool on_heap = machine_.object(graph_.cells()[cell].address)->kind == ObjectKind::heap;
            if (!is_surely_before(user, node)) show(key_of(user, node, on_heap ? Fault::freed : Fault::returned));
        });
}

void GraphExploration::note_end() {
    Counts& counts = results_.counts;
    std::vector<Stay> stays;
    std::vector<std::pair<Slot, Slot>> joining;
    for (u64 rest = machine_.threads(); rest != 0; rest &= rest - 1) {
        const auto thread = static_cast<Slot>(std::countr_zero(rest));
        if (machine_.status(thread) == Status::stopped) {
            const Guard guard = machine_.stopped_at(thread);
            if (!machine_.exited() || guard == Guard::bound) stays.push_back({thread, guard});
        } else if (is_waiting(thread)) {
            // Who waits has read what is newest, and who was displaced may read it. Otherwise that is another graph.
            attempt_newest(thread, nullptr);
            withdraw();
            if (options_.races != Races::ignore) note_races_in_vain(thread);
            if (is_suspended(thread) || !is_late(thread) || !is_free(thread)) {
                ++counts.redundant;
                return;
            }
            if (machine_.exited()) continue;
            if (const Slot awaited = mazurka::joined_by(effect_.accesses, thread); effect_.waiting && awaited != 0)
                joining.emplace_back(thread, awaited);
            if (effect_.waiting)
                stays.push_back({thread, effect_.waiting->guard, owner_of(object_of(effect_.waiting->holder))});
            else
                stays.push_back({thread, Guard::program});
        }
    }
    const Machine::Mark end = machine_.mark();
    const bool looks = std::ranges::any_of(stays, [](const Stay& stay) { return stay.guard == Guard::loop; });
    if (looks && !know_last()) {
        divided_ = true;
        return;
    }
    const std::vector<Step> steps = [&] {
        const bool wanted = options_.keep_executions || !stays.empty();
        return wanted ? schedule(std::vector<bool>(graph_.size(), true), true) : std::vector<Step>();
    }();
    if (options_.keep_executions) results_.executions.push_back(steps);
    const bool returned = machine_.status(1) == Status::returned;
    const Judgement found = judge(stays, returned, machine_.limited(), options_.allow_livelock, [&](Slot thread) {
        return (options_.keep_going || !results_.bug) && machine_.spins(thread);
    });
    counts.tell_apart(weight(), !machine_.limited() && found.blocked);
    if (!machine_.limited()) {
        ++(found.blocked ? counts.blocked : counts.complete);
        counts.bounded += found.bounded ? 1 : 0;
        counts.assumed += found.assumed ? 1 : 0;
    } else {
        ++counts.complete;
        ++counts.beyond;
        if (machine_.failure().fault == Fault::too_many_instructions && counts.beyond >= most_beyond) most_steps_ = 0;
    }
    count_failures();
    if (!machine_.failed() && found.ending) {
        report(*found.ending, found.thread, {}, steps);
        BugKey key{*found.ending, {}, {}};
        for (const Stay& stay : stays) key.places.emplace_back(stay.thread, machine_.site(stay.thread));
        if (Sighting* const known = sighting(std::move(key), found.thread, steps)) ++known->executions;
    }
    if (options_.keep_going || !results_.bug)
        for (const auto& [thread, awaited] : joining) look_for_names_at_end(thread, awaited, stays);
    const u32 most_left = results_.left ? results_.left->count : 0;
    const bool as_many = team_ != nullptr && found.left != 0 && found.left == most_left;
    if (found.left > most_left || (as_many && precedes(Left{found.left, steps}, *results_.left)))
        results_.left = Left{found.left, steps};
    machine_.rewind(end);
    progress_.show(counts, graph_.size());
}

}  // namespace mazurka
