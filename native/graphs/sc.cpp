// Sequential consistency: there is one order of everything. Program order, reads-from, modification order and from-read
// (a read comes before the writes that overwrite what it reads) have no circle.
#include "graphs/models.hpp"
#include "graphs/paths.hpp"

namespace mazurka {

namespace {

template <class Visit>
void each_after(const Graph& graph, Node node, Visit visit) {
    const GraphEvent& event = graph[node];
    const std::vector<Node>& mine = graph.of_thread(event.thread);
    if (event.index < mine.size()) visit(mine[event.index]);
    each_creation(graph, node, visit);
    each_conflict(graph, node, true, visit);
    each_of_section(graph, node, visit);
}

}  // namespace

void each_after_sc(const Graph& graph, Node node, const Visit& visit) { each_after(graph, node, visit); }

bool is_consistent_sc(const Graph& graph, Node added) {
    const auto leads_back = [&](Node node) { return graph.is_before(node, added, Graph::past); };
    return !Walk(graph.size())
                .returns(graph, added, [&](Node node, auto visit) { each_after(graph, node, visit); }, leads_back);
}

bool is_ordered_sc(const Graph& graph, Node first, Node second) {
    return Walk(graph.size()).reaches(first, second, [&](Node node, auto visit) { each_after(graph, node, visit); });
}

}  // namespace mazurka
