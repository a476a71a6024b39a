// Whether a thread goes round a loop for ever: all that it can do alone, until it comes back to where it was.
#include <algorithm>
#include <set>
#include <utility>

#include "vm/choices.hpp"
#include "vm/machine.hpp"

namespace mazurka {

namespace {
constexpr std::size_t most_places = 4096;  // a loop with more of them is not said to be endless
}

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
        std::vector<u64> place;
        std::vector<u32> choices;  // to try next
        Mark mark;
        bool tried;                // whether there was a step from here
        u64 passed;                // how often the guard was passed before
        std::size_t touched;       // how much was touched before
    };
    std::vector<Visit> path;
    std::set<std::vector<u64>> seen;
    Accesses touched;
    const u64 threads = world_.threads;
    const Mark before = mark();
    const bool recording = std::exchange(recording_, false);
    ignoring_loops_ = true;
    passed_ = 0;
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
        if (world_.failed && failure_.fault == Fault::too_many_instructions) return;
        if (status(slot) != Status::ready || world_.threads != threads || seen.size() == most_places) {
            leaves = true;
            return;
        }
        std::vector<u64> here = place(slot);
        if (seen.insert(here).second) {
            path.push_back({std::move(here), {}, mark(), false, passed_, touched.size()});
            return;
        }
        const auto again = std::ranges::find(path, here, &Visit::place);
        // If it goes round another loop, it has left the one that it was in.
        if (again != path.end() && again->passed == passed_) leaves = true;
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
        const Outcome outcome = step(slot, choices);
        if (!advance(visit.choices, ranges_)) visit.choices.clear();
        touched.insert(touched.end(), accesses_.begin(), accesses_.end());
        leaves = outcome == Outcome::blocked || std::ranges::any_of(accesses_, changes);
        if (!leaves) arrive();
    }
    ignoring_loops_ = false;
    recording_ = recording;
    rewind(before);
    return !leaves;
}

}  // namespace mazurka
