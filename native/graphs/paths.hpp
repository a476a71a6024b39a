// Looking for circles in graphs.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "graphs/graph.hpp"

namespace mazurka {

// Calls `visit` with those who read from a write: later nodes, so that the others need not be looked at.
template <class Visit>
void each_reader(const Graph& graph, Node write, u32 cell, Visit visit) {
    const std::vector<Node>& readers = graph.cells()[cell].readers;
    for (std::size_t i = readers.size(); i > 0 && readers[i - 1] > write; --i)
        if (graph.part(readers[i - 1], cell)->source == write) visit(readers[i - 1]);
}

// Calls `visit` with the writes that an event comes before in modification order, or because it reads what they
// overwrite; and, if `reads_from`, with those that read what it writes. Only the next write is told: the others follow.
template <class Visit>
void each_conflict(const Graph& graph, Node node, bool reads_from, Visit visit) {
    for (const Part& part : graph.parts(node)) {
        if (part.writes) {
            if (const Node next = graph.write_after(node, part.cell); next != nobody) visit(next);
            if (reads_from) each_reader(graph, node, part.cell, visit);
        }
        if (part.reads) {
            const Node next = graph.write_after(part.source, part.cell);
            if (next != nobody && next != node) visit(next);
        }
    }
}

// What a search over nodes has met; its buffers are made once in a thread.
class Walk {
public:
    explicit Walk(Node size) : met_(buffer()), waiting_(stack()) {
        met_.assign(size, false);
        waiting_.clear();
    }
    // Whether `goal` can be reached from `start` in one step or more. `each(node, visit)` calls `visit` with
    // successors.
    template <class Each>
    bool reaches(Node start, Node goal, Each each) {
        bool found = false;
        const auto visit = [&](Node next) {
            if (next == goal) found = true;
            if (met_[next]) return;
            met_[next] = true;
            waiting_.push_back(next);
        };
        each(start, visit);
        while (!found && !waiting_.empty()) {
            const Node node = waiting_.back();
            waiting_.pop_back();
            each(node, visit);
        }
        return found;
    }

    // Whether there is a way from an event, or from the section that it is part of, back to it. There is one from
    // whatever `leads_back`.
    template <class Each, class LeadsBack>
    bool returns(const Graph& graph, Node start, Each each, LeadsBack leads_back) {
        bool found = false;
        const bool section = graph[start].section;
        const auto is_start = [&](Node node) {
            return node == start ||
                   (section && graph[node].thread == graph[start].thread && graph[node].step == graph[start].step);
        };
        const auto leave = [&](Node next) {
            if (met_[next] || is_start(next)) return;
            found |= leads_back(next);
            met_[next] = true;
            waiting_.push_back(next);
        };
        const auto visit = [&](Node next) {
            found |= is_start(next);
            leave(next);
        };
        if (section)
            for (const Node node : graph.step_of(start)) each(node, leave);
        else
            each(start, leave);
        while (!found && !waiting_.empty()) {
            const Node node = waiting_.back();
            waiting_.pop_back();
            each(node, visit);
        }
        return found;
    }

    // Whether `goal` can be reached from what a section has read before a node, by way of others that are `there`.
    template <class There, class Each>
    bool leaves_for(const Graph& graph, Node node, Node goal, There there, Each each) {
        bool found = false;
        const GraphEvent& event = graph[node];
        const auto visit = [&](Node next) {
            if (graph[next].thread == event.thread && graph[next].step == event.step) return;
            if (!there(next) || met_[next]) return;
            found |= next == goal;
            met_[next] = true;
            waiting_.push_back(next);
        };
        for (const Node earlier : graph.step_of(node))
            if (earlier != node && graph[earlier].index < event.index) each_conflict(graph, earlier, false, visit);
        while (!found && !waiting_.empty()) {
            const Node at = waiting_.back();
            waiting_.pop_back();
            each(at, visit);
        }
        return found;
    }

private:
    static std::vector<bool>& buffer() {
        thread_local std::vector<bool> all;
        return all;
    }
    static std::vector<Node>& stack() {
        thread_local std::vector<Node> all;
        return all;
    }
    std::vector<bool>& met_;
    std::vector<Node>& waiting_;
};

// Calls `visit` with the first events of the threads that an event creates.
template <class Visit>
void each_creation(const Graph& graph, Node node, Visit visit) {
    const GraphEvent& event = graph[node];
    for (const LocalAct& act : event.acts) {
        const std::vector<Node>& theirs = graph.of_thread(act.created);
        const auto first = std::ranges::upper_bound(theirs, node);
        if (first != theirs.end()) visit(*first);
    }
}

// A section is at one place in every order: calls `visit` with its other nodes.
template <class Visit>
void each_of_section(const Graph& graph, Node node, Visit visit) {
    if (!graph[node].section) return;
    for (const Node other : graph.step_of(node))
        if (other != node) visit(other);
}

// Whether sections, with what comes before what otherwise, are in one order.
bool are_sections_in_order(const Graph& graph, Node added, Graph::Clock before);

// Calls `visit` with what comes after a node in that order, and belongs to sections.
template <class Visit>
void each_section_after(const Graph& graph, Node node, Graph::Clock before, Visit visit) {
    // Of each thread, the first one: the others follow.
    for (Slot thread = 0; thread < graph.stride(); ++thread) {
        const std::vector<Node>& nodes = graph.of_thread(thread);
        const auto is_later = [&](Node other) { return graph.is_before(node, other, before); };
        for (auto other = std::ranges::partition_point(nodes, std::not_fn(is_later)); other != nodes.end(); ++other)
            if (*other != node && graph[*other].section) {
                visit(*other);
                break;
            }
    }
    each_conflict(graph, node, true, visit);
    each_of_section(graph, node, visit);
}

}  // namespace mazurka
