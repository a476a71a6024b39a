// Threads that are alike in graphs: which of them goes first, and what tells them apart. See docs/memory-models.md.
#include "explore/symmetry.hpp"

#include "graphs/explorer.hpp"

namespace mazurka {

// Whether two cells are the same, or the same of each of two threads.
bool GraphExploration::is_same_place(u32 cell, Slot thread, u32 other_cell, Slot other) const {
    if (cell == other_cell) {
        const Slot owner = owner_of(object_of(graph_.cells()[cell].address));
        return owner != thread && owner != other;
    }
    const Cell& one = graph_.cells()[cell];
    const Cell& two = graph_.cells()[other_cell];
    const u64 mine = object_of(one.address), theirs = object_of(two.address);
    return owner_of(mine) == thread && owner_of(theirs) == other && number_of(mine) == number_of(theirs) &&
           one.size == two.size && one.address - (mine << offset_bits) == two.address - (theirs << offset_bits);
}

// Whether two events of threads that have done the same before do the same: they read the same, and write nothing but
// to memory of their own.
bool GraphExploration::is_same(Node one, Node other) const {
    const GraphEvent& event = graph_[one];
    const GraphEvent& before = graph_[other];
    if (event.kind != before.kind || event.count != before.count || event.choice != before.choice ||
        event.ordering != before.ordering)
        return false;
    for (u32 i = 0; i < event.count; ++i) {
        const Part& part = graph_.parts(one)[i];
        const Part& twin = graph_.parts(other)[i];
        if (!is_same_place(part.cell, event.thread, twin.cell, before.thread)) return false;
        if (part.cell == twin.cell) {
            if (part.writes || twin.writes || part.source != twin.source) return false;
        } else if (graph_.place_of(part.source, part.cell) != graph_.place_of(twin.source, twin.cell)) {
            return false;
        }
    }
    return true;
}

// What the next event of a thread comes after, because another one that is alike has done the same so far: the step of
// that one in the same place.
GraphExploration::Twin GraphExploration::twin_of_next(Slot thread) const {
    const Slot other = symmetric_ ? machine_.alike(thread) : 0;
    if (other == 0) return {false, nobody};
    const std::vector<Node>& mine = graph_.of_thread(thread);
    const std::vector<Node>& theirs = graph_.of_thread(other);
    for (std::size_t i = 0; i < mine.size(); ++i)
        if (i >= theirs.size() || !is_same(mine[i], theirs[i])) return {false, nobody};
    if (mine.size() >= theirs.size()) return {true, nobody};
    const Node last = graph_.step_of(theirs[mine.size()]).back();
    return {true, graph_[last].completes ? last : nobody};
}

// Of two threads that have done the same so far, the first one reads what is not newer, and writes before the other; of
// several places that are written, the first one counts, since they can be written in different orders.
bool GraphExploration::is_canonical(Node node) const {
    const GraphEvent& event = graph_[node];
    const Slot other = symmetric_ ? machine_.alike(event.thread) : 0;
    if (other == 0) return true;
    const std::vector<Node>& mine = graph_.of_thread(event.thread);
    const std::vector<Node>& theirs = graph_.of_thread(other);
    for (std::size_t i = 0; i + 1 < event.index; ++i)
        if (i >= theirs.size() || !is_same(mine[i], theirs[i])) return true;
    if (event.index > theirs.size()) return true;
    const Node twin = theirs[event.index - 1];
    for (const Part& part : graph_.parts(node))
        for (const Part& before : graph_.parts(twin)) {
            if (part.cell != before.cell || part.writes != before.writes) continue;
            const Node first = before.writes ? twin : before.source, second = part.writes ? node : part.source;
            return graph_.place_of(second, part.cell) >= graph_.place_of(first, part.cell);
        }
    return true;
}

// Whether the attempted step of a thread that is like others does what is not argued for, or tells it from them.
void GraphExploration::look_for_names(Slot thread) {
    if (!symmetric_ || machine_.grouped() == 0) return;
    bool tells = machine_.addresses_matter();
    if ((machine_.grouped() >> thread & 1) != 0) {
        tells |= effect_.guard_accesses != 0 || effect_.guarded || effect_.created != 0 || effect_.waiting.has_value();
        tells |= std::ranges::any_of(effect_.ranges, [](u32 range) { return range > 1; });
        for (const Access& access : effect_.accesses)
            tells |= (section_ || access.life == Life::ends || access.size > max_object_size) &&
                     owner_of(object_of(access.address)) != thread;
    }
    if (tells) tell_apart();
}

// The thread whose end an event has waited for; 0: it does not do that.
Slot GraphExploration::joined_by(Node node) const {
    for (const Part& part : graph_.parts(node)) {
        const Address address = graph_.cells()[part.cell].address;
        const Slot owner = owner_of(object_of(address));
        if (part.reads && !part.blind && owner != 0 && owner != graph_[node].thread &&
            address == address_of(owner, 0) + thread_done)
            return owner;
    }
    return 0;
}

// Whoever waits for the end of one of several threads that are alike does so for all, one after the other, and does
// nothing else until then.
void GraphExploration::look_for_joins(Slot thread) {
    const u64 grouped = symmetric_ ? machine_.grouped() : 0;
    if (grouped == 0) return;
    const std::vector<Node>& nodes = graph_.of_thread(thread);
    const std::size_t begin = graph_[nodes.back()].step - 1;
    const auto joins = [&](std::size_t from, std::size_t to) {
        Slot found = 0;
        for (std::size_t i = from; i < to; ++i) found = std::max(found, joined_by(nodes[i]));
        return found;
    };
    if (const Slot joined = joins(begin, nodes.size()); joined != 0) {
        const bool waits = effect_.guard_accesses != 0;
        if ((grouped >> joined & 1) != 0 && (!waits || (group_of(machine_, joined) >> thread & 1) != 0)) tell_apart();
        return;
    }
    u64 waited = 0;
    for (std::size_t end = begin; end > 0;) {
        const std::size_t from = graph_[nodes[end - 1]].step - 1;
        const Slot joined = joins(from, end);
        if (joined == 0) break;
        waited |= u64{1} << joined;
        end = from;
    }
    for (u64 rest = waited & grouped; rest != 0; rest &= rest - 1)
        if ((group_of(machine_, static_cast<Slot>(std::countr_zero(rest))) & ~waited) != 0) tell_apart();
}

u64 GraphExploration::weight() const {
    if (!symmetric_ || machine_.grouped() == 0) return 1;
    return weight_of(machine_, [&](Slot thread) {
        const std::vector<Node>& mine = graph_.of_thread(thread);
        const std::vector<Node>& theirs = graph_.of_thread(machine_.alike(thread));
        return std::ranges::equal(mine, theirs, [&](Node one, Node other) { return is_same(one, other); });
    });
}

}  // namespace mazurka
