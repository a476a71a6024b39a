// An execution as a graph: events in program order, for each read the write that it reads from, and for each place in
// memory the order of its writes.
//
// Nodes are numbered in an order in which every event comes after its cause: the one before it in its thread, the
// creation of the thread, the write that it reads from. That is also an order in which a machine can execute them. When
// an event was *added*, which the algorithm asks for, is its stamp: a read that is revisited keeps it.
//
// A *step* of a thread is one or more nodes: what it reads, one node for each place, and what it chooses, in order; and
// then what it writes, one node. A load is one node, an update (a fetch-and-add, a compare-exchange that succeeds) two.
// A *section* reads and writes several places at once: whatever the library does about locks and the like, atomic
// sections of the program, and accesses of which others touch only a part. The last node of a step completes it. The
// others may be there without it: then the thread waits, or has to go on with what it was revisited with.
#pragma once

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/step.hpp"
#include "explore/synchronisation.hpp"

namespace mazurka {

using Node = u32;
inline constexpr Node initially = ~Node{0};  // in place of a write: what was there at the start
inline constexpr Node nobody = ~Node{0};

enum class EventKind : u8 { read, choice, write, fence, local };

// What an event does to one cell.
struct Part {
    u32 cell;
    Ordering ordering;
    bool reads;
    bool writes;
    bool blind = false;       // a section that only writes counts as one that reads, but does not see what was there
    bool updates = false;     // a read that its step writes over, or that write
    Node source = initially;  // that it reads from, or, of an update, that it comes right after
    u64 value = 0;            // that it writes
    u64 undefined = 0;
};

// The next read of a thread: it was revisited with something that does not let it go on.
struct Displaced {
    Slot thread = 0;  // 0: nobody
    u32 index = 0;
    u64 stamp = 0;
};

struct GraphEvent {
    Slot thread;
    u32 index;  // in its thread, from 1
    u32 step;   // where its step begins in the thread
    EventKind kind;
    Ordering ordering = Ordering::plain;  // of a fence
    bool completes = false;               // its step
    bool section = false;                 // of a step that is one, ...
    bool whole = false;                   // ... because it is one of the program, or of the library
    bool guarded = false;                 // a loop would make this access again and again
    bool acquires = false;                // a fence in its section does
    bool suspended = false;               // its step cannot write, because another one has updated what it has read
    bool locked = false;                  // part of an update, or a compare-exchange that failed
    u32 parts = 0;                        // the first, ...
    u32 count = 0;                        // ... and how many
    u32 choice = 0;                       // what was chosen
    u64 stamp = 0;                        // when it was added; a read that is revisited keeps it, ...
    u64 number = 0;                       // ... but gets another number, as every event
    u64 site = 0;
    u32 depth = 0;         // of what comes before it by program order and reads-from
    u64 rank = 0;          // where it is in an order that shows that the graph is an execution (`reads_from.cpp`)
    std::size_t mark = 0;  // the machine before it
    Node twin = nobody;    // while it is added: what it comes after, because the two threads are alike
    // A read that was removed when this write revisited it. Until its thread can go on, it is not there; then it reads
    // from this write, or from one that depends on it.
    Displaced displaced = {};
    // Threads that could have gone on before this step, when nobody could read what is newest: those that are as they
    // were then go on only when they read something that has come since.
    u64 asleep = 0;
    std::vector<LocalAct> acts = {};  // threads that it creates
    std::vector<u64> ended = {};      // objects whose life it ends
};

// Some bytes that events read and write as a whole.
struct Cell {
    Address address;
    u32 size;
    u64 value = 0;  // at the start
    u64 undefined = 0;
    std::vector<Node> writes = {};   // in modification order; if that is not part of the graph, in that of nodes
    std::vector<Node> readers = {};  // in the order of nodes
    u64 captured = 0;                // it is known what is there at the start, after this beginning
    // Sections are in one order, with everything that touches what they touch: whatever writes to such a cell comes
    // right after the write that it has read, or could have read.
    bool sectioned = false;
    bool ordered = true;     // the order of its writes is part of the graph
    bool atomic = false;     // atomic accesses touch it as a whole
    bool used = false;       // by what is no section
    u64 threads = 0;         // that have ever touched it
    bool plain = false;      // by what is not atomic
    bool changes = false;    // it is ever written, ...
    bool relied_on = false;  // ... or something was left out since it is not
};

class SharedCells;

class Graph {
public:
    Graph() : clocks_(0) {}

