// The explorer of execution graphs: TruSt (Kokologiannakis, Marmanis, Gladstein, Vafeiadis, POPL 2022), extended to
// sections. See docs/memory-models.md.
//
// Events are added one at a time, of the first thread that can go on. A read branches over the writes that it may read
// from, a write over its places in the modification order. And a write may revisit a read that was added before and
// that it does not depend on: whatever was added after that read, and the write does not depend on either, is removed.
// So that each graph is reached in one way, this is done only if all that is removed was added *maximally*: reads read
// the newest write of those that are left or were there before, writes come last among these, and have not revisited
// anybody.
//
// What is still to be tried is a stack of values. A graph that was cut is kept until all that came of it was explored,
// so that space is polynomial in the size of a graph, whatever their number.
//
// Threads run on the virtual machine. Its memory always holds the newest writes: to read an older one, that is put in
// its place for a step.
#pragma once

#include <atomic>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "explore/explorer.hpp"
#include "graphs/graph.hpp"
#include "graphs/models.hpp"
#include "graphs/witness.hpp"
#include "vm/machine.hpp"

namespace mazurka {

struct GraphOptions : ExplorationOptions {
    MemoryModel memory = MemoryModel::c11;
    Equivalence equivalence = Equivalence::traces;  // reads_from: under sc and tso
};

// One worker, alone or in a team.
class GraphExploration {
public:
    GraphExploration(const Machine& start, const GraphOptions& options, Progress& progress,
                     const std::atomic<bool>& stopping);

    // All of it. Whether everything was covered.
    bool run();
    // The part of one of several workers, who divide memory in the same way. If that turns out to be the wrong way,
    // `is_divided`, and all begin again.
    struct Task;
    bool run(Team<Task>& team, SharedCells& cells);
    bool is_divided() const { return divided_; }

    const Results& results() const { return results_; }
    const Machine& subject() const { return machine_; }
    // Whether threads that are alike are explored in one order only: not if somebody has met what tells them apart.
    bool symmetric() const { return symmetric_; }
    void tell_apart() {
        symmetric_ = false;
        divided_ = true;
    }

private:
    // What is still to be tried, and how much of the graph is there then.
    struct Todo {
        enum class Kind : u8 {
            read,     // let a thread read from `source`, ...
            choose,   // ... or choose `choice`, ...
            older,    // ... or, waiting, read what is older
            wait,     // let it stay where it is, until there is something new to be read
            place,    // let it write at `places`
            revisit,  // let its next write revisit `target`, ...
            put,      // ... once all that has to go is gone: it writes at `places`
        };
        Kind kind;
        u32 level = 0;
        Node length = 0;
        Slot thread = 0;
        u32 cell = 0;
        Node source = initially;
        u32 choice = 0;
        std::vector<u32> places = {};  // of each part that it writes, if that is not told by what it reads
        Node target = nobody;
        Displaced revisited = {};
        u64 asleep = 0;
        double share = 0;  // of everything that is to be explored, as far as that can be told
    };
    struct Level {
        Graph::Saved graph;
        Node first;  // that was removed
    };
    // What a step reads, place by place, and chooses.
    struct Decision {
        bool chooses;
        Part part;       // of a read
        u32 range = 0;   // of a choice, ...
        u32 choice = 0;  // ... and what it chooses
    };
    // A step that was not enabled, and what it had looked at: it need not be tried again before that changes.
    struct Disabled {
        u64 last = ~u64{0};                          // the number of the last event of the thread
        std::vector<std::pair<u32, u64>> seen = {};  // cells, and the stamps of their newest writes
    };

    void begin_again();
    bool explore();
    bool start();
    void hand_out();
    Task task_of(const Todo& todo) const;
    bool begin(Task task);
    bool extend();
    bool backtrack();
    bool carry_out(const Todo& todo);
    void return_to(const Todo& todo);
    void sync(Node length);
    void replay(Node node);

