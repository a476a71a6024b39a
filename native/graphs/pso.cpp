// Partial store order: as tso, but a thread's writes to different places are not in order, unless the later one
// releases or a fence that releases stands between them.
#include "graphs/buffers.hpp"

namespace mazurka {

namespace {

bool release_between(const Graph& graph, Node first, Node second) {
    const std::vector<Node>& mine = graph.of_thread(graph[first].thread);
    for (u32 i = graph[first].index; i + 1 < graph[second].index; ++i)
        if (graph[mine[i]].kind == EventKind::fence && releases(graph[mine[i]].ordering)) return true;
    return false;
}

auto order(const Graph& graph) {
    const auto kept = [&graph](Node first, Node second) {
        if (graph[first].count == 0 || graph[second].count == 0) return false;
        if (graph[first].kind != EventKind::write) return true;
        if (graph[second].kind == EventKind::read) return false;
        const Part& earlier = graph.parts(first)[0];
        const Part& later = graph.parts(second)[0];
        return earlier.cell == later.cell || releases(later.ordering) || release_between(graph, first, second);
    };
    return BufferOrder(graph, kept);
}

}  // namespace

bool is_consistent_pso(const Graph& graph, Node added) { return !order(graph).returns(added); }
bool is_ordered_pso(const Graph& graph, Node first, Node second) { return order(graph).reaches(first, second); }

}  // namespace mazurka