    Node size() const { return static_cast<Node>(events_.size()); }
    GraphEvent& operator[](Node node) { return events_[node]; }
    const GraphEvent& operator[](Node node) const { return events_[node]; }
    std::span<const GraphEvent> events() const { return events_; }
    std::span<Part> parts(Node node) { return {parts_.data() + events_[node].parts, events_[node].count}; }
    std::span<const Part> parts(Node node) const { return {parts_.data() + events_[node].parts, events_[node].count}; }
    const Part* part(Node node, u32 cell) const {
        for (const Part& one : parts(node))
            if (one.cell == cell) return &one;
        return nullptr;
    }
    std::vector<Cell>& cells() { return cells_; }
    const std::vector<Cell>& cells() const { return cells_; }
    // The events of a thread, in program order.
    const std::vector<Node>& of_thread(Slot thread) const { return of_thread_[thread]; }
    Node last_of(Slot thread) const { return of_thread_[thread].empty() ? nobody : of_thread_[thread].back(); }
    // Fences that are seq_cst, in the order of nodes.
    const std::vector<Node>& strong_fences() const { return strong_fences_; }
    // What comes directly before the next event of a thread: its last one, or the creation of the thread.
    Node before_next(Slot thread) const {
        const Node last = last_of(thread), created = created_by_[thread];
        return last == nobody || (created != nobody && created > last) ? created : last;
    }
    Node created_by(Slot thread) const { return created_by_[thread]; }
    u32 next_index(Slot thread) const { return static_cast<u32>(of_thread_[thread].size()) + 1; }

    // The cells that an access is about, as they are divided so far; false if they have to be divided in another way.
    bool find_cells(Address address, u32 size, bool atomic, std::vector<u32>& found);

    // Add an event. `places`: of each part that writes, its place in the modification order.
    Node push(GraphEvent event, std::span<const Part> parts, std::span<const u32> places);
    void pop();
    void pop_to(Node length) {
        while (size() > length) pop();
    }
    u32 newest(u32 cell) const { return static_cast<u32>(cells_[cell].writes.size()); }

    // Clocks: for each thread, how many of its events come before (or are) an event: by program order and reads-from
    // (`past`), or as far as that synchronises (`known`), by the rules of C.
    // `cause`: what it is added after, which is its past, and what threads do that are alike and go first.
    enum Clock : u8 { past, known, cause, unacquired, fenced, left };
    static constexpr u32 clocks_of_event = 6;
    const u32* clock(Node node, Clock which) const {
        return clocks_.data() + (std::size_t{node} * clocks_of_event + which) * stride_;
    }
    bool is_before(Node first, Node second, Clock which) const {
        return clock(second, which)[events_[first].thread] >= events_[first].index;
    }
    u32 stride() const { return stride_; }
    void make_room(Slot threads);

    // The place of a write in the modification order of a cell, from 1; 0 for what was there at the start.
    u32 place_of(Node write, u32 cell) const {
        if (write == initially) return 0;
        const std::vector<Node>& writes = cells_[cell].writes;
        for (std::size_t i = writes.size(); i-- > 0;)
            if (writes[i] == write) return static_cast<u32>(i) + 1;
        return 0;
    }
    Node write_at(u32 cell, u32 place) const { return place == 0 ? initially : cells_[cell].writes[place - 1]; }
    // The write after one, in modification order; `nobody` if it is the newest.
    Node write_after(Node write, u32 cell) const {
        if (!cells_[cell].ordered) return ranked_after(write, cell);
        const u32 place = place_of(write, cell);
        return place < cells_[cell].writes.size() ? cells_[cell].writes[place] : nobody;
    }
    // The same by rank, where the order is not part of the graph.
    Node ranked_after(Node write, u32 cell) const {
        const u64 rank = write == initially ? 0 : events_[write].rank;
        Node next = nobody;
        for (const Node other : cells_[cell].writes)
            if (events_[other].rank > rank && (next == nobody || events_[other].rank < events_[next].rank))
                next = other;
        return next;
    }
    // Whether nothing may come between the write at this place and the one after it, which is an update of it.
    bool is_updated(u32 cell, u32 place) const {
        if (place >= cells_[cell].writes.size()) return false;
        const Part* const next = part(cells_[cell].writes[place], cell);
        return next->updates && next->source == write_at(cell, place);
    }
    // Who updates what a write has written, or was there at the start.
    Node updater_of(Node source, u32 cell) const {
        const std::vector<Node>& writes = cells_[cell].writes;
        if (cells_[cell].ordered) {
            const u32 place = place_of(source, cell);
            return is_updated(cell, place) ? writes[place] : nobody;
        }
        for (std::size_t i = writes.size(); i > 0 && writes[i - 1] != source; --i) {
            const Part* const one = part(writes[i - 1], cell);
            if (one->updates && one->source == source) return writes[i - 1];
        }
        return nobody;
    }
    // Whether the last node of a thread is one of a step that is not complete, ...
    bool is_partial(Slot thread) const {
        const Node last = last_of(thread);
        return last != nobody && !events_[last].completes;
    }
    // ... and the nodes of that step; or those of the step of a node.
    std::span<const Node> partial(Slot thread) const {
        if (!is_partial(thread)) return {};
        const std::vector<Node>& nodes = of_thread_[thread];
        return std::span(nodes).subspan(events_[nodes.back()].step - 1);
    }
    std::span<const Node> step_of(Node node) const {
        const std::vector<Node>& nodes = of_thread_[events_[node].thread];
        std::size_t end = events_[node].index;
        while (end < nodes.size() && !events_[nodes[end - 1]].completes) ++end;
        return std::span(nodes).first(end).subspan(events_[node].step - 1);
    }
    void complete(Node node, std::vector<u64> ended, std::vector<LocalAct> acts);

