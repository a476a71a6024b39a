#include "graphs/fences.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "graphs/models.hpp"
#include "graphs/paths.hpp"

namespace mazurka {

namespace {

// Looks for a circle in `psc` by way of an event that was added last. There was none without it, and nothing comes
// after it by happens-before: so a circle leaves it, or a fence before it, for what is newer than the event in its
// cell, and comes back. From there on, `scb` leads to events; those that are seq_cst lead on, and so do fences, by what
// comes before or after them. Each event is left once.
class Psc {
public:
    Psc(const Graph& graph, Graph::Clock before, bool accesses, Node added)
        : graph_(graph), before_(before), accesses_(accesses), added_(added), buffers_(buffers()) {}

    bool is_acyclic() {
        if (!is_access(added_)) return true;
        const bool counts = is_ordered_access(added_);
        const bool fenced = std::ranges::any_of(graph_.strong_fences(), [&](Node fence) { return hb(fence, added_); });
        if (!counts && !fenced) return true;
        const Part& part = graph_.parts(added_)[0];
        const u32 place = place_of(added_);
        if (place == graph_.newest(part.cell)) return true;
        buffers_.clear(graph_);
        if (accesses_) {
            arrive_at_newer(part.cell, place);
            go_on();
            if (found_ || (counts && buffers_.met[added_] != 0)) return false;
        }
        if (fenced) {
            look_for_fences(added_, place);
            go_on();
        }
        return !found_;
    }

private:
    // Made once in a thread.
    struct Buffers {
        std::vector<u8> met;                     // by nodes: `scb` leads there, ...
        std::vector<u8> left;                    // ... and it was gone on from there
        std::vector<u8> reached;                 // by fences
        std::vector<Node> waiting;               // to be left, ...
        std::vector<Node> fences;                // ... also by what comes after them
        std::vector<u32> newer_than;             // by cells: all newer writes are met
        std::vector<u32> standing;               // by cells: whoever stands higher has been asked for fences
        std::array<u32, max_slots> met_from;     // by threads: all events from this one on are met, ...
        std::array<u32, max_slots> fenced_from;  // ... or come after a fence that is reached

        void clear(const Graph& graph) {
            met.assign(graph.size(), 0);
            left.assign(graph.size(), 0);
            reached.assign(graph.strong_fences().size(), 0);
            waiting.clear();
            fences.clear();
            newer_than.assign(graph.cells().size(), ~u32{0});
            standing.assign(graph.cells().size(), ~u32{0});
            met_from.fill(~u32{0});
            fenced_from.fill(~u32{0});
        }
    };
    static Buffers& buffers() {
        thread_local Buffers all;
        return all;
    }

    bool is_access(Node node) const {
        const GraphEvent& event = graph_[node];
        if (event.count != 1 || (event.kind != EventKind::read && event.kind != EventKind::write)) return false;
        return event.kind == EventKind::write || !graph_.parts(node)[0].blind;
    }
    bool is_event(Node node) const {
        return graph_[node].kind != EventKind::local && graph_[node].kind != EventKind::choice;
    }
    bool is_ordered_access(Node node) const {
        return accesses_ && !graph_[node].whole && is_access(node) &&
               graph_.parts(node)[0].ordering == Ordering::seq_cst;
    }
    bool hb(Node x, Node y) const { return x != y && graph_.is_before(x, y, before_); }
    bool same_place(Node x, Node y) const {
        return is_access(x) && is_access(y) && graph_.parts(x)[0].cell == graph_.parts(y)[0].cell;
    }
    // Of an access: of the write that it is or reads from.
    u32 place_of(Node node) const {
        const Part& part = graph_.parts(node)[0];
        return graph_.place_of(part.writes ? node : part.source, part.cell);
    }

    void go_on() {
        while (!found_ && !(buffers_.waiting.empty() && buffers_.fences.empty())) {
            if (!buffers_.fences.empty()) {
                const Node fence = buffers_.fences.back();
                buffers_.fences.pop_back();
                leave_fence(fence);
            } else {
                const Node node = buffers_.waiting.back();
                buffers_.waiting.pop_back();
                leave(node);
            }
        }
    }

