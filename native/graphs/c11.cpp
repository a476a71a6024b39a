// The memory model of C and C++, as RC11 repairs it: coherence by happens-before, atomicity, the order of what is
// seq_cst, and no values out of thin air (program order and reads-from have no circle, by how events are added).
// Release sequences are those of C++20.
#include "graphs/fences.hpp"
#include "graphs/models.hpp"
#include "graphs/paths.hpp"

namespace mazurka {

// Coherence and atomicity hold by how events are added: see `counts_for`, and the explorer.
bool is_consistent_c11(const Graph& graph, Node added) {
    return are_sections_in_order(graph, added, Graph::known) && is_psc_acyclic(graph, added, Graph::known, true);
}

bool is_ordered_c11(const Graph& graph, Node first, Node second) {
    return graph.is_before(first, second, Graph::known);
}

}  // namespace mazurka
