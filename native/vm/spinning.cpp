// Whether a thread goes round a loop for ever: all that it can do alone, until it comes back to where it was.
#include <algorithm>
#include <map>
#include <utility>

#include "core/choices.hpp"
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
    Effect ahead;
    announce(slot, {}, ahead);
    ignoring_loops_ = true;
    return ahead.waiting ? ahead.waiting->pc : 0;
}

bool Machine::spins(Slot slot, Accesses* on_the_way) {
    // A byte of memory, and which of its bits are undefined.
    const auto content = [&](Address address) -> u64 {
        const Object* found = object(address);
        const u64 id = object_of(address), offset = address - (id << offset_bits);
        if (found == nullptr || offset >= found->size) return everything;
        const Space& space = spaces_[owner_of(id)];
        return space.bytes[found->at + offset] | u64{space.undefined[found->at + offset]} << 8;
    };
    // What memory that is written held at first. It may change in the course of a round, as the owner of a lock does,
    // but a round that leaves it changed has an effect.
    std::map<Address, u64> first;
    const auto remember = [&](const Access& access) {
        if (!access.writes) return true;
        if (access.size > most_places) return false;
        for (Address at = access.address; at < access.address + access.size; ++at) first.try_emplace(at, content(at));
        return true;
    };
    struct Visit {
        std::size_t place;
        std::vector<u32> choices;  // to try next
        Mark mark;
        bool tried;           // whether there was a step from here
        std::size_t touched;  // how much was touched before
    };
    std::vector<Visit> path;
    std::map<std::vector<u64>, std::size_t> seen;   // the places, numbered
    std::vector<std::vector<std::size_t>> around;   // from each place: where steps lead that do not pass the guard
    std::vector<std::vector<std::size_t>> changed;  // and where steps lead between places where memory is not as it was
    std::vector<bool> clean;                        // whether it is, at each place
    Accesses touched;
    Effect effect;
    const Mark before = mark();
    const bool recording = std::exchange(recording_, false);
    ignoring_loops_ = true;
    watched_ = status(slot) == Status::stopped ? static_cast<u32>(site(slot)) : guard_of(slot);
    if (status(slot) == Status::stopped) {
        touch(slot);
        threads_[slot].state.status = Status::ready;
        effect_ = &effect;
        resume(slot, false);
    }
    // Depth first, over what it can choose.
    bool leaves = false;
    const auto arrive = [&] {
        // It runs without any event, for longer than a step may take.
        if (status(slot) == Status::failed && world_.limited && limit_.thread == slot &&
            limit_.fault == Fault::too_many_instructions)
            return;
        if (status(slot) != Status::ready || effect.created != 0 || seen.size() == most_places) {
            leaves = true;
            return;
        }
        std::vector<u64> at = place(slot);
        const std::size_t unchanged = at.size();
        for (const auto& [address, held] : first)
            if (const u64 now = content(address); now != held) at.insert(at.end(), {address, now});
        const bool is_clean = at.size() == unchanged;
        const auto [here, added] = seen.try_emplace(std::move(at), seen.size());
        if (!path.empty() && passed_ == 0) around[path.back().place].push_back(here->second);
        if (!path.empty() && !is_clean && !clean[path.back().place]) changed[path.back().place].push_back(here->second);
        if (added) {
            path.push_back({here->second, {}, mark(), false, touched.size()});
            around.emplace_back();
            changed.emplace_back();
            clean.push_back(is_clean);
            return;
        }
        const auto again = std::ranges::find(path, here->second, &Visit::place);
        if (on_the_way != nullptr && again != path.end())
            on_the_way->insert(on_the_way->end(), touched.begin() + static_cast<std::ptrdiff_t>(again->touched),
                               touched.end());
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
        announce(slot, choices, effect);
        leaves = !effect.enabled || !std::ranges::all_of(effect.accesses, remember);
        if (leaves) break;
        passed_ = 0;
        take(slot, choices, effect);
        if (!advance(visit.choices, effect.ranges)) visit.choices.clear();
        touched.insert(touched.end(), effect.accesses.begin(), effect.accesses.end());
        arrive();
    }
    ignoring_loops_ = false;
    recording_ = recording;
    rewind(before);
    // If it can go round another loop, it has left the one that it was in; if it can go on without ever putting memory
    // back, it has an effect.
    return !leaves && !has_cycle(around) && !has_cycle(changed);
}

}  // namespace mazurka
