// Graphs in which the order of writes is open, at places where that is not observed: executions are one if every read
// reads from the same write. See docs/memory-models.md.
//
// Events have ranks, by which they are in an order that shows that the graph is an execution. What comes last in it, a
// write, or a read of the write that was last so far, needs no more than that; for all else a witness is looked for.
#include <tuple>
#include <utility>

#include "graphs/explorer.hpp"

namespace mazurka {

// Whether the graph is one of an execution after an event was added; certainly if it `comes_last`.
bool GraphExploration::may_be(Node added, bool comes_last) {
    if (!leaves_open()) return comes_last || is_consistent(options_.memory, graph_, added);
    if (comes_last) {
        graph_[added].rank = ++ranks_;
        return true;
    }
    // Most often, it goes with the order of writes that is known; and perhaps there is no other.
    const auto is_open = [&](const Part& part) { return part.writes && !graph_.cells()[part.cell].ordered; };
    if (std::ranges::any_of(graph_.parts(added), is_open)) return adopt({});
    return (is_coherent(added) && is_consistent(options_.memory, graph_, added)) || (!is_settled() && adopt({}));
}

// Whether a read does not come before what its thread knows of, in the order of writes that is known.
bool GraphExploration::is_coherent(Node read) const {
    const GraphEvent& event = graph_[read];
    const Node before =
        event.index > 1 ? graph_.of_thread(event.thread)[event.index - 2] : graph_.created_by(event.thread);
    return before == nobody || std::ranges::all_of(graph_.parts(read), [&](const Part& part) {
               const Cell& cell = graph_.cells()[part.cell];
               return cell.ordered || std::ranges::all_of(cell.writes, [&](Node write) {
                          return write == part.source || !graph_.is_before(write, before, Graph::past) ||
                                 (part.source != initially && graph_[write].rank < graph_[part.source].rank);
                      });
           });
}

// Whether there is only one order of all writes.
bool GraphExploration::is_settled() const {
    return std::ranges::all_of(graph_.cells(), [&](const Cell& cell) {
        if (cell.ordered) return true;
        for (std::size_t i = 1; i < cell.writes.size(); ++i)
            if (!graph_.is_before(cell.writes[i - 1], cell.writes[i], Graph::past)) return false;
        return true;
    });
}

bool GraphExploration::adopt(const Witness::Question& question) {
    if (!witness_.exists(options_.memory, graph_, question)) return false;
    for (Node node = 0; node < graph_.size(); ++node)
        if (const u32 position = witness_.position(node); position != 0) graph_[node].rank = ranks_ + position;
    ranks_ += graph_.size();
    return true;
}

Node GraphExploration::last_write(u32 cell) const {
    const std::vector<Node>& writes = graph_.cells()[cell].writes;
    Node last = initially;
    for (const Node write : writes)
        if (last == initially || graph_[write].rank > graph_[last].rank) last = write;
    return last;
}

// Whether a read from this write can come after everything else.
bool GraphExploration::is_last(Node source, u32 cell) const {
    return source == (graph_.cells()[cell].ordered ? newest_before(cell, graph_.size()) : last_write(cell));
}

// The writes to a cell from which an event after `before` may read, as far as no other one is between them whatever the
// order: those that it does not know, and the last ones that it does.
std::vector<Node> GraphExploration::sources_after(Node before, u32 cell) const {
    std::vector<Node> sources, known;
    for (const Node write : graph_.cells()[cell].writes) {
        if (before == nobody || !graph_.is_before(write, before, Graph::past)) {
            sources.push_back(write);
            continue;
        }
        // Writes come here in an order of causes.
        std::erase_if(known, [&](Node other) { return graph_.is_before(other, write, Graph::past); });
        known.push_back(write);
    }
    if (known.empty()) known.push_back(initially);
    sources.insert(sources.end(), known.begin(), known.end());
    return sources;
}

// What was there before an event or is in a past, and the event.
void GraphExploration::see_before(Node node, const std::vector<u32>& past) {
    before_.assign(graph_.size(), false);
    const u64 stamp = graph_[node].stamp;
    for (Node other = 0; other < graph_.size(); ++other) {
        const GraphEvent& event = graph_[other];
        if (event.kind == EventKind::fence) {
            // It is there if the step that it belongs to is.
            const Node step =
                event.index > 1 ? graph_.of_thread(event.thread)[event.index - 2] : graph_.created_by(event.thread);
            before_[other] = step == nobody || before_[step];
        } else {
            before_[other] = other == node || event.stamp < stamp || sees(past, other);
        }
    }
}

// Where the order of writes is open, a read is added maximally if it reads from the write that is preferred: the
// deepest, of those from which it could read and write over that. This depends on nothing but what was there.
bool GraphExploration::is_preferred(Node node, const std::vector<u32>& past) {
    const GraphEvent& event = graph_[node];
    if (event.kind != EventKind::read) return true;
    const Part part = graph_.parts(node)[0];
    const Cell& cell = graph_.cells()[part.cell];
    if (cell.ordered) return true;
    const auto standing = [&](Node write) {
        const GraphEvent& one = graph_[write];
        return std::tuple(one.depth, one.thread, one.index);
    };
    const auto was_there = [&](Node other) { return graph_[other].stamp < event.stamp || sees(past, other); };
    const Node before =
        event.index > 1 ? graph_.of_thread(event.thread)[event.index - 2] : graph_.created_by(event.thread);
    bool seen = false;
    const auto is_possible = [&](Node source) {
        if (!std::exchange(seen, true)) see_before(node, past);
        return witness_.exists(options_.memory, graph_,
                               {.there = &before_, .read = node, .source = source, .updates = event.locked});
    };
    for (const Node write : sources_after(before, part.cell))
        if (write != part.source && write != initially && was_there(write) &&
            (part.source == initially || standing(write) > standing(part.source)) && is_possible(write))
            return false;
    // If it has not written, it may be that it could not have.
    const bool has_written = part.updates && graph_[graph_.step_of(node).back()].completes;
    return !event.locked || has_written || is_possible(part.source);
}

// Whether every execution of the graph has one event before the other.
bool GraphExploration::must_come_before(Node first, Node second) {
    if (!leaves_open()) return is_ordered(options_.memory, graph_, first, second);
    return !witness_.exists(options_.memory, graph_, {.first = second, .second = first});
}

// The writes to all places as they are in an execution, or in the order in which they came.
void GraphExploration::put_in_order(bool by_rank) {
    for (Cell& cell : graph_.cells())
        if (!cell.ordered)
            std::ranges::sort(cell.writes, {}, [&](Node write) { return by_rank ? graph_[write].rank : write; });
}

// Somebody looks at the memory as it is in the end: have it there. It must be known which writes are the last; if not,
// order is part of the graph there. False: it was not so far.
bool GraphExploration::know_last() {
    bool known = true;
    for (u32 number = 0; number < graph_.cells().size(); ++number) {
        const Cell& cell = graph_.cells()[number];
        if (cell.ordered || cell.writes.empty()) continue;
        const Node last = last_write(number);
        for (const Node write : cell.writes)
            if (write != last && !graph_.is_before(write, last, Graph::past)) known &= graph_.make_ordered(number);
        if (cell.ordered) continue;
        show(number, content_of(number, last));
    }
    return known;
}

}  // namespace mazurka
