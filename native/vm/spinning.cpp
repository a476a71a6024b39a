// Whether a thread goes round a loop for ever: all that it can do alone, until it comes back to where it was.
#include <algorithm>
#include <map>
#include <utility>

#include "vm/choices.hpp"
#include "vm/machine.hpp"

namespace mazurka {

namespace {
constexpr std::size_t most_places = 4096;  // a loop with more of them is not said to be endless

bool has_cycle(const std::vector<std::vector<std::size_t>>& successors) {
    std::vector<std::size_t> incoming(successors.size(), 0), free;
    for (const auto& targets : successors)
        for (const std::size_t target : targets) ++incoming[target];
    for (std::size_t i = 0; i < incoming.size(); ++i)
        if (incoming[i] == 0) free.push_back(i);
    std::size_t taken = 0;
    for (; !free.empty(); ++taken) {
        const std::size_t next = free.back();
        free.pop_back();
        for (const std::size_t target : successors[next])
            if (--incoming[target] == 0) free.push_back(target);
    }
    return taken < successors.size();
}
}  // namespace

// Everything that the future of a thread depends on, but memory that others can reach.
std::vector<u64> Machine::place(Slot slot) const {
    const Thread& thread = threads_[slot];
    std::vector<u64> place{u64{thread.state.frames}, u64{thread.state.top}, spaces_[slot].objects.size()};
    for (u32 i = 0; i < thread.state.frames; ++i) place.push_back(thread.frames[i].pc);
    place.insert(place.end(), thread.values.begin(), thread.values.begin() + thread.state.top);
    place.insert(place.end(), thread.undefined.begin(), thread.undefined.begin() + thread.state.top);
    for (const Object& object : spaces_[slot].objects) {
        if (!object.is_private) continue;
        for (u64 at = object.at; at < object.at + object.size; ++at)
            place.push_back(spaces_[slot].bytes[at] | u64{spaces_[slot].undefined[at]} << 8);
    }
    return place;
}

// The guard that a thread does not get past.
u32 Machine::guard_of(Slot slot) {
    ignoring_loops_ = false;
    Next ahead;
    next(slot, {}, ahead);
    ignoring_loops_ = true;
    return ahead.waiting ? ahead.waiting->pc : 0;
}

bool Machine::spins(Slot slot, Accesses* on_the_way) {
    // An update to what is there already changes nothing.
    const auto changes = [&](const Access& access) {
        if (!access.writes) return false;
        u64 value = 0;
        return !access.reads || access.size > sizeof value || !read(access.address, {reinterpret_cast<u8*>(&value), access.size}) || value != access.before;
    };
    struct Visit {
        std::size_t place;
        std::vector<u32> choices;  // to try next
        Mark mark;
        bool tried;                // whether there was a step from here
        std::size_t touched;       // how much was touched before
    };
    std::vector<Visit> path;
    std::map<std::vector<u64>, std::size_t> seen;  // the places, numbered
    std::vector<std::vector<std::size_t>> around;  // from each place: where steps lead that do not pass the guard
    Accesses touched;
    const u64 threads = world_.threads;
    const Mark before = mark();
    const bool recording = std::exchange(recording_, false);
    ignoring_loops_ = true;
    watched_ = status(slot) == Status::stopped ? static_cast<u32>(site(slot)) : guard_of(slot);
    if (status(slot) == Status::stopped) {
        touch(slot);
        threads_[slot].state.status = Status::ready;
        accesses_.clear();
        resume(slot, false);
    }
    // Depth first, over what it can choose.
    bool leaves = false;
    const auto arrive = [&] {
        // It runs without any event, for longer than a step may take.
        if (world_.failed && failure_.thread == slot && failure_.fault == Fault::too_many_instructions) return;
        if (status(slot) != Status::ready || world_.threads != threads || seen.size() == most_places) {
            leaves = true;
            return;
        }
        const auto [here, added] = seen.try_emplace(place(slot), seen.size());
        if (!path.empty() && passed_ == 0) around[path.back().place].push_back(here->second);
        if (added) {
            path.push_back({here->second, {}, mark(), false, touched.size()});
            around.emplace_back();
            return;
        }
        const auto again = std::ranges::find(path, here->second, &Visit::place);
        if (on_the_way != nullptr && again != path.end())
            on_the_way->insert(on_the_way->end(), touched.begin() + static_cast<std::ptrdiff_t>(again->touched), touched.end());
    };
    arrive();
    while (!leaves && !path.empty()) {
        Visit& visit = path.back();
        rewind(visit.mark);
        touched.resize(visit.touched);
        if (visit.tried && visit.choices.empty()) {
            path.pop_back();
            continue;
        }
        visit.tried = true;
        const std::vector<u32> choices = visit.choices;
        passed_ = 0;
        const Outcome outcome = step(slot, choices);
        if (!advance(visit.choices, ranges_)) visit.choices.clear();
        touched.insert(touched.end(), accesses_.begin(), accesses_.end());
        leaves = outcome == Outcome::blocked || std::ranges::any_of(accesses_, changes);
        if (!leaves) arrive();
    }
    ignoring_loops_ = false;
    recording_ = recording;
    rewind(before);
    // If it can go round another loop, it has left the one that it was in.
    return !leaves && !has_cycle(around);
}

}  // namespace mazurka
