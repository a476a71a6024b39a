// Optimal-DPOR with wakeup trees, and its treatment of blocking events (Jonsson, Lång, Sagonas: Optimal-DPOR-Await): every
// equivalence class exactly once. Needs space for all executions that are planned but not yet explored.
#pragma once

#include <random>

#include "explore/few.hpp"
#include "explore/search.hpp"

namespace mazurka {

class Optimal final : public Search {
public:
    Optimal(const Code& code, const SearchOptions& options, Progress& progress, const std::atomic<bool>& stopping)
        : Search(code, options, progress, stopping), scratch_(code, options.machine) {}
    bool run() override;

protected:
    double fraction() const override;

private:
    // A step in a known state: what it touches is known, too.
    struct Letter {
        Slot thread = 0;
        std::vector<u32> choices;
        Few<Access, 1> accesses;
        bool same_step(const Letter& other) const { return thread == other.thread && choices == other.choices; }
    };
    // The nodes of all wakeup trees are in one table; `none` is no node. A node is a step to take; its children, from left to
    // right, are what to do after it. No children: as you like.
    using TreeIndex = u32;
    static constexpr TreeIndex none = ~TreeIndex{0};
    struct Tree {
        Letter letter;
        TreeIndex first_child = none;
        TreeIndex next_sibling = none;
    };
    // What is known of the state after some events. The nodes beyond the present one keep their memory for later.
    struct Node {
        std::vector<Letter> sleep;   // explored here or before, and still redundant
        TreeIndex wakeup = none;     // the first of the steps to be explored
        bool expanded = false;
        u32 explored = 0;
        // of the event that is explored from here
        u32 races = 0;               // where its races begin in `races_`
        bool chooses = false;
        Position settled = nowhere;  // if it is a section: as for a race
    };
    // A race of an event of the execution with an earlier one. Reversing it was found to be redundant because of the first
    // `settled` events alone: as long as they stay, it is. `nowhere`: not so.
    struct Race {
        Position first;
        Position settled;
    };
    // An event whose order with others is to be reversed: it happens, or would, after the first `end` events.
    struct Late {
        Letter letter;
        Position end;
        Position predecessor;  // what it happens after in any case
        Position settled = 0;  // as for a race

        // Whether it touches nothing new here.
        bool covers(std::span<const Access> met) const;
    };
    // Some of the events behind a position, in their order.
    using Events = std::vector<Position>;

    bool descend();
    bool take_any();
    void enter(TreeIndex subtree);
    bool ascend();
    void find_races();
    void reverse_all(Late& late, Position sibling);
    const Next* judge(Position first, const Late& late);
    bool may_enable(Position event, const Late& late, std::span<const Access> guard) const;
    void enabling(Position first, const Late& late, Events events, std::vector<Events>& found, Accesses& met, bool alternative);
    Position plan(Position first, const Events& events, const Late& late, const Next* next = nullptr);
    void not_after(Position first, Events& events) const;
    const Next& look(Position prefix, const Events& events, Slot thread, std::span<const u32> choices);
    Machine& machine_after(Position prefix, const Events& events);
    bool is_weak_initial(const Letter& letter, const Events& events, const Letter* last, Position& seen) const;
    bool insert(TreeIndex& children, Events& events, const Letter* last, Position& seen);
    Letter letter_of(Position event) const;
    TreeIndex make_tree(Letter letter);
    void drop_tree(TreeIndex tree);

    Node& node() { return nodes_[depth_]; }

    std::vector<Node> nodes_;
    Position depth_ = 0;
    std::vector<Race> races_;  // of all events of the execution, one after the other
    Position kept_ = 0;        // the events that were part of the maximal execution before this one
    std::vector<Tree> trees_;
    TreeIndex unused_ = none;
    // To try other orders of what has happened: a machine, and the steps that it has taken.
    struct Tried {
        Slot thread;
        std::vector<u32> choices;
        Machine::Mark mark;  // before it
    };
    Machine scratch_;
    std::vector<Tried> tried_;
    std::mt19937_64 random_;
    Next next_;
    Events events_, word_;
};

}  // namespace mazurka
