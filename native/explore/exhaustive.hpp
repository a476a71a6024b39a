// Every interleaving, with no reduction: for tests and for teaching.
#pragma once

#include "explore/search.hpp"

namespace mazurka {

class Exhaustive final : public Search {
public:
    using Search::Search;
    bool run() override;

protected:
    double fraction() const override;

private:
    // What can be done after some events, and how much of it has been tried.
    struct Node {
        std::vector<Step> steps;
        std::size_t next = 0;
    };
    void expand();

    std::vector<Node> nodes_;  // one for each prefix of the execution
};

}  // namespace mazurka
