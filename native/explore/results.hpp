// What an exploration has found, as values: those of its parts can be added.
#pragma once

#include <algorithm>
#include <atomic>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "explore/access_index.hpp"
#include "explore/ending.hpp"

namespace mazurka {

struct Bug {
    Ending kind;
    Slot thread;
    std::vector<Step> schedule;
    Fault fault = {};  // of a failure
};

// Bugs of which one is enough, as far as the code tells: what happened, and where the threads were that it is about.
struct BugKey {
    Ending kind;
    Fault fault = {};
    std::vector<std::pair<Slot, u64>> places;
    bool operator==(const BugKey&) const = default;
};

struct Sighting {
    BugKey key;
    Bug bug;  // the first of them
    u64 executions = 0;
};

// So many different bugs are kept.
inline constexpr std::size_t most_bugs = 100;

// Why an execution was not followed to its end, which says nothing about the program.
struct Limit {
    Fault fault;
    Slot thread;
    std::vector<Step> schedule;
};

// Two steps of an execution with conflicting accesses that nothing orders, at least one of them not atomic.
struct DataRace {
    std::pair<u64, u64> sites;
    Position first;
    std::vector<Step> schedule;  // ends with the second, which may be a round of a loop that leads nowhere
};

// What tells data races apart: the two places in the code, and the address of what they are about, where that counts.
using RaceKey = std::pair<std::pair<u64, u64>, Address>;

// `with_address`: it counts what a race is about, the bytes that both accesses touch, by their address.
inline RaceKey race_key(u64 site, u64 other, std::span<const Access> accesses, std::span<const Access> others,
                        bool with_address) {
    const std::pair<u64, u64> sites = std::minmax(site, other);
    if (!with_address) return {sites, 0};
    for (const Access& one : accesses)
        for (const Access& two : others)
            if (is_data_race(one, two)) return {sites, std::max(one.address, two.address)};
    return {sites, accesses.empty() ? 0 : accesses.front().address};
}

// Threads that still wait when `main` returns.
struct Left {
    u32 count;
    std::vector<Step> schedule;
};

struct Counts {
    u64 complete = 0;   // maximal executions, and those that a bug or a limit ended
    u64 blocked = 0;    // maximal executions with a thread stopped by an assume
    u64 bounded = 0;    // those of them in which the bound on a loop did that
    u64 assumed = 0;    // those of the others in which something that the program assumes did that
    u64 beyond = 0;     // those of the complete ones in which a limit was met, so that they were not
    u64 redundant = 0;  // given up: an equivalent one was explored
    u64 steps = 0;
    // The first two with threads told apart that are alike; the largest number there is, if that is too small.
    u64 complete_apart = 0;
    u64 blocked_apart = 0;

    void tell_apart(u64 weight, bool is_blocked) {
        u64& count = is_blocked ? blocked_apart : complete_apart;
        count = count + weight < weight ? ~u64{0} : count + weight;
    }
    u64 executions() const { return complete + blocked; }
    Counts& operator+=(const Counts& other) {
        complete += other.complete;
        blocked += other.blocked;
        bounded += other.bounded;
        assumed += other.assumed;
        beyond += other.beyond;
        redundant += other.redundant;
        steps += other.steps;
        tell_apart(other.complete_apart, false);
        tell_apart(other.blocked_apart, true);
        return *this;
    }
};

struct Results {
    Counts counts;
    std::optional<Bug> bug;       // the first
    std::optional<Limit> limit;   // the first that an execution has met
    std::vector<Sighting> bugs;   // all that differ, data races aside
    std::optional<Left> left;     // of the first execution with the most of them
    std::vector<DataRace> races;  // one for each pair of places
    std::vector<std::vector<Step>> executions;

    bool knows(std::pair<u64, u64> sites) const {
        return std::ranges::find(races, sites, &DataRace::sites) != races.end();
    }
    Results& operator+=(const Results& other) {
        counts += other.counts;
        if (!bug) bug = other.bug;
        if (!limit) limit = other.limit;
        if (other.left && (!left || left->count < other.left->count)) left = other.left;
        for (const Sighting& sighting : other.bugs) {
            const auto known = std::ranges::find(bugs, sighting.key, &Sighting::key);
            if (known != bugs.end())
                known->executions += sighting.executions;
            else if (bugs.size() < most_bugs)
                bugs.push_back(sighting);
        }
        for (const DataRace& race : other.races)
            if (!knows(race.sites)) races.push_back(race);
        executions.insert(executions.end(), other.executions.begin(), other.executions.end());
        return *this;
    }
};

// Why POP leaves a program to Optimal: what it met, and where in the code.
struct HandOver {
    Obstacle obstacle;
    u64 site;
};

// The counts, and how far the search is, to be read while it runs.
struct Progress {
    std::atomic<u64> complete = 0;
    std::atomic<u64> blocked = 0;
    std::atomic<u64> redundant = 0;
    std::atomic<u64> steps = 0;
    std::atomic<u64> depth = 0;
    std::atomic<double> fraction = 0;  // about how much of everything that is; 0: not known

    void show(const Counts& counts, u64 present_depth) {
        constexpr auto relaxed = std::memory_order_relaxed;
        complete.store(counts.complete, relaxed);
        blocked.store(counts.blocked, relaxed);
        redundant.store(counts.redundant, relaxed);
        steps.store(counts.steps, relaxed);
        depth.store(present_depth, relaxed);
    }
};

}  // namespace mazurka