    // By `scb`.
    void arrive(Node node) {
        if (std::exchange(buffers_.met[node], 1) != 0) return;
        if (is_ordered_access(node)) buffers_.waiting.push_back(node);
        reach_fences(node);
    }
    // All fences that are this event or come after it.
    void reach_fences(Node node) {
        const std::vector<Node>& fences = graph_.strong_fences();
        for (std::size_t i = 0; i < fences.size(); ++i) {
            if (buffers_.reached[i] != 0 || !graph_.is_before(node, fences[i], before_)) continue;
            buffers_.reached[i] = 1;
            buffers_.fences.push_back(fences[i]);
            found_ |= hb(fences[i], added_);
        }
    }

    // [F] ; hb? before `scb`, and [F] ; hb ; (eco ; hb)? ; [F].
    void leave_fence(Node fence) {
        reach_fences(fence);
        for (Slot thread = 0; thread < graph_.stride(); ++thread) {
            const std::vector<Node>& nodes = graph_.of_thread(thread);
            const u32 first = first_after(nodes, fence);
            const u32 end = std::min(buffers_.fenced_from[thread], static_cast<u32>(nodes.size()));
            buffers_.fenced_from[thread] = std::min(buffers_.fenced_from[thread], first);
            for (u32 i = first; i < end; ++i) {
                if (!is_event(nodes[i])) continue;
                if (accesses_) leave(nodes[i]);
                if (is_access(nodes[i])) look_for_fences(nodes[i], place_of(nodes[i]));
            }
        }
    }

    // What is ahead of an access at this place in extended coherence order, and the fences that come after that.
    void look_for_fences(Node node, u32 place) {
        const Part& part = graph_.parts(node)[0];
        const u32 standing = 2 * place + (part.writes ? 0 : 1);
        u32& lowest = buffers_.standing[part.cell];
        if (standing >= lowest) return;
        const u32 before = std::exchange(lowest, standing);
        const Cell& cell = graph_.cells()[part.cell];
        const auto is_new = [&](u32 other) { return other > standing && other <= before; };
        for (u32 i = place; i < cell.writes.size(); ++i)
            if (is_new(2 * (i + 1)) && is_access(cell.writes[i])) reach_fences(cell.writes[i]);
        for (const Node reader : cell.readers)
            if (is_access(reader) && is_new(2 * place_of(reader) + 1)) reach_fences(reader);
    }

    // scb = po ∪ po≠loc ; hb ; po≠loc ∪ hb|loc ∪ mo ∪ fr
    void leave(Node node) {
        if (std::exchange(buffers_.left[node], 1) != 0) return;
        const GraphEvent& event = graph_[node];
        const std::vector<Node>& mine = graph_.of_thread(event.thread);
        arrive_from(event.thread, event.index);
        // Where the thread goes next to do something elsewhere. A seq_cst access of the same place goes there, too.
        u32 next = event.index;
        while (next < mine.size() &&
               (!is_event(mine[next]) || (same_place(node, mine[next]) && !is_ordered_access(mine[next]))))
            ++next;
        if (next < mine.size() && !same_place(node, mine[next])) arrive_elsewhere(mine[next]);
        if (!is_access(node)) return;
        const u32 number = graph_.parts(node)[0].cell;
        arrive_at_newer(number, place_of(node));
        const Cell& cell = graph_.cells()[number];
        if ((cell.threads & ~(u64{1} << event.thread)) == 0) return;
        for (const Node reader :
             std::ranges::subrange(std::ranges::upper_bound(cell.readers, node), cell.readers.end()))
            if (is_access(reader) && hb(node, reader)) arrive(reader);
    }

