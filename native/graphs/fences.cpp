#include "graphs/fences.hpp"

#include <algorithm>
#include <vector>

#include "graphs/models.hpp"
#include "graphs/paths.hpp"

namespace mazurka {

namespace {

class Psc {
public:
    Psc(const Graph& graph, Graph::Clock before, bool accesses) : graph_(graph), before_(before), accesses_(accesses) {
        for (Node node = 0; node < graph.size(); ++node) {
            const GraphEvent& event = graph[node];
            if (event.kind == EventKind::fence) {
                if (event.ordering != Ordering::seq_cst) continue;
                ordered_.push_back(node);
                is_fenced_ = true;
            } else if (accesses && !event.whole && is_access(node) &&
                       graph.parts(node)[0].ordering == Ordering::seq_cst) {
                ordered_.push_back(node);
            }
        }
    }

    bool is_acyclic() {
        if (ordered_.size() < 2) return true;
        prepare();
        const std::size_t count = ordered_.size();
        std::vector<std::vector<u32>> after(count);
        for (u32 i = 0; i < count; ++i)
            for (u32 j = 0; j < count; ++j)
                if (i != j && is_related(ordered_[i], ordered_[j])) after[i].push_back(j);
        // 0: not met, 1: on the way, 2: done
        std::vector<u8> state(count, 0);
        for (u32 i = 0; i < count; ++i)
            if (state[i] == 0 && finds_circle(i, after, state)) return false;
        return true;
    }

private:
    using Positioned = std::pair<Node, Standing>;

    // What is asked again and again of each node: its place in the order of writes, and where its thread goes next, and
    // has come from, to do something elsewhere. A thread comes from its creation, which is `starts` if nothing else.
    struct About {
        u32 place = 0;
        Node next = nobody;
        Node last = nobody;
        Node starts = nobody;
    };

    void prepare() {
        about_.resize(graph_.size());
        for (const Cell& cell : graph_.cells())
            for (u32 i = 0; i < cell.writes.size(); ++i) about_[cell.writes[i]].place = i + 1;
        for (Node node = 0; node < graph_.size(); ++node) {
            if (!is_event(node)) continue;
            About& about = about_[node];
            about.next = next_elsewhere(node);
            about.last = last_elsewhere(node);
            if (about.last == nobody) about.starts = graph_.created_by(graph_[node].thread);
            if (!is_access(node)) continue;
            const Part& part = graph_.parts(node)[0];
            if (!part.writes) about.place = part.source == initially ? 0 : about_[part.source].place;
            if (!is_fenced_) continue;
            standings_.push_back({node, {part.cell, about.place, !part.writes}});
        }
    }

    static bool finds_circle(u32 start, const std::vector<std::vector<u32>>& after, std::vector<u8>& state) {
        std::vector<std::pair<u32, std::size_t>> way{{start, 0}};
        state[start] = 1;
        while (!way.empty()) {
            const u32 at = way.back().first;
            const std::size_t next = way.back().second++;
            if (next == after[at].size()) {
                state[at] = 2;
                way.pop_back();
            } else if (const u32 to = after[at][next]; state[to] == 1) {
                return true;
            } else if (state[to] == 0) {
                state[to] = 1;
                way.emplace_back(to, 0);
            }
        }
        return false;
    }

    bool is_access(Node node) const {
        const GraphEvent& event = graph_[node];
        if (event.count != 1 || (event.kind != EventKind::read && event.kind != EventKind::write)) return false;
        return event.kind == EventKind::write || !graph_.parts(node)[0].blind;
    }
    bool is_event(Node node) const {
        return graph_[node].kind != EventKind::local && graph_[node].kind != EventKind::choice;
    }
    bool is_fence(Node node) const { return graph_[node].kind == EventKind::fence; }
    bool hb(Node x, Node y) const { return x != y && graph_.is_before(x, y, before_); }
    bool hb_or_same(Node x, Node y) const { return graph_.is_before(x, y, before_); }
    bool same_place(Node x, Node y) const {
        return is_access(x) && is_access(y) && graph_.parts(x)[0].cell == graph_.parts(y)[0].cell;
    }
    bool in_program_order(Node x, Node y) const {
        return graph_[x].thread == graph_[y].thread && graph_[x].index < graph_[y].index;
    }

