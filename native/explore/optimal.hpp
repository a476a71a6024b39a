// Optimal-DPOR with wakeup trees, and its treatment of blocking events (Jonsson, Lång, Sagonas: Optimal-DPOR-Await): every
// equivalence class exactly once. Needs space for all executions that are planned but not yet explored.
#pragma once

#include <memory>
#include <random>

#include "explore/search.hpp"

namespace mazurka {

class Optimal final : public Search {
public:
    Optimal(const Code& code, const SearchOptions& options, Progress& progress, const std::atomic<bool>& stopping)
        : Search(code, options, progress, stopping), scratch_(code, options.machine, options.commute, false) {}
    bool run() override;

protected:
    double fraction() const override;

private:
    // A step in a known state: what it touches is known, too.
    struct Letter {
        Step step;
        Accesses accesses;
    };
    using Word = std::vector<Letter>;
    // A step to take, and what to do after it, from left to right. Nothing: as you like.
    struct Tree {
        Letter letter;
        std::vector<std::unique_ptr<Tree>> children;
    };
    // What is known of the state after some events.
    struct Node {
        std::vector<Letter> sleep;                  // explored here or before, and still redundant
        std::vector<std::unique_ptr<Tree>> wakeup;  // to be explored
        bool expanded = false;
        u32 explored = 0;
        // of the event that is explored from here
        Letter current;
        std::vector<Position> adjacent;
        bool chooses = false;
    };
    // An event whose order with others is to be reversed: it happens, or would, after the first `end` events.
    struct Late {
        Step step;
        Accesses accesses;
        Position end;
        Position predecessor;  // what it happens after in any case
    };

    bool descend();
    bool ascend();
    void find_races();
    void reverse_all(const Late& late, Position sibling);
    void enabling(Position first, const Late& late, std::vector<Position> events, std::vector<std::vector<Position>>& found, Accesses& met);
    void plan(Position first, const std::vector<Position>& events, const Late& late);
    std::vector<Position> not_after(Position first) const;
    const Next& look(Position prefix, const std::vector<Position>& events, const Step& step);
    void insert(std::vector<std::unique_ptr<Tree>>& children, Word word) const;
    bool is_weak_initial(const Letter& letter, std::span<const Letter> word) const;

    std::vector<Node> nodes_;
    Execution scratch_;  // to try other orders of what has happened
    std::mt19937_64 random_;
    Next next_;
};

}  // namespace mazurka
