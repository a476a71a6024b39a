// A write that revisits a read: what may be removed for that, and how it is done.
#include "graphs/explorer.hpp"

namespace mazurka {

// Whether an event was added as late as it could be, as of what was there before it or is in the past of who removes
// it.
bool GraphExploration::is_maximal(Node node, const std::vector<u32>& past) {
    const GraphEvent& event = graph_[node];
    if (event.choice != 0 || event.displaced.thread != 0) return false;
    const auto was_there = [&](Node other) { return graph_[other].stamp < event.stamp || sees(past, other); };
    // A section reads the newest of those that do not come after it by what it has read before.
    const auto excludes = [&](Node write) {
        if (!event.section || event.index == event.step) return false;
        if (!leaves_open() || is_settled()) return comes_before(options_.memory, graph_, node, write, was_there);
        see_before(node, past);
        return !witness_.exists(options_.memory, graph_, {.there = &before_, .read = node, .source = write});
    };
    for (const Part& part : graph_.parts(node)) {
        const Cell& cell = graph_.cells()[part.cell];
        // Where the order of writes is open, see `is_preferred`.
        const std::size_t end = cell.ordered ? cell.writes.size() : 0;
        if (!cell.ordered && !part.writes && part.source != initially && !was_there(part.source)) return false;
        for (std::size_t i = graph_.place_of(part.writes ? node : part.source, part.cell); i < end; ++i)
            if (was_there(cell.writes[i]) && (part.writes || !excludes(cell.writes[i]))) return false;
        if (part.writes)
            for (const Node reader : cell.readers)
                if (graph_[reader].stamp < event.stamp && graph_.part(reader, part.cell)->source == node) return false;
    }
    return true;
}

bool GraphExploration::may_revisit(Node target, const std::vector<u32>& past) {
    const u64 stamp = graph_[target].stamp;
    const auto goes = [&](Node node) {
        return graph_[node].stamp >= stamp && graph_[node].kind != EventKind::fence && !sees(past, node);
    };
    for (Node node = 0; node < graph_.size(); ++node)
        if (goes(node) && !is_maximal(node, past)) return false;
    for (Node node = 0; leaves_open() && node < graph_.size(); ++node)
        if (goes(node) && !is_preferred(node, past)) return false;
    return true;
}

// Remove what has to go.
void GraphExploration::cut(Node target, const std::vector<u32>& past) {
    withdraw();
    const u64 stamp = graph_[target].stamp;
    std::vector<bool> keeps(graph_.size());
    for (Node node = 0; node < graph_.size(); ++node) {
        const GraphEvent& event = graph_[node];
        if (event.kind == EventKind::fence) {
            // It goes with the step that it belongs to.
            const Node before =
                event.index > 1 ? graph_.of_thread(event.thread)[event.index - 2] : graph_.created_by(event.thread);
            keeps[node] = before == nobody || keeps[before];
        } else {
            keeps[node] = event.stamp < stamp || sees(past, node);
        }
    }
    const auto first = static_cast<Node>(std::ranges::find(keeps, false) - keeps.begin());
    if (level_ == levels_.size()) levels_.emplace_back();
    graph_.save(levels_[level_].graph);
    levels_[level_++].first = first;
    if (synced_ > first) {
        machine_.rewind(graph_[first].mark);
        synced_ = first;
    }
    graph_.keep_only(keeps);
    for (Node node = 0; node < graph_.size(); ++node) {
        if (graph_[node].displaced.stamp > stamp) graph_[node].displaced = {};
        if (graph_[node].stamp > stamp) graph_[node].asleep = 0;
    }
    sync(graph_.size());
}

bool GraphExploration::revisit(const Todo& given) {
    const std::vector<u32> past = past_of(given.thread);
    const GraphEvent& target = graph_[given.target];
    Todo next = given;
    next.kind = Todo::Kind::put;
    next.asleep = asleep_ = 0;
    next.revisited = {target.thread, target.index, target.stamp};
    next.cell = graph_.parts(given.target)[0].cell;
    cut(given.target, past);
    next.level = level_;
    next.length = graph_.size();
    attempt_newest(given.thread, nullptr);
    if (divided_) return false;
    if (!is_blind()) return put(next);
    withdraw();
    const std::size_t before = todo_.size();
    offer_places(given.thread, next, true);
    divide(before, 0);
    if (todo_.size() > before) share_ = 0;
    return false;
}

bool GraphExploration::put(const Todo& given) {
    const Slot thread = given.thread;
    if (!open_) attempt_newest(thread, nullptr);
    if (divided_) return false;
    std::vector<u32> places;
    bool newest = is_late(thread);
    for (u32 i = 0; i < writes_.size(); ++i) {
        const Part& part = writes_[i];
        u32 place = given.places.empty() ? graph_.newest(part.cell) : given.places[i];
        if (part.updates) {
            if (graph_.updater_of(part.source, part.cell) != nobody) return false;
            if (graph_.cells()[part.cell].ordered)
                place = graph_.place_of(part.source, part.cell);
            else
                newest &= is_last(part.source, part.cell);
        }
        newest &= place == graph_.newest(part.cell);
        places.push_back(place);
    }
    Todo next = given;
    next.source = graph_.size();
    if (!add_write(thread, places, newest)) return false;
    // Let the one who is revisited read from the write.
    const Slot reader = given.revisited.thread;
    if (graph_.place_of(next.source, given.cell) < lowest_place(reader, given.cell)) return false;
    if (!is_free(reader, given.cell, next.source)) return false;
    const bool enabled = attempt_newest(reader, &next);
    return !divided_ && go_on(reader, enabled, &next);
}

}  // namespace mazurka