    // The next event of the thread that is about another place, and the last one before.
    Node next_elsewhere(Node x) const {
        const std::vector<Node>& mine = graph_.of_thread(graph_[x].thread);
        for (u32 i = graph_[x].index; i < mine.size(); ++i)
            if (is_event(mine[i]) && !same_place(x, mine[i])) return mine[i];
        return nobody;
    }
    Node last_elsewhere(Node y) const {
        const std::vector<Node>& mine = graph_.of_thread(graph_[y].thread);
        for (u32 i = graph_[y].index - 1; i-- > 0;)
            if (is_event(mine[i]) && !same_place(y, mine[i])) return mine[i];
        return nobody;
    }

    // scb = po ∪ po≠loc ; hb ; po≠loc ∪ hb|loc ∪ mo ∪ fr
    bool scb(Node x, Node y) const {
        if (in_program_order(x, y)) return true;
        if (same_place(x, y)) {
            if (hb(x, y)) return true;
            if (x != y && graph_.parts(y)[0].writes && about_[x].place < about_[y].place) return true;
        }
        const Node from = about_[x].next, to = about_[y].last, start = about_[y].starts;
        if (from == nobody) return false;
        return to != nobody ? hb(from, to) : start != nobody && hb_or_same(from, start);
    }

    bool is_related(Node first, Node second) {
        if (accesses_ && base(first, second)) return true;
        if (!is_fence(first) || !is_fence(second)) return false;
        if (hb(first, second)) return true;
        for (const auto& [x, at] : standings_)
            if (hb(first, x))
                for (const auto& [y, there] : standings_)
                    if (hb(y, second) && comes_before(at, there)) return true;
        return false;
    }

    // ([E] ∪ [F] ; hb?) ; scb ; ([E] ∪ hb? ; [F])
    bool base(Node first, Node second) const {
        if (scb(first, second)) return true;
        const bool from_fence = is_fence(first), to_fence = is_fence(second);
        if (!from_fence && !to_fence) return false;
        for (Node x = 0; x < graph_.size(); ++x) {
            if (x != first && !(from_fence && hb(first, x))) continue;
            if (!is_event(x)) continue;
            if (!to_fence) {
                if (scb(x, second)) return true;
                continue;
            }
            for (Node y = 0; y < graph_.size(); ++y)
                if (is_event(y) && hb_or_same(y, second) && x != y && scb(x, y)) return true;
        }
        return false;
    }

    const Graph& graph_;
    Graph::Clock before_;
    bool accesses_;
    std::vector<Node> ordered_;
    bool is_fenced_ = false;  // there are such fences
    std::vector<About> about_;
    std::vector<Positioned> standings_;
};

}  // namespace

bool is_psc_acyclic(const Graph& graph, Graph::Clock before, bool accesses) {
    return Psc(graph, before, accesses).is_acyclic();
}

bool are_sections_in_order(const Graph& graph, Node added, Graph::Clock before) {
    if (!graph[added].section) return true;
    return !Walk(graph.size()).returns(graph, added, [&](Node node, auto visit) {
        each_section_after(graph, node, before, visit);
    });
}

bool comes_before(MemoryModel model, const Graph& graph, Node node, Node write,
                  const std::function<bool(Node)>& there) {
    const Graph::Clock before = model == MemoryModel::c11 ? Graph::known : Graph::past;
    return Walk(graph.size()).leaves_for(graph, node, write, there, [&](Node at, auto visit) {
        if (model == MemoryModel::sc)
            each_after_sc(graph, at, visit);
        else
            each_section_after(graph, at, before, visit);
    });
}

}  // namespace mazurka
