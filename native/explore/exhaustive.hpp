// Every interleaving, with no reduction: for tests and for teaching.
#pragma once

#include "explore/explorer.hpp"

namespace mazurka {

template <Subject S>
class Exhaustive final : public Explorer<S> {
public:
    using Explorer<S>::Explorer;
    bool run() override;

protected:
    double fraction() const override;

private:
    using Explorer<S>::execution_;

    // What can be done after some events, and how much of it has been tried.
    struct Node {
        std::vector<Step> steps;
        std::size_t next = 0;
    };
    void expand() {
        nodes_.push_back({this->enabled_steps()});
        if (nodes_.back().steps.empty() && !this->is_stopping()) this->note_end();
    }

    std::vector<Node> nodes_;  // one for each prefix of the execution
};

template <Subject S>
bool Exhaustive<S>::run() {
    if (this->failed_at_start()) return false;
    expand();
    while (!nodes_.empty()) {
        if (this->should_stop()) return false;
        Node& node = nodes_.back();
        if (node.next == node.steps.size()) {
            nodes_.pop_back();
            if (!nodes_.empty()) execution_.shorten(static_cast<Position>(nodes_.size() - 1));
            continue;
        }
        const Step& step = node.steps[node.next++];
        execution_.take(step.thread, step.choices);
        if (this->note_event())
            expand();
        else
            execution_.shorten(execution_.size() - 1);
    }
    return true;
}

template <Subject S>
double Exhaustive<S>::fraction() const {
    double done = 0, part = 1;
    for (const Node& node : nodes_) {
        if (node.next == 0) break;
        done += part * static_cast<double>(node.next - 1) / static_cast<double>(node.steps.size());
        part /= static_cast<double>(node.steps.size());
    }
    return done;
}

}  // namespace mazurka
