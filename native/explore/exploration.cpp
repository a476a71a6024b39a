#include "explore/exploration.hpp"

#include <algorithm>
#include <bit>

namespace mazurka {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

bool same(const Step& x, const Step& y) { return x.thread == y.thread && x.choices == y.choices; }

// The choices to try after `choices`, given the ranges that were met: the last that can still grow does. False: no more.
bool advance(std::vector<u32>& choices, const std::vector<u32>& ranges) {
    choices.resize(ranges.size(), 0);
    while (!choices.empty()) {
        if (++choices.back() < ranges[choices.size() - 1]) return true;
        choices.pop_back();
    }
    return false;
}

}  // namespace

Exploration::Exploration(const Code& code, ExplorationOptions options)
    : options_(options), machine_(code, options.machine), code_(code) {}

Exploration::Candidate& Exploration::add_candidate(Node& node) {
    if (node.count == node.candidates.size()) node.candidates.emplace_back();
    return node.candidates[node.count++];
}

// Find what can be done in the present state. A candidate sleeps if it was explored from an earlier state and everything done
// since is independent of it: whatever it leads to has been seen.
void Exploration::expand() {
    if (path_.size() == depth_) path_.emplace_back();
    Node& node = path_[depth_];
    const Node* const parent = depth_ == 0 ? nullptr : &path_[depth_ - 1];
    ++depth_;
    node.mark = machine_.mark();
    node.count = 0;
    node.next = 0;
    waits_for_resource_ = waits_for_assume_ = false;
    if (machine_.exited()) return;
    for (u64 rest = machine_.threads(); rest != 0; rest &= rest - 1) {
        const Slot thread = static_cast<Slot>(std::countr_zero(rest));
        const Status status = machine_.status(thread);
        if (status == Status::stopped) waits_for_assume_ = true;
        if (status != Status::ready) continue;
        bool enabled = false;
        std::vector<u32> choices;
        do {
            machine_.next(thread, choices, next_);
            if (next_.enabled) {
                enabled = true;
                Candidate& candidate = add_candidate(node);
                candidate.step.thread = thread;
                candidate.step.choices.assign(choices.begin(), choices.end());
                std::swap(candidate.accesses, next_.accesses);
                candidate.asleep = false;
            }
        } while (advance(choices, next_.ranges));
        if (enabled) continue;
        if (next_.waiting && code_.instructions[next_.waiting->pc].op == Op::await) {
            if (!waits_for_resource_) waiting_thread_ = thread;
            waits_for_resource_ = true;
        } else {
            waits_for_assume_ = true;
        }
    }
    if (options_.algorithm != Algorithm::sleep_sets || parent == nullptr) return;
    const Candidate& taken = parent->candidates[parent->next - 1];
    for (std::size_t i = 0; i < parent->count; ++i) {
        const Candidate& other = parent->candidates[i];
        const bool explored = other.asleep || i + 1 < parent->next;
        if (!explored || other.step.thread == taken.step.thread || dependent(other.accesses, taken.accesses, options_.commute)) continue;
        for (std::size_t k = 0; k < node.count; ++k)
            if (same(node.candidates[k].step, other.step)) node.candidates[k].asleep = true;
    }
}

void Exploration::report(Bug::Kind kind, Slot thread) {
    if (bug_) return;
    bug_ = Bug{kind, thread, {}};
    for (std::size_t i = 0; i < depth_; ++i)
        if (path_[i].next != 0) bug_->schedule.push_back(path_[i].candidates[path_[i].next - 1].step);
}

// A state in which nothing more can be done.
void Exploration::end_execution() {
    if (waits_for_assume_) {
        progress_.blocked.fetch_add(1, relaxed);
    } else {
        progress_.complete.fetch_add(1, relaxed);
        if (waits_for_resource_) report(Bug::Kind::deadlock, waiting_thread_);
    }
}

void Exploration::run() {
    if (machine_.failed()) report(Bug::Kind::failure, machine_.failure().thread);
    if (bug_ && !options_.keep_going) {
        progress_.complete.fetch_add(1, relaxed);
        return;
    }
    expand();
    if (path_[0].count == 0) end_execution();
    while (depth_ > 0) {
        if (stopping_.load(relaxed) || (bug_ && !options_.keep_going)) return;
        Node& node = path_[depth_ - 1];
        while (node.next < node.count && node.candidates[node.next].asleep) ++node.next;
        if (node.next == node.count) {
            --depth_;
            if (depth_ > 0) machine_.rewind(path_[depth_ - 1].mark);
            continue;
        }
        const Candidate& candidate = node.candidates[node.next++];
        machine_.step(candidate.step.thread, candidate.step.choices);
        progress_.steps.fetch_add(1, relaxed);
        progress_.depth.store(depth_, relaxed);
        if (machine_.failed()) {
            report(Bug::Kind::failure, machine_.failure().thread);
            if (!options_.keep_going) {
                progress_.complete.fetch_add(1, relaxed);
                return;
            }
        }
        if (depth_ >= options_.max_steps) {
            report(Bug::Kind::steps, candidate.step.thread);
            progress_.complete.fetch_add(1, relaxed);
            machine_.rewind(node.mark);
            continue;
        }
        expand();
        const Node& reached = path_[depth_ - 1];
        const auto candidates = std::span(reached.candidates).first(reached.count);
        if (candidates.empty()) end_execution();
        else if (std::ranges::all_of(candidates, &Candidate::asleep)) progress_.redundant.fetch_add(1, relaxed);
        const u64 executions = progress_.complete.load(relaxed) + progress_.blocked.load(relaxed);
        if (options_.max_executions != 0 && executions >= options_.max_executions) {
            // All of it may just have been covered.
            const auto untried = [](const Node& at) {
                return std::any_of(at.candidates.begin() + static_cast<std::ptrdiff_t>(at.next), at.candidates.begin() + static_cast<std::ptrdiff_t>(at.count),
                                   [](const Candidate& c) { return !c.asleep; });
            };
            finished_ = std::none_of(path_.begin(), path_.begin() + static_cast<std::ptrdiff_t>(depth_), untried);
            return;
        }
    }
    finished_ = true;
}

}  // namespace mazurka
