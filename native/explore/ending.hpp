// The one judge of how an execution ended, over plain values.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "core/failure.hpp"
#include "core/step.hpp"

namespace mazurka {

// A thread that has not ended and cannot go on: what it stays at, and who holds what it waits for (0: nobody in
// particular).
struct Stay {
    Slot thread;
    Guard guard;
    Slot holder = 0;
};

struct Judgement {
    bool blocked = false;  // by something else than a resource: the execution does not count as complete
    bool bounded = false;  // the bound on a loop did that, ...
    bool assumed = false;  // ... or else something that the program assumes
    std::optional<Ending> ending = {};
    Slot thread = 0;  // whom the ending is told of
    u32 left = 0;     // so many wait, but the process ends all the same
};

// Threads that wait for each other in a circle, from the first of them on; none if there is no circle.
inline std::vector<Slot> circle(std::span<const Stay> stays) {
    const auto holder_of = [&](Slot thread) {
        for (const Stay& stay : stays)
            if (stay.thread == thread) return stay.guard == Guard::resource ? stay.holder : Slot{0};
        return Slot{0};
    };
    for (const Stay& stay : stays) {
        std::vector<Slot> met;
        for (Slot at = stay.thread; at != 0 && met.size() <= stays.size(); at = holder_of(at)) {
            if (!met.empty() && at == stay.thread) return met;
            met.push_back(at);
        }
    }
    return {};
}

// What it means that nobody can go on. Threads that wait for each other do so whatever the others do: a deadlock. Apart
// from that, an assumption or a bound excuses all. A loop that would be left if it went round once more is left in
// another execution; if each of them `spins`, it is a livelock. If all wait for resources, a deadlock. Where a thread
// has met a limit (`limited`), nobody knows what it would do for the others. And where `main` has `returned`, the
// process ends, with all who still wait; except that those in a circle were in a deadlock before it did.
template <class Spins>
Judgement judge(std::span<const Stay> stays, bool returned, bool limited, bool allow_livelock, Spins spins) {
    Judgement found;
    const auto first = [&](Guard guard) {
        for (const Stay& stay : stays)
            if (stay.guard == guard) return stay.thread;
        return Slot{0};
    };
    const Slot loop = first(Guard::loop), resource = first(Guard::resource);
    found.bounded = first(Guard::bound) != 0;
    const bool assumes = first(Guard::program) != 0;
    found.assumed = assumes && !found.bounded;
    found.blocked = found.bounded || assumes || loop != 0;
    const auto ends = [&](Ending ending, Slot thread) {
        found.ending = ending;
        found.thread = thread;
        return found;
    };
    if (!found.blocked && !limited && !returned) return resource == 0 ? found : ends(Ending::deadlock, resource);
    if (const std::vector<Slot> waiting = circle(stays); !waiting.empty()) return ends(Ending::deadlock, waiting[0]);
    if (returned) {
        const auto waits = [&](const Stay& stay) {
            return stay.guard == Guard::resource || (stay.guard == Guard::loop && spins(stay.thread));
        };
        found.left = static_cast<u32>(std::ranges::count_if(stays, waits));
        return found;
    }
    if (found.bounded || assumes || limited || allow_livelock) return found;
    for (const Stay& stay : stays)
        if (stay.guard == Guard::loop && !spins(stay.thread)) return found;
    return ends(Ending::livelock, loop);
}

// What is left to a search once an execution has met a limit, in steps: others may still show a bug, but they may as
// well all meet that limit, each of them after a long time.
inline constexpr u64 effort_beyond = 1'000'000;
inline constexpr u64 most_beyond = 20;  // executions in which a single step was too long

}  // namespace mazurka