    // All of it, to come back to.
    struct Saved {
        std::vector<GraphEvent> events;
        std::vector<Part> parts;
        std::vector<u32> clocks;
        std::vector<std::pair<u32, u32>> orders;  // cells that were written, and how often
        std::vector<Node> writes;                 // of them all, one after the other
        u32 stride = 0;
    };
    void save(Saved& into) const;
    void restore(Saved& saved);
    // Only the events for which `keeps` is true, in the same order.
    void keep_only(const std::vector<bool>& keeps);
    void clear();
    void forget_cells() { cells_.clear(), cell_at_.clear(); }
    // Divide memory as several graphs do, so that cells have the same numbers in all of them. What is known to one is
    // known to all as soon as it matters.
    void share_cells(SharedCells& shared) { shared_ = &shared; }
    void learn_cells();
    // After `restore` of what another graph has saved: its cells were touched.
    void note_touched();
    // It is touched by what is no section. False: it is one, or its writes are in order, which was not known here.
    bool make_used(u32 cell);
    // Everything that touches this cell is a section from now on. False: it was not one so far, so that it is too late.
    bool make_sectioned(u32 cell);
    // The order of writes is part of the graph only where that is asked for, or where sections are.
    void leave_open() { ordered_everywhere_ = false; }
    bool make_ordered(u32 cell);
    // It is written. False: something was left out because it had not been so far.
    bool make_changing(u32 cell);
    // Whether anybody may still write to it.
    bool changes(u32 cell) {
        if (!cells_[cell].changes && !cells_[cell].relied_on) rely_on(cell);
        return cells_[cell].changes;
    }

private:
    void learn_cells(const Graph& other);
    void rely_on(u32 cell);
    void index(Node node);
    void compute_clocks(Node node);
    void join(Node node, Clock into, const u32* from) {
        u32* const clock = row(node, into);
        for (u32 i = 0; i < stride_; ++i) clock[i] = std::max(clock[i], from[i]);
    }
    u32* row(Node node, Clock which) {
        return clocks_.data() + (std::size_t{node} * clocks_of_event + which) * stride_;
    }

    std::vector<GraphEvent> events_;
    std::vector<Part> parts_;
    std::vector<Cell> cells_;
    std::vector<u32> clocks_;
    u32 stride_ = 4;
    std::array<std::vector<Node>, max_slots> of_thread_;
    std::vector<Node> strong_fences_;
    std::array<Node, max_slots> created_by_ = filled();
    std::vector<std::pair<Slot, Node>> creations_;           // what `created_by_` was before, for each creation
    std::vector<u32> creations_before_;                      // by events: how many there were
    std::unordered_map<Address, std::vector<u32>> cell_at_;  // by words of 8 bytes
    std::array<u32, 64> latest_{};                           // that were asked for, by what is left of words
    SharedCells* shared_ = nullptr;
    std::vector<Address> boundaries_;               // where cells must end, sorted
    std::vector<std::pair<Address, u32>> atomics_;  // what atomic accesses touch, ...
    std::vector<std::pair<Address, u32>> torn_;     // ... but others touch only a part of, or more
    std::unordered_set<Address> sectioned_;         // bytes that sections touch
    std::unordered_set<Address> changing_;          // bytes that are written
    bool ordered_everywhere_ = true;
    std::unordered_set<Address> ordered_;  // or bytes of which the order of writes is part of the graph
    static constexpr std::array<Node, max_slots> filled() {
        std::array<Node, max_slots> all{};
        all.fill(nobody);
        return all;
    }
};

// What several graphs know of how memory is divided: a graph without events. Each looks here only when it meets
// something for the first time.
class SharedCells {
public:
    template <class Look>
    auto look(Look look) {
        const std::scoped_lock lock(mutex_);
        return look(cells_);
    }

private:
    std::mutex mutex_;
    Graph cells_;
};

}  // namespace mazurka