    // Steps of threads, and what becomes of them.
    bool attempt(Slot thread, const Todo* given);
    bool attempt_newest(Slot thread, const Todo* given);
    bool classify(Slot thread);
    void withdraw();
    void settle(Slot thread);
    bool is_there(const Cell& cell) const;
    void show(u32 cell, Machine::Content content);
    Machine::Content content_of(u32 cell, Node write) const;
    Node newest_before(u32 cell, Node limit) const;
    u64 newest_stamp(u32 cell) const {
        const std::vector<Node>& writes = graph_.cells()[cell].writes;
        return writes.empty() ? 0 : graph_[writes.back()].stamp;
    }
    u64 last_number(Slot thread) const {
        const Node last = graph_.last_of(thread);
        return last == nobody ? 0 : graph_[last].number;
    }
    bool go_on(Slot thread, bool enabled, const Todo* given);
    bool decide(Slot thread, const Decision& decision, u64 stamp, bool known);
    bool complete(Slot thread);
    bool write(Slot thread);
    bool suspend(Slot thread);
    bool finish(Slot thread);
    bool add_write(Slot thread, std::span<const u32> places, bool newest);
    bool revisit(const Todo& todo);
    bool put(const Todo& todo);
    GraphEvent event(Slot thread, EventKind kind);
    Node push(GraphEvent event, std::span<const Part> parts, std::span<const u32> places);
    void push_rest(Slot thread);
    Todo todo(Todo::Kind kind, Slot thread) const {
        return {.kind = kind, .level = level_, .length = graph_.size(), .thread = thread, .asleep = asleep_};
    }
    void divide(std::size_t before, std::size_t others);
    void offer(Slot thread, const Decision& decision);
    void offer_places(Slot thread, Todo next, bool all);
    bool is_blind() const {
        return std::ranges::none_of(
            writes_, [](const Part& part) { return part.updates || part.ordering == Ordering::lifetime; });
    }
    void offer_revisits(Slot thread, const std::vector<u32>& past, u64 limit);
    void offer_older();
    u32 lowest_place(Slot thread, u32 cell) const;
    bool is_free(Slot thread, u32 cell, Node source) const;
    bool is_free(Slot thread) const;
    bool is_awake(Slot thread, u32 count, bool ends) const;
    std::vector<u32> past_of(Slot thread) const;
    bool sees(const std::vector<u32>& past, Node node) const { return past[graph_[node].thread] >= graph_[node].index; }
    bool is_maximal(Node node, const std::vector<u32>& past);
    bool may_revisit(Node target, const std::vector<u32>& past);
    void cut(Node target, const std::vector<u32>& past);
    bool is_disabled(Slot thread) const;
    bool is_waiting(Slot thread) const;
    bool is_suspended(Slot thread) const {
        const Node last = graph_.last_of(thread);
        return last != nobody && graph_[last].suspended;
    }
    bool is_late(Slot thread) const;

    // Which graphs are executions, where the order of writes is not part of all of them.
    bool leaves_open() const { return options_.equivalence == Equivalence::reads_from; }
    bool may_be(Node added, bool comes_last);
    bool is_coherent(Node read) const;
    bool is_settled() const;
    bool is_last(Node source, u32 cell) const;
    Node last_write(u32 cell) const;
    std::vector<Node> sources_after(Node before, u32 cell) const;
    void see_before(Node node, const std::vector<u32>& past);
    bool is_preferred(Node node, const std::vector<u32>& past);
    bool must_come_before(Node first, Node second);
    bool adopt(const Witness::Question& question);
    void put_in_order(bool by_rank);
    bool know_last();

    // Threads that are alike (symmetry.cpp).
    struct Twin {
        bool needed;
        Node node;  // `nobody`: it is still to come
    };
    Twin twin_of_next(Slot thread) const;
    bool is_same(Node one, Node other) const;
    bool is_same_place(u32 cell, Slot thread, u32 other_cell, Slot other) const;
    bool is_canonical(Node node) const;
    bool is_held_up(Slot thread) const {
        const Twin twin = twin_of_next(thread);
        return twin.needed && twin.node == nobody;
    }
    void look_for_names(Slot thread);
    void look_for_joins(Slot thread);
    void look_for_names_at_end(Slot thread, Slot awaited, std::span<const Stay> stays);
    Slot joined_by(Node node) const;
    u64 weight() const;

