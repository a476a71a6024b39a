// What an exploration has found, as values: those of its parts can be added.
#pragma once

#include <algorithm>
#include <atomic>
#include <compare>
#include <deque>
#include <iterator>
#include <optional>
#include <span>
#include <tuple>
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
    auto rest() const { return thread; }
};

// Bugs of which one is enough, as far as the code tells: what happened, and where the threads were that it is about.
struct BugKey {
    Ending kind;
    Fault fault = {};
    std::vector<std::pair<Slot, u64>> places;
    auto operator<=>(const BugKey&) const = default;
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
    auto rest() const { return thread; }
};

// Two steps of an execution with conflicting accesses that nothing orders, at least one of them not atomic.
struct DataRace {
    std::pair<u64, u64> sites;
    Position first;
    std::vector<Step> schedule;  // ends with the second, which may be a round of a loop that leads nowhere
    auto rest() const { return std::pair(first, sites); }
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
    auto rest() const { return count; }
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

// Which of several schedules is told, whoever has found it first: the shortest. `precedes` is an order of threads that
// does not depend on how they are numbered.
template <class Precedes>
std::weak_ordering compare(std::span<const Step> one, std::span<const Step> other, Precedes precedes) {
    if (one.size() != other.size()) return one.size() <=> other.size();
    const auto [a, b] = std::ranges::mismatch(one, other);
    if (a == one.end()) return std::weak_ordering::equivalent;
    if (a->thread != b->thread)
        return precedes(a->thread, b->thread) ? std::weak_ordering::less : std::weak_ordering::greater;
    if (a->choices != b->choices) return a->choices <=> b->choices;
    const auto key = [](const Reading& read) {
        return std::tuple(read.address, read.size, read.value, read.undefined, read.source);
    };
    const bool less = std::ranges::lexicographical_compare(a->reads, b->reads, {}, key, key);
    return less ? std::weak_ordering::less : std::weak_ordering::greater;
}

// The same for what is found, with its schedule.
template <class Found, class Precedes>
bool comes_before(const Found& one, const Found& other, Precedes precedes) {
    const auto order = compare(one.schedule, other.schedule, precedes);
    return order != 0 ? order < 0 : one.rest() < other.rest();
}

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
    // Add what another part of the search has found. Of what both have found, the same is kept in whatever order parts
    // are added; the order of all is up to `settle`.
    template <class Precedes>
    void add(Results other, Precedes precedes) {
        const auto least = [&](auto& mine, auto& theirs) {
            if (comes_before(theirs, mine, precedes)) mine = std::move(theirs);
        };
        const auto either = [&](auto& mine, auto& theirs) {
            if (mine && theirs)
                least(*mine, *theirs);
            else if (theirs)
                mine = std::move(theirs);
        };
        counts += other.counts;
        either(bug, other.bug);
        either(limit, other.limit);
        if (left && other.left && left->count != other.left->count)
            (left->count > other.left->count ? other.left : left).reset();
        either(left, other.left);
        for (Sighting& sighting : other.bugs) {
            const auto known = std::ranges::find(bugs, sighting.key, &Sighting::key);
            if (known != bugs.end()) {
                known->executions += sighting.executions;
                least(known->bug, sighting.bug);
            } else {
                bugs.push_back(std::move(sighting));
            }
        }
        for (DataRace& race : other.races) {
            const auto known = std::ranges::find(races, race.sites, &DataRace::sites);
            if (known != races.end())
                least(*known, race);
            else
                races.push_back(std::move(race));
        }
        std::ranges::move(other.executions, std::back_inserter(executions));
    }
    // When all parts are there: an order that does not depend on who has found what when.
    template <class Precedes>
    void settle(Precedes precedes) {
        std::ranges::sort(
            races, [&](const DataRace& one, const DataRace& other) { return comes_before(one, other, precedes); });
        std::ranges::sort(bugs, [&](const Sighting& one, const Sighting& other) {
            const auto order = compare(one.bug.schedule, other.bug.schedule, precedes);
            return order != 0 ? order < 0 : one.key < other.key;
        });
        if (bugs.size() > most_bugs) bugs.resize(most_bugs);
        if (!bugs.empty())
            bug = bugs.front().bug;
        else if (bug)
            bug = Bug{Ending::race, races.front().schedule.back().thread, races.front().schedule};
    }
};

// Why POP leaves a program to Optimal: what it met, and where in the code.
struct HandOver {
    Obstacle obstacle;
    u64 site;
};

// The counts, and how far a search is.
struct Snapshot {
    u64 complete = 0;
    u64 blocked = 0;
    u64 redundant = 0;
    u64 steps = 0;
    u64 depth = 0;
    double fraction = 0;  // about how much of everything that is; 0: not known

    u64 executions() const { return complete + blocked; }
    Snapshot& operator+=(const Snapshot& other) {
        complete += other.complete;
        blocked += other.blocked;
        redundant += other.redundant;
        steps += other.steps;
        depth = std::max(depth, other.depth);
        fraction += other.fraction;
        return *this;
    }
};

// That of one worker, to be read while it runs.
struct alignas(64) Progress {
    std::atomic<u64> complete = 0;
    std::atomic<u64> blocked = 0;
    std::atomic<u64> redundant = 0;
    std::atomic<u64> steps = 0;
    std::atomic<u64> depth = 0;
    std::atomic<double> fraction = 0;

    void show(const Counts& counts, u64 present_depth) {
        constexpr auto relaxed = std::memory_order_relaxed;
        complete.store(counts.complete, relaxed);
        blocked.store(counts.blocked, relaxed);
        redundant.store(counts.redundant, relaxed);
        steps.store(counts.steps, relaxed);
        depth.store(present_depth, relaxed);
    }
    void clear() {
        show({}, 0);
        fraction = 0;
    }
    Snapshot now() const {
        constexpr auto relaxed = std::memory_order_relaxed;
        return {complete.load(relaxed), blocked.load(relaxed), redundant.load(relaxed),
                steps.load(relaxed),    depth.load(relaxed),   fraction.load(relaxed)};
    }
};

inline Snapshot sum_of(const std::deque<Progress>& workers) {
    Snapshot sum;
    for (const Progress& one : workers) sum += one.now();
    sum.fraction = std::clamp(sum.fraction, 0.0, 1.0);  // (each worker tells it when it comes to that)
    return sum;
}

}  // namespace mazurka
