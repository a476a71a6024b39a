#include "explore/exhaustive.hpp"

#include "explore/choices.hpp"

namespace mazurka {

void Exhaustive::expand() { nodes_.push_back({enabled_steps(execution_.machine())}); }

bool Exhaustive::run() {
    if (failed_at_start()) return false;
    expand();
    if (nodes_.back().steps.empty()) note_end();
    while (!nodes_.empty()) {
        if (should_stop()) return false;
        Node& node = nodes_.back();
        if (node.next == node.steps.size()) {
            nodes_.pop_back();
            if (!nodes_.empty()) execution_.shorten(static_cast<Position>(nodes_.size() - 1));
            continue;
        }
        const Step& step = node.steps[node.next++];
        execution_.take(step.thread, step.choices);
        if (!note_event()) {
            if (!options_.keep_going) return false;
            execution_.shorten(execution_.size() - 1);
            continue;
        }
        expand();
        if (nodes_.back().steps.empty()) note_end();
    }
    return true;
}

double Exhaustive::fraction() const {
    double done = 0, part = 1;
    for (const Node& node : nodes_) {
        if (node.next == 0) break;
        done += part * static_cast<double>(node.next - 1) / static_cast<double>(node.steps.size());
        part /= static_cast<double>(node.steps.size());
    }
    return done;
}

}  // namespace mazurka
