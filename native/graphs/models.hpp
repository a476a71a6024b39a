// Memory models: which graphs are executions of a program. One file each.
//
// All of them are asked in the same way, only when an event was added that does not come last in every respect: one
// that reads an older write, or writes before another one. Nothing leads on from an event that comes last, so that it
// is on no circle, and the models forbid nothing else.
#pragma once

#include <functional>

#include "graphs/graph.hpp"

namespace mazurka {

bool is_consistent_sc(const Graph& graph, Node added);
bool is_consistent_tso(const Graph& graph, Node added);
bool is_consistent_pso(const Graph& graph, Node added);
bool is_consistent_ra(const Graph& graph, Node added);
bool is_consistent_c11(const Graph& graph, Node added);

// Whether two events are in an order that every execution of the graph keeps.
bool is_ordered_sc(const Graph& graph, Node first, Node second);
bool is_ordered_tso(const Graph& graph, Node first, Node second);
bool is_ordered_pso(const Graph& graph, Node first, Node second);
bool is_ordered_ra(const Graph& graph, Node first, Node second);
bool is_ordered_c11(const Graph& graph, Node first, Node second);

inline bool is_consistent(MemoryModel model, const Graph& graph, Node added) {
    switch (model) {
        case MemoryModel::sc: return is_consistent_sc(graph, added);
        case MemoryModel::tso: return is_consistent_tso(graph, added);
        case MemoryModel::pso: return is_consistent_pso(graph, added);
        case MemoryModel::ra: return is_consistent_ra(graph, added);
        case MemoryModel::c11: return is_consistent_c11(graph, added);
    }
    return false;
}

// Which other events of sections every execution of a graph has after a node of one.
using Visit = std::function<void(Node)>;
void each_after_sc(const Graph& graph, Node node, const Visit& visit);

// Whether a section, by what it has read before a node, comes before a write, as far as others that are `there` say.
bool comes_before(MemoryModel model, const Graph& graph, Node node, Node write, const std::function<bool(Node)>& there);

// Whether an event of a thread whose last one (or whose creation) is `last` must not read past `earlier`: that comes
// before it in a way that counts for coherence.
inline bool counts_for(MemoryModel model, const Graph& graph, Slot thread, Node last, Node earlier) {
    if (model == MemoryModel::pso) return graph[earlier].thread == thread;
    if (last == nobody) return false;
    return graph.is_before(earlier, last, model == MemoryModel::c11 ? Graph::known : Graph::past);
}

inline bool is_ordered(MemoryModel model, const Graph& graph, Node first, Node second) {
    switch (model) {
        case MemoryModel::sc: return is_ordered_sc(graph, first, second);
        case MemoryModel::tso: return is_ordered_tso(graph, first, second);
        case MemoryModel::pso: return is_ordered_pso(graph, first, second);
        case MemoryModel::ra: return is_ordered_ra(graph, first, second);
        case MemoryModel::c11: return is_ordered_c11(graph, first, second);
    }
    return false;
}

}  // namespace mazurka
