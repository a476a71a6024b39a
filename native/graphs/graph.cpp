#include "graphs/graph.hpp"

#include <utility>

namespace mazurka {

// Cells are what atomic accesses touch as a whole. What is not atomic touches some of them, perhaps only a part of one:
// nobody else does so at the same time, or there is a data race.
bool Graph::find_cells(Address address, u32 size, bool atomic, std::vector<u32>& found) {
    found.clear();
    const Address end = address + size;
    // Most accesses are to a cell of their own, which is a word of 8 bytes at most.
    const auto is_it = [&](u32 cell) { return cells_[cell].address == address && cells_[cell].size == size; };
    u32& latest = latest_[address / 8 % latest_.size()];
    if (latest < cells_.size() && is_it(latest) && (!atomic || cells_[latest].atomic)) {
        found.push_back(latest);
        return true;
    }
    for (const u32 cell : cell_at_[address / 8]) {
        if (!is_it(cell)) continue;
        if (shared_ != nullptr && atomic && !cells_[cell].atomic) break;
        if (atomic && !std::exchange(cells_[cell].atomic, true)) atomics_.emplace_back(address, size);
        found.push_back(cell);
        latest = cell;
        return true;
    }
    if (shared_ != nullptr)
        return shared_->look([&](Graph& all) {
            const bool fits = all.find_cells(address, size, atomic, found);
            learn_cells(all);
            for (const u32 cell : found) cells_[cell].atomic = all.cells_[cell].atomic;
            return fits;
        });
    const auto add_boundary = [&](Address at) {
        const auto place = std::ranges::lower_bound(boundaries_, at);
        if (place == boundaries_.end() || *place != at) boundaries_.insert(place, at);
    };
    // What nobody has touched yet, divided where that is known to be necessary.
    const auto make = [&](Address from, Address to, bool of_atomic) {
        while (from < to) {
            const auto next = std::ranges::upper_bound(boundaries_, from);
            const Address word = (from / 8 + 1) * 8;  // the machine hands out no more than that at once
            const Address until = std::min({next != boundaries_.end() && !of_atomic ? *next : to, to, word});
            const auto cell = static_cast<u32>(cells_.size());
            cells_.push_back({from, static_cast<u32>(until - from)});
            cell_at_[from / 8].push_back(cell);
            // What a thread's control block is for is all done by sections.
            const u64 object = object_of(from);
            cells_.back().sectioned = (number_of(object) == 0 && owner_of(object) != 0) || sectioned_.contains(from);
            cells_.back().ordered = ordered_everywhere_ || cells_.back().sectioned || ordered_.contains(from);
            cells_.back().changes = changing_.contains(from);
            cells_.back().atomic = of_atomic;
            found.push_back(cell);
            from = until;
        }
    };
    std::vector<u32> overlapping;
    const auto overlaps = [](const Cell& cell, Address from, Address to) {
        return cell.address < to && cell.address + cell.size > from;
    };
    const auto look = [&](Address from, Address to) {
        for (Address word = from / 8; word <= (to - 1) / 8; ++word)
            if (const auto there = cell_at_.find(word); there != cell_at_.end())
                for (const u32 cell : there->second)
                    if (overlaps(cells_[cell], from, to) && std::ranges::find(overlapping, cell) == overlapping.end())
                        overlapping.push_back(cell);
    };
    // What atomic accesses are known to touch as a whole is one cell, whoever comes there first.
    for (const auto& [from, width] : atomics_) {
        if (from >= end || from + width <= address) continue;
        overlapping.clear();
        look(from, from + width);
        if (overlapping.empty()) make(from, from + width, true);
    }
    found.clear();
    overlapping.clear();
    look(address, end);
    std::ranges::sort(overlapping, {}, [&](u32 cell) { return cells_[cell].address; });
    // Atomic accesses of different sizes tear each other.
    const bool is_torn = std::ranges::find(torn_, std::pair<Address, u32>(address, size)) != torn_.end();
    const bool is_new = overlapping.empty() && !is_torn;
    for (const u32 cell : overlapping) {
        const Cell& other = cells_[cell];
        const bool inside = other.address >= address && other.address + other.size <= end;
        if (atomic && !is_torn && std::ranges::none_of(overlapping, [&](u32 one) { return cells_[one].atomic; })) {
            atomics_.emplace_back(address, size);
            return false;
        }
        if (inside || (!atomic && other.atomic)) continue;
        add_boundary(address);
        add_boundary(end);
        const std::pair<Address, u32> larger{other.address, other.size};
        std::erase(atomics_, larger);
        torn_.push_back(larger);
        if (atomic && !is_torn) atomics_.emplace_back(address, size);
        return false;
    }
    Address covered = address;
    for (const u32 cell : overlapping) {
        make(covered, std::max(covered, cells_[cell].address), false);
        found.push_back(cell);
        covered = cells_[cell].address + cells_[cell].size;
    }
    make(covered, std::max(covered, end), atomic && is_new && size <= 8 && address / 8 == (end - 1) / 8);
    if (atomic && is_new) atomics_.emplace_back(address, size);
    return true;
}

void Graph::make_room(Slot threads) {
    if (threads <= stride_) return;
    const u32 wider = (threads + 3) / 4 * 4;  // most of what is saved and restored are clocks
    clocks_ = widened(clocks_, stride_, wider);
    stride_ = wider;
}

void Graph::learn_cells(const Graph& other) {
    for (auto cell = static_cast<u32>(cells_.size()); cell < other.cells_.size(); ++cell) {
        const Cell& theirs = other.cells_[cell];
        cells_.push_back({theirs.address, theirs.size});
        cells_.back().sectioned = theirs.sectioned;
        cells_.back().ordered = theirs.ordered;
        cells_.back().changes = theirs.changes;
        cells_.back().atomic = theirs.atomic;
        cell_at_[theirs.address / 8].push_back(cell);
    }
}

void Graph::learn_cells() {
    shared_->look([&](const Graph& all) { learn_cells(all); });
}

bool Graph::make_used(u32 cell) {
    if (std::exchange(cells_[cell].used, true)) return true;
    if (shared_ == nullptr) return true;
    return shared_->look([&](Graph& all) {
        all.cells_[cell].used = true;
        return all.cells_[cell].sectioned == cells_[cell].sectioned && all.cells_[cell].ordered == cells_[cell].ordered;
    });
}

void Graph::note_touched() {
    for (Node node = 0; node < size(); ++node)
        for (const Part& part : parts(node)) {
            cells_[part.cell].threads |= u64{1} << events_[node].thread;
            cells_[part.cell].plain |= part.ordering == Ordering::plain;
        }
}

void Graph::rely_on(u32 cell) {
    if (shared_ != nullptr) cells_[cell].changes = shared_->look([&](Graph& all) { return all.changes(cell); });
    cells_[cell].relied_on = !cells_[cell].changes;
}

bool Graph::make_sectioned(u32 cell) {
    Cell& place = cells_[cell];
    if (place.sectioned) return true;
    if (shared_ != nullptr && !shared_->look([&](Graph& all) { return all.make_sectioned(cell); })) return false;
    for (u32 i = 0; i < place.size; ++i) sectioned_.insert(place.address + i);
    place.sectioned = place.ordered = true;
    return !place.used;
}

// False: it was not so far, so that it is too late.
bool Graph::make_ordered(u32 cell) {
    Cell& place = cells_[cell];
    if (place.ordered) return true;
    if (shared_ != nullptr && !shared_->look([&](Graph& all) { return all.make_ordered(cell); })) return false;
    for (u32 i = 0; i < place.size; ++i) ordered_.insert(place.address + i);
    place.ordered = true;
    return !place.used;
}

bool Graph::make_changing(u32 cell) {
    Cell& place = cells_[cell];
    if (place.changes) return true;
    if (shared_ != nullptr && !shared_->look([&](Graph& all) { return all.make_changing(cell); })) return false;
    for (u32 i = 0; i < place.size; ++i) changing_.insert(place.address + i);
    place.changes = true;
    return !place.relied_on;
}

void Graph::complete(Node node, std::vector<u64> ended, std::vector<LocalAct> acts) {
    GraphEvent& event = events_[node];
    event.completes = true;
    event.ended = std::move(ended);
    event.acts = std::move(acts);
    for (const LocalAct& act : event.acts)
        creations_.emplace_back(act.created, std::exchange(created_by_[act.created], node));
}

Node Graph::push(GraphEvent event, std::span<const Part> parts, std::span<const u32> places) {
    const Node node = size();
    event.parts = static_cast<u32>(parts_.size());
    event.count = static_cast<u32>(parts.size());
    parts_.insert(parts_.end(), parts.begin(), parts.end());
    events_.push_back(std::move(event));
    std::size_t next = 0;
    for (const Part& part : this->parts(node)) {
        Cell& cell = cells_[part.cell];
        if (part.writes) {
            const u32 place = next < places.size() ? places[next] : static_cast<u32>(cell.writes.size());
            ++next;
            cell.writes.insert(cell.writes.begin() + place, node);
        }
        if (part.reads) cell.readers.push_back(node);
        cell.threads |= u64{1} << events_[node].thread;
        cell.plain |= part.ordering == Ordering::plain;
    }
    index(node);
    clocks_.resize(std::size_t{node + 1} * clocks_of_event * stride_, 0);
    compute_clocks(node);
    return node;
}

// What is known of where events are: of a thread, and which threads they create.
void Graph::index(Node node) {
    const GraphEvent& event = events_[node];
    of_thread_[event.thread].push_back(node);
    if (event.kind == EventKind::fence && event.ordering == Ordering::seq_cst) strong_fences_.push_back(node);
    creations_before_.push_back(static_cast<u32>(creations_.size()));
    for (const LocalAct& act : event.acts)
        creations_.emplace_back(act.created, std::exchange(created_by_[act.created], node));
}

void Graph::pop() {
    const Node node = size() - 1;
    for (const Part& part : parts(node)) {
        Cell& cell = cells_[part.cell];
        if (part.writes) cell.writes.erase(cell.writes.begin() + (place_of(node, part.cell) - 1));
        if (part.reads) cell.readers.pop_back();
    }
    of_thread_[events_[node].thread].pop_back();
    if (!strong_fences_.empty() && strong_fences_.back() == node) strong_fences_.pop_back();
    for (; creations_.size() > creations_before_.back(); creations_.pop_back())
        created_by_[creations_.back().first] = creations_.back().second;
    creations_before_.pop_back();
    parts_.resize(events_[node].parts);
    clocks_.resize(std::size_t{node} * clocks_of_event * stride_);
    events_.pop_back();
}

void Graph::compute_clocks(Node node) {
    const GraphEvent& event = events_[node];
    const std::vector<Node>& mine = of_thread_[event.thread];
    const Node last = mine.size() > 1 ? mine[mine.size() - 2] : nobody;
    const Node created = created_by_[event.thread];
    const bool first = last == nobody || (created != nobody && created > last && created < node);
    const Node before = first ? created : last;
    // All but the last, `left`; the creator of a thread hands on only the first three.
    const u32 inherited = before == nobody ? 0 : stride_ * (first ? unacquired : left);
    u32* const clocks = row(node, past);
    if (inherited != 0) std::copy_n(clock(before, past), inherited, clocks);
    std::fill_n(clocks + inherited, stride_ * clocks_of_event - inherited, 0);
    u32 deepest = before == nobody ? 0 : events_[before].depth;
    for (const Part& part : parts(node))
        if (part.reads && part.source != initially) deepest = std::max(deepest, events_[part.source].depth);
    events_[node].depth = deepest + 1;
    row(node, past)[event.thread] = event.index;
    row(node, cause)[event.thread] = event.index;
    if (event.twin != nobody) join(node, cause, clock(event.twin, cause));
    row(node, known)[event.thread] = event.index;
    if (event.kind == EventKind::fence) {
        if (acquires(event.ordering)) join(node, known, clock(node, unacquired));
        if (releases(event.ordering)) std::copy_n(clock(node, known), stride_, row(node, fenced));
        return;
    }
    bool writes = false, does_release = false;
    for (const Part& part : parts(node)) {
        if (part.reads && part.source != initially) {
            join(node, past, clock(part.source, past));
            join(node, cause, clock(part.source, cause));
            if (!part.blind && synchronises(part.ordering))
                join(node, acquires(part.ordering) ? known : unacquired, clock(part.source, left));
        }
        if (part.writes && synchronises(part.ordering)) {
            writes = true;
            does_release |= releases(part.ordering);
        }
    }
    if (event.acquires) join(node, known, clock(node, unacquired));
    if (!writes) return;
    join(node, left, clock(node, does_release ? known : fenced));
    // An update goes on with the release sequence of what it found.
    for (const Part& part : parts(node))
        if (part.writes && part.updates && part.source != initially && !part.blind)
            join(node, left, clock(part.source, left));
}

void Graph::save(Saved& into) const {
    into.events = events_;
    into.parts = parts_;
    into.clocks = clocks_;
    into.stride = stride_;
    into.orders.clear();
    into.writes.clear();
    for (u32 cell = 0; cell < cells_.size(); ++cell) {
        const std::vector<Node>& writes = cells_[cell].writes;
        if (writes.empty()) continue;
        into.orders.emplace_back(cell, static_cast<u32>(writes.size()));
        into.writes.insert(into.writes.end(), writes.begin(), writes.end());
    }
}

void Graph::clear() {
    for (std::vector<Node>& nodes : of_thread_) nodes.clear();
    strong_fences_.clear();
    for (Cell& cell : cells_) {
        cell.writes.clear();
        cell.readers.clear();
    }
    created_by_ = filled();
    creations_.clear();
    creations_before_.clear();
    events_.clear();
    parts_.clear();
    clocks_.clear();
}

void Graph::restore(Saved& saved) {
    clear();
    events_.swap(saved.events);
    parts_.swap(saved.parts);
    if (saved.stride == stride_)
        clocks_.swap(saved.clocks);
    else
        clocks_ = widened(saved.clocks, saved.stride, stride_);
    auto write = saved.writes.begin();
    for (const auto& [cell, count] : saved.orders) {
        cells_[cell].writes.assign(write, write + count);
        write += count;
    }
    for (Node node = 0; node < size(); ++node) {
        for (const Part& part : parts(node))
            if (part.reads) cells_[part.cell].readers.push_back(node);
        index(node);
    }
}

void Graph::keep_only(const std::vector<bool>& keeps) {
    std::vector<Node> renamed(size(), nobody);
    Node next = 0;
    for (Node node = 0; node < size(); ++node)
        if (keeps[node]) renamed[node] = next++;
    for (Cell& cell : cells_) {
        std::erase_if(cell.writes, [&](Node node) { return !keeps[node]; });
        for (Node& node : cell.writes) node = renamed[node];
        cell.readers.clear();
    }
    for (std::vector<Node>& nodes : of_thread_) nodes.clear();
    strong_fences_.clear();
    created_by_ = filled();
    creations_.clear();
    creations_before_.clear();
    u32 end = 0;
    const std::size_t width = std::size_t{clocks_of_event} * stride_;
    const Node before = size();
    for (Node node = 0; node < before; ++node) {
        if (!keeps[node]) continue;
        const Node to = renamed[node];
        const u32 begin = events_[node].parts;
        if (to != node) {
            events_[to] = std::move(events_[node]);
            std::copy_n(clocks_.begin() + static_cast<std::ptrdiff_t>(node * width), width,
                        clocks_.begin() + static_cast<std::ptrdiff_t>(to * width));
        }
        GraphEvent& event = events_[to];
        for (u32 i = 0; i < event.count; ++i) {
            Part part = parts_[begin + i];
            if (part.source != initially) part.source = renamed[part.source];
            parts_[end + i] = part;
            if (part.reads) cells_[part.cell].readers.push_back(to);
        }
        event.parts = end;
        end += event.count;
    }
    events_.resize(next);
    parts_.resize(end);
    clocks_.resize(next * width);
    for (Node node = 0; node < next; ++node) index(node);
}

}  // namespace mazurka
