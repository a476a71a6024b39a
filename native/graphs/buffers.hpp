// What tso and pso have in common: writes wait in buffers, and only some of program order is left.
#pragma once

#include "graphs/models.hpp"
#include "graphs/paths.hpp"

namespace mazurka {

inline bool is_write(const Graph& graph, Node node) { return graph[node].kind == EventKind::write; }

// Whether everything before it comes before it, and everything after it after: a locked instruction (also a
// compare-exchange that fails), a store that is seq_cst, which compilers make one, and a full fence. So are sections.
inline bool is_full_fence(const Graph& graph, Node node) {
    const GraphEvent& event = graph[node];
    if (event.section) return true;
    switch (event.kind) {
        case EventKind::fence: return event.ordering == Ordering::seq_cst;
        case EventKind::write: return event.locked || graph.parts(node)[0].ordering == Ordering::seq_cst;
        case EventKind::read: return event.locked;
        case EventKind::choice:
        case EventKind::local: return false;
    }
    return false;
}

// Whether an execution has a global order: `kept(earlier, later)` says which pairs of a thread are in order.
template <class Kept>
class BufferOrder {
public:
    BufferOrder(const Graph& graph, Kept kept) : graph_(graph), kept_(kept) {}

    bool reaches(Node start, Node goal) const {
        return Walk(graph_.size()).reaches(start, goal, [&](Node node, auto visit) { each_after(node, visit); });
    }

    bool returns(Node start) const {
        return Walk(graph_.size())
            .returns(
                graph_, start, [&](Node node, auto visit) { each_after(node, visit); }, [](Node) { return false; });
    }

private:
    template <class Visit>
    void each_after(Node node, Visit visit) const {
        const GraphEvent& event = graph_[node];
        const std::vector<Node>& mine = graph_.of_thread(event.thread);
        for (u32 i = event.index; i < mine.size(); ++i)
            if (is_full_fence(graph_, node) || is_full_fence(graph_, mine[i]) || kept_(node, mine[i])) visit(mine[i]);
        // Whoever creates a thread has finished what it wrote.
        for (u32 i = event.index - 1; i < mine.size(); ++i)
            for (const LocalAct& act : graph_[mine[i]].acts)
                for (const Node theirs : graph_.of_thread(act.created))
                    if (theirs > mine[i]) visit(theirs);
        each_conflict(graph_, node, false, visit);
        each_of_section(graph_, node, visit);
        for (const Part& part : graph_.parts(node))
            if (part.writes)
                for (const Node reader : graph_.cells()[part.cell].readers)
                    if (graph_[reader].thread != event.thread && graph_.part(reader, part.cell)->source == node)
                        visit(reader);
    }

    const Graph& graph_;
    Kept kept_;
};

}  // namespace mazurka
