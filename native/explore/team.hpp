// Workers that share one search. Each goes through what it has of it on its own; only when one has nothing left, others
// give away tasks, and everybody looks at that once per execution.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "explore/results.hpp"

namespace mazurka {

// How a search is divided among workers.
struct Division {
    u32 jobs = 1;   // how many there are
    u64 split = 0;  // not 0: tasks are given away at random, whether or not somebody has nothing to do; for tests

    bool divides() const { return jobs > 1 || split != 0; }
};

// What all of them know of each other.
class Crew {
public:
    Crew(Division division, const std::deque<Progress>& progress, const std::atomic<bool>& stopping)
        : division_(division), stopping_(stopping), progress_(progress) {}

    const Division& division() const { return division_; }
    // Somebody would like to have a task.
    bool is_hungry() const { return hungry_.load(std::memory_order_relaxed); }
    // A limit was met: so much is still done to look for a bug.
    void limit_steps(bool is_over) {
        const u64 most = is_over ? 0 : 10 * sum_of(progress_).steps + effort_beyond;
        u64 known = most_steps_.load();
        while (known > most && !most_steps_.compare_exchange_weak(known, most)) {
        }
    }
    // Whether all together have done as much as they may. What others are about to end counts, too, so that there may
    // be some executions more.
    bool is_over(u64 max_executions) const {
        const u64 most_steps = most_steps_.load(std::memory_order_relaxed);
        if (most_steps == ~u64{0} && max_executions == 0) return false;
        const Snapshot sum = sum_of(progress_);
        return sum.steps >= most_steps || (max_executions != 0 && sum.executions() >= max_executions);
    }
    // Nobody goes on.
    void end() {
        ended_ = true;
        const std::scoped_lock lock(mutex_);
        changed_.notify_all();
    }
    bool has_ended() const { return ended_.load(std::memory_order_relaxed); }

protected:
    Division division_;
    const std::atomic<bool>& stopping_;
    const std::deque<Progress>& progress_;
    std::atomic<bool> ended_ = false;
    std::atomic<u64> most_steps_ = ~u64{0};
    std::atomic<bool> hungry_ = false;
    std::mutex mutex_;
    std::condition_variable changed_;
};

template <class Task>
class Team : public Crew {
public:
    // The search begins with one task.
    Team(Division division, const std::deque<Progress>& progress, const std::atomic<bool>& stopping, Task first)
        : Crew(division, progress, stopping), random_(division.split) {
        tasks_.push_back(std::move(first));
    }

    void give(Task task) {
        const std::scoped_lock lock(mutex_);
        tasks_.push_back(std::move(task));
        look();
        changed_.notify_one();
    }
    // The next task, as soon as there is one. Nothing: there is none left, or the search is to end.
    std::unique_ptr<Task> take() {
        std::unique_lock lock(mutex_);
        ++waiting_;
        look();
        if (tasks_.empty() && waiting_ == division_.jobs) {
            done_ = true;
            changed_.notify_all();
        }
        // (Who asks from outside to stop does not know that somebody waits.)
        const auto is_over = [&] { return done_ || ended_ || stopping_; };
        while (!changed_.wait_for(lock, patience, [&] { return !tasks_.empty() || is_over(); })) {
        }
        if (is_over()) return {};
        --waiting_;
        // What was given away first is the largest.
        auto next = tasks_.begin();
        if (division_.split != 0) next += static_cast<std::ptrdiff_t>(random_() % tasks_.size());
        auto task = std::make_unique<Task>(std::move(*next));
        tasks_.erase(next);
        look();
        return task;
    }
    // Everything was covered.
    bool is_done() {
        const std::scoped_lock lock(mutex_);
        return done_;
    }

    // Calls `work` with the number of each worker, at the same time. If one comes back without having covered what
    // there was, which it says by false, nobody goes on.
    template <class Work>
    bool run(Work work) {
        bool complete = true;
        std::exception_ptr problem;
        const auto fail = [&] {
            {
                const std::scoped_lock lock(mutex_);
                if (!problem) problem = std::current_exception();
            }
            end();
        };
        const auto take_part = [&](u32 worker) {
            try {
                if (work(worker)) return;
                {
                    const std::scoped_lock lock(mutex_);
                    complete = false;
                }
                end();
            } catch (...) {
                fail();
            }
        };
        std::vector<std::thread> others;
        try {
            others.reserve(division_.jobs);
            for (u32 worker = 1; worker < division_.jobs; ++worker) others.emplace_back(take_part, worker);
        } catch (...) {
            fail();
        }
        take_part(0);
        for (std::thread& other : others) other.join();
        if (problem) std::rethrow_exception(problem);
        return complete;
    }

private:
    static constexpr std::chrono::milliseconds patience{50};

    void look() { hungry_.store(waiting_ > tasks_.size(), std::memory_order_relaxed); }

    std::deque<Task> tasks_;
    u32 waiting_ = 0;
    bool done_ = false;
    std::mt19937_64 random_;
};

}  // namespace mazurka
