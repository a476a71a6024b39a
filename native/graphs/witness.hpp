// Which graphs are executions if they say only which write each read reads from: whether there is an order of the
// writes of each place with which the graph is consistent. See docs/memory-models.md.
//
// What must come before what is known as far as it follows (*saturation*): a write that comes before a read, and is not
// its source, comes before the source; and a read comes before the writes that come after its source. If that has no
// circle, the events are put in order one by one, a write only when nobody is left who still has to read what it
// overwrites. Where that comes to an end too early, two writes are tried in both orders.
//
// Places whose order is given (`Cell::ordered`) keep it.
#pragma once

#include <vector>

#include "graphs/graph.hpp"

namespace mazurka {

class Witness {
public:
    struct Question {
        const std::vector<bool>* there = nullptr;  // about these nodes and what they depend on; otherwise all
        Node read = nobody;                        // this one reads from another ...
        Node source = initially;                   // ... write, ...
        bool updates = false;                      // ... and writes over that
        Node first = nobody;                       // in an order in which this event comes before ...
        Node second = nobody;                      // ... that one
    };
    // Under sc or tso.
    bool exists(MemoryModel model, const Graph& graph, const Question& question);
    // If there is one: the position of a node in it, from 1; 0 of those that neither read nor write.
    u32 position(Node node) const { return point_of_[node] == none ? 0 : order_[point_of_[node]]; }

private:
    // Events that are at one place in every order: a section, an update; or one event.
    using Point = u32;
    static constexpr u32 none = ~u32{0};
    struct Place {
        u32 chain;
        u32 index;
    };
    struct Edge {
        Point to;
        u32 next;
    };
    struct Write {
        u32 cell;
        Point point;
    };
    struct Read {
        u32 cell;
        Point point;
        u32 source;  // a number in `writes_`, or `none`
    };
    struct State {
        std::vector<u32> clocks;  // for each point, how many of each chain come before it or are it
        std::vector<u32> first;   // edge of each point
        std::vector<Edge> edges;
    };

    void make_points();
    Point make_point(Node node);
    bool connect();
    bool order_given(u32 cell);
    bool close();
    bool put_in_order();

    bool is_there(Node node) const { return question_.there == nullptr || (*question_.there)[node]; }
    bool is_point(Node node) const;
    bool is_fence(Node node) const;
    Point last_point(Slot thread, u32 count, bool only_fences) const;
    Node source_of(Node node, const Part& part) const {
        return node == question_.read ? question_.source : part.source;
    }
    bool is_before(Point first, Point second) const {
        return state_.clocks[std::size_t{second} * chains_ + places_[first].chain] > places_[first].index;
    }
    void link(Point first, Point second);
    bool add(Point first, Point second);
    bool join(Point into, Point from);

    u32 initial(u32 cell) const { return static_cast<u32>(writes_.size()) + cell; }
    u32 written(const Read& read) const { return read.source == none ? initial(read.cell) : read.source; }

    MemoryModel model_ = MemoryModel::sc;
    const Graph* graph_ = nullptr;
    Question question_;
    u32 chains_ = 0;
    State state_;
    std::vector<Place> places_;               // of points
    std::vector<Point> point_of_;             // of each node
    std::vector<Point> last_;                 // of each chain, so far
    std::vector<Point> fence_;                // the last one of each thread, so far
    std::vector<std::vector<Point>> births_;  // of each thread: what comes before all of it
    std::vector<Point> waiting_;
    std::vector<u32> cells_;  // that are touched
    std::vector<bool> touched_;
    std::vector<Write> writes_;  // by cells, and then by chains, in order
    std::vector<u32> begin_;     // of each cell, in `writes_`
    std::vector<Read> reads_;
    // Of an order so far:
    std::vector<u32> order_;      // the position of each point
    std::vector<u32> before_;     // how many are left that come before a point
    std::vector<u32> unread_;     // how often a write is still to be read, or what was there at the start
    std::vector<u32> latest_;     // write of each cell
    std::vector<Point> open_;     // what can come next, ...
    std::vector<Point> writers_;  // ... unless others have to read before that
    std::vector<u32> first_read_, next_read_, first_write_, next_write_;  // of each point
};

}  // namespace mazurka
