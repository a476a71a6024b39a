#include "graphs/witness.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "graphs/buffers.hpp"

namespace mazurka {

bool Witness::exists(MemoryModel model, const Graph& graph, const Question& question) {
    model_ = model;
    graph_ = &graph;
    question_ = question;
    make_points();
    return connect() && close() && put_in_order();
}

// ------------------------------------------------------------------------------------------------- what is known

bool Witness::is_fence(Node node) const { return model_ == MemoryModel::sc || is_full_fence(*graph_, node); }

bool Witness::is_point(Node node) const {
    return (*graph_)[node].count != 0 || (model_ != MemoryModel::sc && is_full_fence(*graph_, node));
}

// Of the first `count` events of a thread.
Witness::Point Witness::last_point(Slot thread, u32 count, bool only_fences) const {
    const std::vector<Node>& nodes = graph_->of_thread(thread);
    for (u32 i = count; i-- > 0;)
        if (point_of_[nodes[i]] != none && (!only_fences || is_fence(nodes[i]))) return point_of_[nodes[i]];
    return none;
}

bool Witness::join(Point into, Point from) {
    u32* const mine = state_.clocks.data() + std::size_t{into} * chains_;
    const u32* const theirs = state_.clocks.data() + std::size_t{from} * chains_;
    bool changed = false;
    for (u32 i = 0; i < chains_; ++i)
        if (theirs[i] > mine[i]) {
            mine[i] = theirs[i];
            changed = true;
        }
    return changed;
}

void Witness::link(Point first, Point second) {
    state_.edges.push_back({second, state_.first[first]});
    state_.first[first] = static_cast<u32>(state_.edges.size()) - 1;
    join(second, first);
}

// One comes before the other. False: then there is a circle.
bool Witness::add(Point first, Point second) {
    if (first == second || is_before(second, first)) return false;
    if (is_before(first, second)) return true;
    link(first, second);
    waiting_.assign(1, second);
    while (!waiting_.empty()) {
        const Point point = waiting_.back();
        waiting_.pop_back();
        for (u32 edge = state_.first[point]; edge != none; edge = state_.edges[edge].next)
            if (join(state_.edges[edge].to, point)) waiting_.push_back(state_.edges[edge].to);
    }
    return true;
}

// A chain is events that program order keeps in order: those of a thread under sc; under tso its loads, and the rest.
Witness::Point Witness::make_point(Node node) {
    const GraphEvent& event = (*graph_)[node];
    const auto point = static_cast<Point>(places_.size());
    const bool sc = model_ == MemoryModel::sc;
    const bool load = !sc && event.kind == EventKind::read && !is_fence(node);
    const u32 loads = 2 * event.thread, others = loads + 1;
    const u32 chain = sc ? event.thread : load ? loads : others;
    places_.push_back({chain, last_[chain] == none ? 0 : places_[last_[chain]].index + 1});
    state_.clocks.resize(state_.clocks.size() + chains_, 0);
    state_.clocks[std::size_t{point} * chains_ + chain] = places_[point].index + 1;
    state_.first.push_back(none);
    if (last_[chain] != none) link(last_[chain], point);
    if (load && fence_[event.thread] != none) link(fence_[event.thread], point);
    if (!sc && !load && last_[loads] != none) link(last_[loads], point);
    for (const Point birth : births_[event.thread]) link(birth, point);
    last_[chain] = point;
    if (is_fence(node)) fence_[event.thread] = point;
    return point;
}

void Witness::make_points() {
    const Graph& graph = *graph_;
    const u32 threads = graph.stride();
    chains_ = model_ == MemoryModel::sc ? threads : 2 * threads;
    state_.clocks.clear();
    state_.first.clear();
    state_.edges.clear();
    places_.clear();
    point_of_.assign(graph.size(), none);
    last_.assign(chains_, none);
    fence_.assign(threads, none);
    births_.assign(threads, {});
    for (Node node = 0; node < graph.size(); ++node) {
        if (!is_there(node)) continue;
        const GraphEvent& event = graph[node];
        const std::vector<Node>& mine = graph.of_thread(event.thread);
        if (is_point(node)) {
            if (event.section || event.locked)
                for (u32 i = event.step - 1; i + 1 < event.index && point_of_[node] == none; ++i)
                    point_of_[node] = point_of_[mine[i]];
            if (point_of_[node] == none) point_of_[node] = make_point(node);
        }
        // Whoever creates a thread has done so, and under tso finished what it wrote, before that begins.
        for (const LocalAct& act : event.acts) {
            if (act.created == 0) continue;
            births_[act.created].clear();
            for (u32 chain = 0; chain < chains_; ++chain)
                if (last_[chain] != none && (model_ == MemoryModel::sc ? chain : chain / 2) == event.thread)
                    births_[act.created].push_back(last_[chain]);
            // It may have done nothing that counts, but whoever created it has.
            std::ranges::copy(births_[event.thread], std::back_inserter(births_[act.created]));
        }
    }
}

// What reads-from and given orders say, and what is asked.
bool Witness::connect() {
    const Graph& graph = *graph_;
    cells_.clear();
    writes_.clear();
    reads_.clear();
    touched_.assign(graph.cells().size(), false);
    for (Node node = 0; node < graph.size(); ++node) {
        if (point_of_[node] == none) continue;
        const GraphEvent& event = graph[node];
        for (const Part& part : graph.parts(node)) {
            const Cell& cell = graph.cells()[part.cell];
            if (!touched_[part.cell]) {
                touched_[part.cell] = true;
                cells_.push_back(part.cell);
            }
            if (part.writes && !cell.ordered) writes_.push_back({part.cell, point_of_[node]});
            if (!part.reads) continue;
            const Node source = source_of(node, part);
            const bool there = source != initially && point_of_[source] != none;
            const bool buffered = model_ != MemoryModel::sc && there && graph[source].thread == event.thread;
            if (there && !buffered && point_of_[source] != point_of_[node] && !add(point_of_[source], point_of_[node]))
                return false;
            if (cell.ordered) continue;
            if (node == question_.read && question_.updates) writes_.push_back({part.cell, point_of_[node]});
            // A thread does not read past what it has written, though that may still be in its buffer.
            if (model_ == MemoryModel::sc) continue;
            Node own = nobody;
            for (const Node write : cell.writes)
                if (graph[write].thread == event.thread && graph[write].index < event.index && is_there(write) &&
                    (own == nobody || graph[write].index > graph[own].index))
                    own = write;
            if (own == nobody || own == source) continue;
            if (!there || !add(point_of_[own], point_of_[source])) return false;
        }
    }
    for (const u32 cell : cells_)
        if (graph.cells()[cell].ordered && !order_given(cell)) return false;
    const auto by_chain = [&](const Write& write) {
        return std::tuple(write.cell, places_[write.point].chain, places_[write.point].index);
    };
    std::ranges::sort(writes_, {}, by_chain);
    begin_.assign(graph.cells().size() + 1, 0);
    for (u32 cell = 0, write = 0; cell < begin_.size(); ++cell) {
        while (write < writes_.size() && writes_[write].cell < cell) ++write;
        begin_[cell] = write;
    }
    for (const u32 cell : cells_) {
        if (graph.cells()[cell].ordered) continue;
        for (const Node node : graph.cells()[cell].readers) {
            if (point_of_[node] == none) continue;
            const Node source = source_of(node, *graph.part(node, cell));
            Read read{cell, point_of_[node], none};
            if (source != initially)
                for (u32 write = begin_[cell]; write < begin_[cell + 1]; ++write)
                    if (writes_[write].point == point_of_[source]) read.source = write;
            reads_.push_back(read);
        }
    }
    if (question_.first == nobody) return true;
    const GraphEvent& first = graph[question_.first];
    const Point from = last_point(first.thread, first.index, true), to = point_of_[question_.second];
    return from == none || to == none || add(from, to);
}

bool Witness::order_given(u32 number) {
    const Cell& cell = graph_->cells()[number];
    Point last = none;
    for (const Node write : cell.writes) {
        if (point_of_[write] == none) continue;
        if (last != none && !add(last, point_of_[write])) return false;
        last = point_of_[write];
    }
    for (const Node reader : cell.readers) {
        const Point point = point_of_[reader];
        if (point == none) continue;
        for (u32 place = graph_->place_of(source_of(reader, *graph_->part(reader, number)), number);
             place < cell.writes.size(); ++place) {
            const Point write = point_of_[cell.writes[place]];
            if (write == none || write == point) continue;
            if (!add(point, write)) return false;
            break;
        }
    }
    return true;
}

// Add all that follows. False: then there is a circle.
bool Witness::close() {
    for (bool changed = true; changed;) {
        changed = false;
        const auto put = [&](Point first, Point second) {
            if (first != second && is_before(first, second)) return true;
            changed = true;
            return add(first, second);
        };
        for (const Read& read : reads_) {
            const u32* const before = state_.clocks.data() + std::size_t{read.point} * chains_;
            const u32 end = begin_[read.cell + 1];
            for (u32 begin = begin_[read.cell], next = begin; begin < end; begin = next) {
                const u32 chain = places_[writes_[begin].point].chain;
                for (next = begin; next < end && places_[writes_[next].point].chain == chain;) ++next;
                // The last one before the read, ...
                for (u32 i = next; i-- > begin;) {
                    const Point write = writes_[i].point;
                    if (places_[write].index >= before[chain] || write == read.point) continue;
                    if (i == read.source) break;
                    if (read.source == none || !put(write, writes_[read.source].point)) return false;
                    break;
                }
                // ... and the first one after its source.
                for (u32 i = begin; i < next; ++i) {
                    const Point write = writes_[i].point;
                    if (i == read.source || write == read.point) continue;
                    if (read.source != none && !is_before(writes_[read.source].point, write)) continue;
                    if (!put(read.point, write)) return false;
                    break;
                }
            }
        }
    }
    return true;
}

// --------------------------------------------------------------------------------------------------- an order

// Put what is known into one order. Where two writes come into each other's way, both orders are tried.
bool Witness::put_in_order() {
    const auto count = static_cast<u32>(places_.size());
    before_.assign(count, 0);
    for (const Edge& edge : state_.edges) ++before_[edge.to];
    unread_.assign(writes_.size() + begin_.size(), 0);
    latest_.resize(begin_.size());
    for (u32 cell = 0; cell < begin_.size(); ++cell) latest_[cell] = initial(cell);
    first_read_.assign(count, none);
    next_read_.resize(reads_.size());
    for (u32 i = 0; i < reads_.size(); ++i) {
        ++unread_[written(reads_[i])];
        next_read_[i] = std::exchange(first_read_[reads_[i].point], i);
    }
    first_write_.assign(count, none);
    next_write_.resize(writes_.size());
    for (u32 i = 0; i < writes_.size(); ++i) next_write_[i] = std::exchange(first_write_[writes_[i].point], i);
    // Whether somebody else still has to read what a write would write over.
    const auto is_blocked = [&](u32 write) {
        const auto& [cell, point] = writes_[write];
        u32 others = unread_[latest_[cell]];
        for (u32 read = first_read_[point]; others != 0 && read != none; read = next_read_[read])
            if (written(reads_[read]) == latest_[cell]) --others;
        return others != 0;
    };
    open_.clear();
    writers_.clear();
    const auto open = [&](Point point) { (first_write_[point] == none ? open_ : writers_).push_back(point); };
    for (Point point = 0; point < count; ++point)
        if (before_[point] == 0) open(point);
    order_.resize(count);
    for (u32 done = 0; done < count; ++done) {
        Point point = none;
        if (!open_.empty()) {
            point = open_.back();
            open_.pop_back();
        } else {
            const auto found = std::ranges::find_if(writers_, [&](Point writer) {
                for (u32 write = first_write_[writer]; write != none; write = next_write_[write])
                    if (is_blocked(write)) return false;
                return true;
            });
            if (found == writers_.end()) break;
            point = *found;
            writers_.erase(found);
        }
        order_[point] = done + 1;
        if (done + 1 == count) return true;
        for (u32 read = first_read_[point]; read != none; read = next_read_[read]) --unread_[written(reads_[read])];
        for (u32 write = first_write_[point]; write != none; write = next_write_[write])
            latest_[writes_[write].cell] = write;
        for (u32 edge = state_.first[point]; edge != none; edge = state_.edges[edge].next)
            if (--before_[state_.edges[edge].to] == 0) open(state_.edges[edge].to);
    }
    for (const Point point : writers_)
        for (u32 write = first_write_[point]; write != none; write = next_write_[write]) {
            if (!is_blocked(write)) continue;
            const u32 over = latest_[writes_[write].cell];
            if (over >= writes_.size()) return false;
            const Point other = writes_[over].point;
            const State known = state_;
            if (add(point, other) && close() && put_in_order()) return true;
            state_ = known;
            return add(other, point) && close() && put_in_order();
        }
    return count == 0;
}

}  // namespace mazurka
