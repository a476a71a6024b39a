#include "graphs/explorer.hpp"

#include <bit>
#include <utility>

namespace mazurka {

GraphExploration::GraphExploration(const Machine& start, const GraphOptions& options, Progress& progress,
                                   const std::atomic<bool>& stopping)
    : options_(options),
      machine_(start.again()),
      progress_(progress),
      stopping_(stopping),
      first_threads_(machine_.threads()),
      start_(machine_.mark()),
      symmetric_(options.symmetry) {
    if (leaves_open()) graph_.leave_open();
}

bool GraphExploration::run() {
    for (;;) {
        begin_again();
        const bool finished = start() && explore();
        if (!divided_) return finished;
    }
}

bool GraphExploration::run(Team<Task>& team, SharedCells& cells) {
    team_ = &team;
    random_.seed(team.division().split);
    graph_.share_cells(cells);
    begin_again();
    share_ = 0;
    return explore();
}

void GraphExploration::begin_again() {
    // What was found before cells were divided is found again.
    divided_ = false;
    results_ = {};
    progress_.clear();
    todo_.clear();
    share_ = 1;
    done_ = 0;
    level_ = 0;
    graph_.clear();
    graph_.forget_cells();
    machine_.rewind(start_);
    open_ = false;
    synced_ = 0;
    sleepers_ = 0;
    displaces_ = false;
    most_steps_ = ~u64{0};
    disabled_ = {};
}

bool GraphExploration::start() {
    if (machine_.limited() && !machine_.failed()) note_limit(machine_.failure().fault, machine_.failure().thread);
    if (!machine_.failed()) return true;
    note_failures(0);
    if (options_.keep_going) return true;
    ++results_.counts.complete;
    results_.counts.tell_apart(weight(), false);
    progress_.show(results_.counts, 0);
    return false;
}

bool GraphExploration::explore() {
    bool arrived = team_ == nullptr;
    for (;;) {
        if (divided_ || should_stop()) return false;
        if (arrived && extend()) continue;
        if (divided_ || should_stop()) return false;
        do {
            done_ += std::exchange(share_, 0);
            progress_.fraction.store(done_, std::memory_order_relaxed);
            if (team_ != nullptr) {
                if (team_->is_over(options_.max_executions)) return false;
                hand_out();
            }
            if (!todo_.empty()) {
                arrived = backtrack();
            } else {
                if (team_ == nullptr) return true;
                const std::unique_ptr<Task> task = team_->take();
                if (!task) return team_->is_done();
                arrived = begin(std::move(*task));
            }
        } while (!arrived && !divided_ && !should_stop());
    }
}

// Give what has waited longest, which is probably the largest, to whoever has nothing to do.
void GraphExploration::hand_out() {
    const bool at_random = team_->division().split != 0;
    while (!todo_.empty() && (at_random ? random_() % 2 == 0 : team_->is_hungry())) {
        const auto chosen =
            todo_.begin() + static_cast<std::ptrdiff_t>(at_random ? random_() % todo_.size() : std::size_t{0});
        Task task = task_of(*chosen);
        todo_.erase(chosen);
        team_->give(std::move(task));
    }
}

GraphExploration::Task GraphExploration::task_of(const Todo& todo) const {
    Task task;
    task.todo = todo;
    task.stamps = stamps_;
    task.ranks = ranks_;
    task.sleepers = sleepers_;
    task.displaces = displaces_;
    task.share = todo.share;
    task.todo->level = 0;
    if (todo.level == level_)
        graph_.save(task.graph);
    else
        task.graph = levels_[todo.level].graph;
    std::vector<bool> has_events(graph_.cells().size());
    for (const Part& part : task.graph.parts) has_events[part.cell] = true;
    for (u32 cell = 0; cell < has_events.size(); ++cell)
        if (const Cell& place = graph_.cells()[cell]; has_events[cell])
            task.starts.push_back({cell, place.captured, {place.value, place.undefined}});
    return task;
}

// Whether the task leads to something that can go on.
bool GraphExploration::begin(Task task) {
    withdraw();
    share_ = task.share;
    level_ = 0;
    machine_.rewind(start_);
    synced_ = 0;
    disabled_ = {};
    graph_.clear();
    graph_.learn_cells();
    for (Cell& cell : graph_.cells()) cell.captured = 0;
    if (!task.todo) return start();
    for (const Task::Start& start : task.starts) {
        Cell& cell = graph_.cells()[start.cell];
        cell.captured = start.captured;
        cell.value = start.content.value;
        cell.undefined = start.content.undefined;
    }
    stamps_ = std::max(stamps_, task.stamps);
    ranks_ = std::max(ranks_, task.ranks);
    sleepers_ |= task.sleepers;
    displaces_ |= task.displaces;
    graph_.make_room(machine_.named_threads());
    graph_.restore(task.graph);
    graph_.pop_to(task.todo->length);
    graph_.note_touched();
    sync(graph_.size());
    // What its events show is known here, too.
    if (machine_.failed()) note_failures(nobody);
    for (Node node = 0; node < graph_.size(); ++node) note_lives(node);
    return carry_out(*task.todo);
}

bool GraphExploration::should_stop() const {
    if (stopping_.load(std::memory_order_relaxed) || (results_.bug && !options_.keep_going)) return true;
    if (team_ != nullptr && team_->has_ended()) return true;
    const Counts& counts = results_.counts;
    return counts.steps >= most_steps_ ||
           (options_.max_executions != 0 && counts.executions() >= options_.max_executions);
}

// ------------------------------------------------------------------------------------------------- going on

// Whether a thread is there, and has not ended.
bool GraphExploration::is_waiting(Slot thread) const {
    const bool created = (first_threads_ >> thread & 1) != 0 || graph_.created_by(thread) != nobody;
    return created && machine_.status(thread) == Status::ready;
}

// Add the next step. False: there is none, or nothing comes of it.
bool GraphExploration::extend() {
    Slot leaving = 0;
    asleep_ = 0;
    for (u64 rest = machine_.exited() ? 0 : machine_.threads(); rest != 0; rest &= rest - 1) {
        const auto thread = static_cast<Slot>(std::countr_zero(rest));
        if (!is_waiting(thread)) continue;
        // The process ends last: what others do before that is as if it had not been asked for.
        if (machine_.at_exit(thread)) {
            if (leaving == 0) leaving = thread;
            continue;
        }
        if (is_disabled(thread) || is_suspended(thread) || is_held_up(thread)) continue;
        const bool enabled = attempt_newest(thread, nullptr);
        if (divided_) return false;
        if (enabled && !(is_free(thread) && is_awake(thread, static_cast<u32>(decisions_.size()), true))) {
            withdraw();
            continue;
        }
        if (!enabled) {
            withdraw();
            if (!narrowed_.empty()) continue;
            Disabled& last = disabled_[thread];
            last.last = last_number(thread);
            last.seen.clear();
            for (const Decision& decision : decisions_)
                if (!decision.chooses) last.seen.emplace_back(decision.part.cell, newest_stamp(decision.part.cell));
            continue;
        }
        return go_on(thread, true, nullptr);
    }
    if (!machine_.exited()) {
        const std::size_t before = todo_.size();
        offer_older();
        divide(before, 1);
        asleep_ = 0;
        if (leaving != 0) {
            attempt_newest(leaving, nullptr);
            if (divided_) return false;
            leaving_ = true;
            const bool left = go_on(leaving, true, nullptr);
            leaving_ = false;
            return left;
        }
    }
    note_end();
    return false;
}

bool GraphExploration::backtrack() {
    const Todo todo = std::move(todo_.back());
    todo_.pop_back();
    share_ = todo.share;
    return_to(todo);
    return carry_out(todo);
}

void GraphExploration::return_to(const Todo& todo) {
    withdraw();
    while (level_ > todo.level) {
        Level& level = levels_[--level_];
        const Node first = level.first;
        if (synced_ > first) {
            machine_.rewind(graph_[first].mark);
            synced_ = first;
        }
        graph_.restore(level.graph);
    }
    if (synced_ > todo.length) {
        machine_.rewind(graph_[todo.length].mark);
        synced_ = todo.length;
    }
    graph_.pop_to(todo.length);
}

bool GraphExploration::carry_out(const Todo& todo) {
    using enum Todo::Kind;
    if (todo.kind == Todo::Kind::revisit) return this->revisit(todo);
    sync(graph_.size());
    asleep_ = todo.asleep;
    switch (todo.kind) {
        case read: {
            const bool enabled = attempt_newest(todo.thread, &todo);
            return !divided_ && go_on(todo.thread, enabled, &todo);
        }
        case choose: {
            const bool enabled = attempt_newest(todo.thread, &todo);
            if (divided_) return false;
            for (const Decision& decision : decisions_) {
                if (!decision.chooses || decision.choice != todo.choice || todo.choice + 1 >= decision.range) continue;
                Todo next = todo;
                ++next.choice;
                next.share = share_ * (decision.range - next.choice) / (decision.range - todo.choice);
                share_ -= next.share;
                todo_.push_back(next);
                break;
            }
            return go_on(todo.thread, enabled, &todo);
        }
        case older: {
            attempt_newest(todo.thread, nullptr);
            return !divided_ && go_on(todo.thread, false, nullptr);
        }
        case wait:
            graph_[graph_.last_of(todo.thread)].asleep |= u64{1} << todo.thread;
            sleepers_ |= u64{1} << todo.thread;
            return true;
        case place:
            attempt_newest(todo.thread, nullptr);
            return !divided_ && add_write(todo.thread, todo.places, false);
        case put: return this->put(todo);
        case Todo::Kind::revisit: break;
    }
    return false;
}

// ---------------------------------------------------------------------------------------------- adding events

GraphEvent GraphExploration::event(Slot thread, EventKind kind) {
    GraphEvent made{.thread = thread, .index = graph_.next_index(thread), .step = step_, .kind = kind};
    made.mark = mark_;
    made.site = effect_.site;
    made.section = section_;
    made.whole = section_ && effect_.section && !effect_.guarded;
    made.guarded = effect_.guarded && !section_;
    made.acquires = std::ranges::any_of(
        effect_.acts, [](const LocalAct& act) { return act.inside && act.created == 0 && acquires(act.fence); });
    made.locked = !effect_.accesses.empty() && !section_ && (!decisions_.empty() && !writes_.empty());
    made.locked |= !effect_.accesses.empty() && effect_.accesses[0].conditional;
    return made;
}

Node GraphExploration::push(GraphEvent event, std::span<const Part> parts, std::span<const u32> places) {
    graph_.make_room(machine_.named_threads());
    event.number = ++stamps_;
    event.twin = twin_of_next(event.thread).node;
    const Node node = graph_.push(std::move(event), parts, places);
    synced_ = graph_.size();
    return node;
}

bool GraphExploration::is_disabled(Slot thread) const {
    const Disabled& last = disabled_[thread];
    return last.last == last_number(thread) &&
           std::ranges::all_of(last.seen, [&](const auto& seen) { return newest_stamp(seen.first) == seen.second; });
}

// Whether everything that the step of a thread has read so far is the newest.
bool GraphExploration::is_late(Slot thread) const {
    return std::ranges::all_of(graph_.partial(thread), [&](Node node) {
        if (graph_[node].kind != EventKind::read) return true;
        const Part& part = graph_.parts(node)[0];
        return is_last(part.source, part.cell);
    });
}

// The attempted step of a thread: what is not yet in the graph of it, and the other ways in which it could go. The
// first of that may be `given`. If it is not `enabled`, there are only these.
bool GraphExploration::go_on(Slot thread, bool enabled, const Todo* given) {
    const auto begin = static_cast<u32>(graph_.partial(thread).size());
    const bool revisits = given != nullptr && given->kind == Todo::Kind::put;
    if (revisits && !enabled) {
        withdraw();
        // What it waits for comes after this write; if that is not the newest, it does so in another graph.
        graph_[given->source].displaced = given->revisited;
        displaces_ = true;
        return given->source == newest_before(given->cell, graph_.size());
    }
    for (u32 i = begin; i < decisions_.size(); ++i) {
        const Decision decision = decisions_[i];
        const bool is_given = given != nullptr && i == begin;
        if (is_given && !enabled && i + 1 == decisions_.size()) return false;
        const std::size_t before = todo_.size();
        if (!is_given) offer(thread, decision);
        if (!is_awake(thread, i + 1, false)) return false;
        if (!decision.chooses && !is_free(thread, decision.part.cell, decision.part.source)) return false;
        if (!decide(thread, decision, is_given && revisits ? given->revisited.stamp : 0, i >= consistent_from_))
            return false;
        // Not enabled so far, it may be once there is something else to be read after that.
        const auto reads = [&](const Decision& later) { return !later.chooses && graph_.changes(later.part.cell); };
        if (is_given && !enabled && std::any_of(decisions_.begin() + i + 1, decisions_.end(), reads))
            todo_.push_back(todo(Todo::Kind::wait, thread));
        if (!decision.chooses) divide(before, 1);
    }
    if (enabled) return is_awake(thread, static_cast<u32>(decisions_.size()), true) && complete(thread);
    return false;
}

// Add what a step reads or chooses. Whether that is possible, unless this is `known`.
bool GraphExploration::decide(Slot thread, const Decision& decision, u64 stamp, bool known) {
    GraphEvent made = event(thread, decision.chooses ? EventKind::choice : EventKind::read);
    made.stamp = stamp != 0 ? stamp : ++stamps_;
    made.choice = decision.choice;
    made.asleep = asleep_;
    const bool late = is_late(thread);
    if (decision.chooses) {
        push(std::move(made), {}, {});
        return true;
    }
    const bool newest = is_last(decision.part.source, decision.part.cell);
    const Node node = push(std::move(made), {&decision.part, 1}, {});
    if (!is_canonical(node)) return false;
    return (known && !leaves_open()) || may_be(node, newest && late);
}

bool GraphExploration::complete(Slot thread) {
    if (!writes_.empty()) return write(thread);
    if (!graph_.is_partial(thread)) {
        GraphEvent made = event(thread, EventKind::local);
        made.stamp = ++stamps_;
        push(std::move(made), {}, {});
    }
    return finish(thread);
}

// All of the step is there.
bool GraphExploration::finish(Slot thread) {
    const Node last = graph_.last_of(thread);
    std::vector<LocalAct> acts = effect_.acts;
    // Threads that a step creates belong to it, or to the fence after it that comes before their creation.
    const auto fence =
        std::ranges::find_if(acts, [&](const LocalAct& act) { return act.created == 0 && act.thread == thread; });
    std::vector<LocalAct> creations;
    for (auto act = acts.begin(); act != acts.end(); ++act)
        if (act->created != 0 && (act < fence || act->thread != thread)) creations.push_back(*act);
    graph_.complete(last, ended_, std::move(creations));
    settle(thread);
    open_ = false;
    look_for_joins(thread);
    if (divided_) return false;
    push_rest(thread);
    return note_step(last);
}

// The fences that were passed after the step, each an event with the threads that are created after it.
void GraphExploration::push_rest(Slot thread) {
    const std::vector<LocalAct>& acts = effect_.acts;
    for (std::size_t i = 0; i < acts.size(); ++i) {
        if (acts[i].created != 0) continue;
        const Slot who = acts[i].thread;
        const u32 index = graph_.next_index(who);
        GraphEvent made{.thread = who, .index = index, .step = index, .kind = EventKind::fence};
        made.ordering = acts[i].fence;
        made.mark = machine_.mark();
        made.stamp = ++stamps_;
        made.completes = true;
        for (std::size_t j = i + 1; who == thread && j < acts.size(); ++j) {
            if (acts[j].thread != thread) continue;
            if (acts[j].created == 0) break;
            made.acts.push_back(acts[j]);
        }
        push(std::move(made), {}, {});
    }
}

// The attempted step, all of whose reads are in the graph, writes.
bool GraphExploration::write(Slot thread) {
    const std::vector<u32> past = past_of(thread);
    std::vector<u32> places;
    bool newest = true;
    u64 limit = ~u64{0};
    for (const Part& part : writes_) {
        u32 place = graph_.newest(part.cell);
        if (part.updates) {
            if (graph_.cells()[part.cell].ordered) place = graph_.place_of(part.source, part.cell);
            newest &= is_last(part.source, part.cell);
            if (const Node other = graph_.updater_of(part.source, part.cell); other != nobody) {
                // Somebody else has updated what it has read: then that one must come after it.
                if (sees(past, other)) return false;
                for (const Node node : graph_.step_of(other))
                    if (graph_[node].kind == EventKind::read && graph_.parts(node)[0].cell == part.cell)
                        limit = std::min(limit, graph_[node].stamp);
            }
        }
        places.push_back(place);
    }
    const std::size_t before = todo_.size();
    if (is_blind()) offer_places(thread, todo(Todo::Kind::place, thread), false);
    offer_revisits(thread, past, limit);
    divide(before, 1);
    if (limit != ~u64{0}) return suspend(thread);
    if (newest && is_late(thread)) return add_write(thread, places, true);
    const Node length = graph_.size();
    if (add_write(thread, places, false)) return true;
    if (graph_.size() != length + 1 || graph_[length].completes) return false;  // something else is wrong
    graph_.pop_to(length);
    synced_ = length;
    return suspend(thread);
}

// The attempted step, all of whose reads are in the graph, cannot write, because of others that have come too early.
// But what it has read at last may still be revisited, and then it may come before them.
bool GraphExploration::suspend(Slot thread) {
    withdraw();
    const std::vector<u32> all(std::max<std::size_t>(graph_.stride(), machine_.named_threads()), ~u32{0});
    const std::span<const Node> step = graph_.partial(thread);
    if (step.empty()) return false;
    bool waits = false;
    for (const Node node : step)
        waits = is_maximal(node, all) && (!leaves_open() || is_preferred(node, all)) &&
                (waits || (graph_[node].kind == EventKind::read && graph_.changes(graph_.parts(node)[0].cell)));
    graph_[step.back()].suspended = waits;
    return waits;
}

// The attempted step, all of whose reads are in the graph, writes at some places.
bool GraphExploration::add_write(Slot thread, std::span<const u32> places, bool newest) {
    GraphEvent made = event(thread, EventKind::write);
    made.stamp = ++stamps_;
    const Node node = push(std::move(made), writes_, places);
    return is_canonical(node) && may_be(node, newest) && finish(thread);
}

// ------------------------------------------------------------------------------------------- what else could be

// The lowest place in the modification order of a cell from which a thread may still read, and after which it may
// write.
u32 GraphExploration::lowest_place(Slot thread, u32 cell) const {
    const Node last = graph_.before_next(thread);
    const auto counts = [&](Node node) { return counts_for(options_.memory, graph_, thread, last, node); };
    const Cell& place = graph_.cells()[cell];
    u32 lowest = graph_.newest(cell);
    if (!place.ordered) return lowest;
    for (; lowest > 0; --lowest) {
        const Node write = place.writes[lowest - 1];
        if (counts(write)) break;
        if (std::ranges::any_of(place.readers, [&](Node reader) {
                return graph_.part(reader, cell)->source == write && counts(reader);
            }))
            break;
    }
    return lowest;
}

// Whether a read that was displaced may read from a write: from who has displaced it, or from who could have revisited
// it after that, since the newest before is one from which it may have read.
bool GraphExploration::is_free(Slot thread, u32 cell, Node source) const {
    if (!displaces_) return true;
    const u32 index = graph_.next_index(thread);
    const std::vector<Node>& writes = graph_.cells()[cell].writes;
    for (const Node write : writes) {
        const Displaced& displaced = graph_[write].displaced;
        if (displaced.thread != thread || displaced.index != index) continue;
        const u32 lowest = graph_.place_of(write, cell);
        if (graph_.cells()[cell].sectioned) {
            if (graph_.place_of(source, cell) < lowest) return false;
            continue;
        }
        for (Node found = source; found != write;) {
            u32 before = 0;
            for (u32 i = 0; found != initially && i < writes.size(); ++i)
                if (writes[i] != found &&
                    (graph_[writes[i]].stamp < displaced.stamp || graph_.is_before(writes[i], found, Graph::past)))
                    before = i + 1;
            if (before < lowest) return false;
            found = graph_.write_at(cell, before);
        }
    }
    return true;
}

// Whether the attempted step, as far as its first decisions, is not one that was tried before: see
// `GraphEvent::asleep`. In the end it must read something new; what comes before that is what was the newest then.
bool GraphExploration::is_awake(Slot thread, u32 count, bool ends) const {
    if ((sleepers_ >> thread & 1) == 0) return true;
    const u64 since = step_ == 1 ? 0 : graph_[graph_.of_thread(thread)[step_ - 2]].stamp;
    for (Node node = 0; node < graph_.size(); ++node) {
        const GraphEvent& event = graph_[node];
        if ((event.asleep >> thread & 1) == 0 || event.stamp < since) continue;
        u32 first = 0;  // that was not yet decided
        for (const Node decided : graph_.partial(thread)) first += graph_[decided].stamp <= event.stamp ? 1 : 0;
        bool reads_new = !ends;
        for (u32 i = first; i < count; ++i) {
            const Decision& decision = decisions_[i];
            if (decision.chooses) {
                if (decision.choice != 0) return false;
                continue;
            }
            const Node source = decision.part.source;
            if (source != initially && graph_[source].stamp > event.stamp) {
                reads_new = true;
                break;
            }
            const std::vector<Node>& writes = graph_.cells()[decision.part.cell].writes;
            for (u32 place = graph_.place_of(source, decision.part.cell); place < writes.size(); ++place)
                if (graph_[writes[place]].stamp < event.stamp) return false;
        }
        if (!reads_new) return false;
    }
    return true;
}

// Whether the attempted step may read the newest writes.
bool GraphExploration::is_free(Slot thread) const {
    const std::size_t begin = graph_.partial(thread).size();
    if (begin >= decisions_.size()) return true;
    const Decision& next = decisions_[begin];
    return next.chooses || is_free(thread, next.part.cell, next.part.source);
}

// What is still to be tried from `before` on, and `others`, share what the present branch had.
void GraphExploration::divide(std::size_t before, std::size_t others) {
    const std::size_t added = todo_.size() - before;
    if (added == 0) return;
    share_ /= static_cast<double>(added + others);
    for (std::size_t i = before; i < todo_.size(); ++i) todo_[i].share = share_;
}

// The other ways to decide.
void GraphExploration::offer(Slot thread, const Decision& decision) {
    if (decision.chooses) {
        if (decision.range < 2) return;
        Todo next = todo(Todo::Kind::choose, thread);
        next.choice = 1;
        next.share = share_ * (decision.range - 1) / decision.range;
        share_ -= next.share;
        todo_.push_back(next);
        return;
    }
    const u32 cell = decision.part.cell;
    const u32 end = graph_.place_of(decision.part.source, cell);
    Todo next = todo(Todo::Kind::read, thread);
    next.cell = cell;
    if (!graph_.cells()[cell].ordered) {
        for (const Node source : sources_after(graph_.before_next(thread), cell))
            if (source != decision.part.source) {
                next.source = source;
                todo_.push_back(next);
            }
        return;
    }
    for (u32 place = lowest_place(thread, cell); place < end; ++place) {
        next.source = graph_.write_at(cell, place);
        if (is_free(thread, cell, next.source)) todo_.push_back(next);
    }
}

// The places at which the attempted step may write: all of them, or all but the last.
void GraphExploration::offer_places(Slot thread, Todo next, bool all) {
    std::vector<u32> lowest;
    for (const Part& part : writes_) lowest.push_back(lowest_place(thread, part.cell));
    next.places = lowest;
    for (;;) {
        const auto is_last = [&](const Part& part, u32 place) { return place == graph_.newest(part.cell); };
        const bool last = std::ranges::equal(writes_, next.places, is_last);
        const auto is_taken = [&](const Part& part, u32 place) { return graph_.is_updated(part.cell, place); };
        bool taken = false;
        for (u32 i = 0; i < writes_.size(); ++i) taken |= is_taken(writes_[i], next.places[i]);
        if (!taken && (all || !last)) todo_.push_back(next);
        if (last) return;
        u32 i = 0;
        for (; is_last(writes_[i], next.places[i]); ++i) next.places[i] = lowest[i];
        ++next.places[i];
    }
}

// What an event that is about to be added depends on.
std::vector<u32> GraphExploration::past_of(Slot thread) const {
    std::vector<u32> past(std::max<std::size_t>(graph_.stride(), machine_.named_threads()), 0);
    if (const Node last = graph_.before_next(thread); last != nobody)
        std::copy_n(graph_.clock(last, Graph::cause), graph_.stride(), past.begin());
    if (const Node twin = twin_of_next(thread).node; twin != nobody)
        for (u32 i = 0; i < graph_.stride(); ++i) past[i] = std::max(past[i], graph_.clock(twin, Graph::cause)[i]);
    return past;
}

void GraphExploration::offer_revisits(Slot thread, const std::vector<u32>& past, u64 limit) {
    Todo next = todo(Todo::Kind::revisit, thread);
    for (const Part& part : writes_)
        for (const Node reader : graph_.cells()[part.cell].readers)
            if (graph_[reader].stamp <= limit && !sees(past, reader) && may_revisit(reader, past)) {
                next.target = reader;
                todo_.push_back(next);
            }
}

// Nobody can go on: those who wait could have read what is older.
void GraphExploration::offer_older() {
    for (u64 rest = machine_.threads(); rest != 0; rest &= rest - 1) {
        const auto thread = static_cast<Slot>(std::countr_zero(rest));
        if (!is_waiting(thread) || machine_.at_exit(thread) || is_suspended(thread) || is_held_up(thread)) continue;
        todo_.push_back(todo(Todo::Kind::older, thread));
        asleep_ |= u64{1} << thread;
        sleepers_ |= asleep_;
    }
}

}  // namespace mazurka
