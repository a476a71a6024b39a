// What ra and c11 say about fences that are seq_cst, and c11 about accesses that are: they are in one order.
#pragma once

#include "graphs/graph.hpp"

namespace mazurka {

// Whether the partial order `psc` of Lahav, Vafeiadis, Kang, Hur and Dreyer, "Repairing sequential consistency in
// C/C++11" (PLDI 2017), has no circle now that an event was added. `before` is happens-before; `accesses`: it counts
// for accesses, too, not only for fences.
bool is_psc_acyclic(const Graph& graph, Node added, Graph::Clock before, bool accesses);

}  // namespace mazurka
