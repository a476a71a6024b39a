// Total store order, as on x86: a thread's writes become visible to the others in program order, but perhaps later than
// the reads after them. From Alglave, Maranget and Tautschnig, "Herding cats" (TOPLAS 2014).
#include "graphs/buffers.hpp"

namespace mazurka {

namespace {

auto order(const Graph& graph) {
    const auto kept = [&graph](Node first, Node second) {
        if (graph[first].count == 0 || graph[second].count == 0) return false;
        return graph[first].kind != EventKind::write || graph[second].kind != EventKind::read;
    };
    return BufferOrder(graph, kept);
}

}  // namespace

bool is_consistent_tso(const Graph& graph, Node added) { return !order(graph).returns(added); }
bool is_ordered_tso(const Graph& graph, Node first, Node second) { return order(graph).reaches(first, second); }

}  // namespace mazurka
