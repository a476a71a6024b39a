// What ra and c11 say about fences that are seq_cst, and c11 about accesses that are: they are in one order.
#pragma once

#include "graphs/graph.hpp"

namespace mazurka {

// Where an event stands among those of its cell: the place of the write that it is or reads from, and whether it reads.
struct Standing {
    u32 cell;
    u32 place;
    bool reads;
};

// Extended coherence order: rf, mo, fr, and what follows from them.
inline bool comes_before(const Standing& x, const Standing& y) {
    if (x.cell != y.cell) return false;
    return x.place < y.place || (x.place == y.place && !x.reads && y.reads);
}

// Whether the partial order `psc` of Lahav, Vafeiadis, Kang, Hur and Dreyer, "Repairing sequential consistency in
// C/C++11" (PLDI 2017), has no circle. `before` is happens-before; `accesses`: it counts for accesses, too, not only
// for fences.
bool is_psc_acyclic(const Graph& graph, Graph::Clock before, bool accesses);

}  // namespace mazurka