    // What is told.
    bool note_step(Node last);
    void note_failures(Node last);
    void note_end();
    void note_races(Node node);
    void note_race(Node first, Node second, u32 cell);
    void note_races_in_vain(Slot thread);
    void note_lives(Node node);
    void count_failures();
    static BugKey key_of(const Failure& failure);
    BugKey key_of(Node user, Node end, Fault fault) const;
    template <class Visit>
    void each_late_use(Node end, Visit visit) const;
    // Whether a use of an object comes before its end, though that is not known to the thread that ends it.
    bool is_surely_before(Node user, Node end) {
        return graph_.is_before(user, end, Graph::past) || must_come_before(user, end);
    }
    void note_limit(Fault fault, Slot thread);
    std::vector<Step> schedule(const std::vector<bool>& only, bool whole = false);
    std::vector<Step> schedule(const std::vector<Node>& ends, bool whole = false) const;
    std::vector<Node> in_order(const std::vector<Node>& ends, bool overwritten) const;
    std::vector<Node> steps_up_to(Node first, Node second, std::size_t& at) const;
    std::vector<Step> schedule_of(Node first, Node second, std::size_t& at) const {
        return schedule(steps_up_to(first, second, at));
    }
    void report(Ending kind, Slot thread, Fault fault, std::vector<Step> steps);
    Sighting* sighting(BugKey key, Slot thread, std::vector<Step> steps);
    bool should_stop() const;
    template <class Found>
    bool precedes(const Found& one, const Found& other) const {
        return comes_before(one, other, order_of(machine_));
    }

    const GraphOptions options_;
    Machine machine_;
    Graph graph_;
    Progress& progress_;
    const std::atomic<bool>& stopping_;
    Team<Task>* team_ = nullptr;
    std::mt19937_64 random_;
    Results results_;
    u64 most_steps_ = ~u64{0};
    std::set<RaceKey> passed_over_;  // data races of no interest, ...
    std::set<RaceKey> wanted_;       // ... and others
    std::vector<Todo> todo_;
    double share_ = 1;           // of the present branch, ...
    double done_ = 0;            // ... and of those that are done
    std::vector<Level> levels_;  // so many are in use:
    u32 level_ = 0;
    Node synced_ = 0;  // the machine has executed so many
    u64 stamps_ = 0;
    u64 first_threads_;
    Machine::Mark start_;
    bool divided_ = false;  // cells turned out to be others: everything starts again
    std::array<Disabled, max_slots> disabled_;
    u64 sleepers_ = 0;        // all threads that were ever asleep
    bool displaces_ = false;  // some read was ever displaced
    Witness witness_;
    u64 ranks_ = 0;
    std::vector<bool> before_;  // what was there before an event, or is in the past of who would remove it

    bool symmetric_ = false;
    bool leaving_ = false;  // the present step ends the process
    // of the present attempt
    Effect effect_;
    Machine::Mark mark_ = 0;
    bool open_ = false;  // the machine has done it, and nothing has come of it yet
    u64 asleep_ = 0;     // who could have gone on before it
    u32 step_ = 0;       // where the step begins in its thread
    bool section_ = false;
    std::vector<Decision> decisions_;
    u32 consistent_from_ = 0;                     // those from here on can be added, if the first can
    std::vector<std::pair<u32, Node>> narrowed_;  // places where it does not read the newest, and what it reads there
    std::vector<Part> writes_;
    std::vector<u64> ended_;
    std::vector<u32> choices_;
    std::vector<u32> found_;
    std::vector<u32> begun_;  // cells of a block that begins to live
};

// What is still to be tried, with the graph that it is about, which is all that it depends on.
struct GraphExploration::Task {
    // What is in a cell that has events at the start.
    struct Start {
        u32 cell;
        u64 captured;
        Machine::Content content;
    };
    Graph::Saved graph;
    std::optional<Todo> todo;  // nothing: all that there is
    std::vector<Start> starts;
    u64 stamps = 0;
    u64 ranks = 0;
    u64 sleepers = 0;
    bool displaces = false;
    double share = 1;
};

}  // namespace mazurka