    // From an event that is about another place than the one before it.
    void arrive_elsewhere(Node from) {
        for (Slot thread = 0; thread < graph_.stride(); ++thread) {
            const std::vector<Node>& nodes = graph_.of_thread(thread);
            if (thread == graph_[from].thread || nodes.empty()) continue;
            const Node creation = graph_.created_by(thread);
            const bool is_started = creation != nobody && graph_.is_before(from, creation, before_);
            const auto start = is_started ? std::ranges::upper_bound(nodes, creation) : nodes.end();
            const auto first_started = static_cast<u32>(start - nodes.begin());
            u32 first = first_after(nodes, from);
            while (first < nodes.size() && !is_event(nodes[first])) ++first;
            // What is about another place than the first one.
            u32 other = first + 1;
            const u32 end = std::min({buffers_.met_from[thread], first_started, static_cast<u32>(nodes.size())});
            while (other < end && (!is_event(nodes[other]) || same_place(nodes[first], nodes[other]))) ++other;
            arrive_from(thread, std::min(other, first_started));
        }
    }

    // Where the events of a thread begin that come after this one, or are it.
    u32 first_after(const std::vector<Node>& nodes, Node node) const {
        const auto is_earlier = [&](Node other) { return !graph_.is_before(node, other, before_); };
        return static_cast<u32>(std::ranges::partition_point(nodes, is_earlier) - nodes.begin());
    }
    void arrive_from(Slot thread, u32 first) {
        const std::vector<Node>& nodes = graph_.of_thread(thread);
        const u32 end = std::min(buffers_.met_from[thread], static_cast<u32>(nodes.size()));
        if (first >= end) return;
        buffers_.met_from[thread] = first;
        for (u32 i = first; i < end; ++i)
            if (is_event(nodes[i])) arrive(nodes[i]);
    }
    void arrive_at_newer(u32 number, u32 place) {
        const std::vector<Node>& writes = graph_.cells()[number].writes;
        const u32 end = std::min(buffers_.newer_than[number], static_cast<u32>(writes.size()));
        if (place >= end) return;
        buffers_.newer_than[number] = place;
        for (u32 i = place; i < end; ++i)
            if (is_access(writes[i])) arrive(writes[i]);
    }

    const Graph& graph_;
    Graph::Clock before_;
    bool accesses_;
    Node added_;
    Buffers& buffers_;
    bool found_ = false;  // a fence before the event that was added
};

}  // namespace

bool is_psc_acyclic(const Graph& graph, Node added, Graph::Clock before, bool accesses) {
    return Psc(graph, before, accesses, added).is_acyclic();
}

bool are_sections_in_order(const Graph& graph, Node added, Graph::Clock before) {
    if (!graph[added].section) return true;
    // By threads: what was met, and all sections after that, are met as far as here.
    std::array<u32, max_slots> ends;
    for (Slot thread = 0; thread < graph.stride(); ++thread)
        ends[thread] = static_cast<u32>(graph.of_thread(thread).size());
    const auto each = [&](Node node, auto visit) {
        for (Slot thread = 0; thread < graph.stride(); ++thread) {
            u32& end = ends[thread];
            const std::vector<Node>& nodes = graph.of_thread(thread);
            for (; end > 0 && graph.is_before(node, nodes[end - 1], before); --end)
                if (nodes[end - 1] != node && graph[nodes[end - 1]].section) visit(nodes[end - 1]);
        }
        each_conflict(graph, node, true, visit);
        each_of_section(graph, node, visit);
    };
    return !Walk(graph.size()).returns(graph, added, each, [&](Node node) {
        return graph.is_before(node, added, before);
    });
}

bool comes_before(MemoryModel model, const Graph& graph, Node node, Node write,
                  const std::function<bool(Node)>& there) {
    const Graph::Clock before = model == MemoryModel::c11 ? Graph::known : Graph::past;
    return Walk(graph.size()).leaves_for(graph, node, write, there, [&](Node at, auto visit) {
        if (model == MemoryModel::sc)
            each_after_sc(graph, at, visit);
        else
            each_section_after(graph, at, before, visit);
    });
}

}  // namespace mazurka
