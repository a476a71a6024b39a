// Release-acquire: every access is one, whatever it says. Happens-before is program order and reads-from; coherence,
// atomicity, and the order of fences that are seq_cst.
#include "graphs/fences.hpp"
#include "graphs/models.hpp"
#include "graphs/paths.hpp"

namespace mazurka {

// Coherence and atomicity hold by how events are added: see `counts_for`, and the explorer.
bool is_consistent_ra(const Graph& graph, Node added) {
    return are_sections_in_order(graph, added, Graph::past) && is_psc_acyclic(graph, added, Graph::past, false);
}

bool is_ordered_ra(const Graph& graph, Node first, Node second) { return graph.is_before(first, second, Graph::past); }

}  // namespace mazurka
