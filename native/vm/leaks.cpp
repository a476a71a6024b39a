// Blocks on the heap that nobody has freed and nobody can find when the process ends.
//
// A block is found if a pointer leads to it, at whatever part of it, from a global variable; from a thread-local one of
// the first thread, or of a thread that still runs; from what such a thread still holds in its registers or on its
// stack, if it is not the one that ends the process; from what a thread has returned that nobody has joined; or from a
// block that is found. Only words at multiples of 8 are looked at, and bits beyond those of an address may be tags.
//
// Threads that have ended leave nothing behind that depends on the order in which they did, so that it is the same
// which of them is the last.
#include <bit>
#include <cstring>

#include "vm/arithmetic.hpp"
#include "vm/machine.hpp"

namespace mazurka {

namespace {

// Calls `visit` with each word of an object.
template <class Visit>
void each_word(const Space& space, const Object& object, Visit visit) {
    for (u64 offset = 0; offset + 8 <= object.size; offset += 8) {
        u64 word = 0;
        std::memcpy(&word, &space.bytes[object.at + offset], 8);
        visit(word);
    }
}

}  // namespace

bool Machine::ends_last(Slot thread) const {
    for (u64 rest = world_.threads & ~(u64{1} << thread); rest != 0; rest &= rest - 1) {
        const Status other = status(static_cast<Slot>(std::countr_zero(rest)));
        if (other != Status::ended && other != Status::returned) return false;
    }
    return true;
}

std::optional<Machine::Leak> Machine::find_leak(Slot ending) const {
    const auto block_at = [&](u64 word) -> std::optional<u64> {
        const u64 id = object_of(word & mask(address_bits));
        const auto& objects = spaces_[owner_of(id)].objects;
        if (number_of(id) >= objects.size()) return std::nullopt;
        const Object& object = objects[number_of(id)];
        return object.kind == ObjectKind::heap && object.alive ? std::optional(id) : std::nullopt;
    };
    std::vector<std::vector<bool>> met(max_slots);
    std::vector<u64> pending;
    const auto meet = [&](u64 word) {
        const auto id = block_at(word);
        if (!id) return;
        std::vector<bool>& known = met[owner_of(*id)];
        known.resize(spaces_[owner_of(*id)].objects.size());
        if (known[number_of(*id)]) return;
        known[number_of(*id)] = true;
        pending.push_back(*id);
    };
    const auto each_object = [&](auto visit) {
        for (u64 rest = world_.threads | 1; rest != 0; rest &= rest - 1) {
            const Slot owner = static_cast<Slot>(std::countr_zero(rest));
            for (u64 number = 0; number < spaces_[owner].objects.size(); ++number)
                visit(owner, number, spaces_[owner].objects[number]);
        }
    };

    each_object([&](Slot owner, u64, const Object& object) {
        const Space& space = spaces_[owner];
        const bool runs = owner != 0 && status(owner) == Status::ready;
        bool counts = object.kind == ObjectKind::global && !object.constant;
        if (object.kind == ObjectKind::thread_local_) counts = runs || owner == 1;
        if (object.kind == ObjectKind::stack) counts = object.alive && runs && owner != ending;
        if (object.kind == ObjectKind::thread) counts = get(&space.bytes[object.at + thread_joined], 4) == 0;
        if (counts) each_word(space, object, meet);
    });
    for (u64 rest = world_.threads & ~(u64{1} << ending); rest != 0; rest &= rest - 1) {
        const Slot slot = static_cast<Slot>(std::countr_zero(rest));
        if (status(slot) != Status::ready) continue;
        const Thread& thread = threads_[slot];
        for (u32 i = 0; i < thread.state.frames; ++i) {
            const Frame& frame = thread.frames[i];
            const bool in_call = i + 1 < thread.state.frames;
            for (const u32 reg : in_call ? own_facts_->live_during_call(frame.pc) : own_facts_->live(frame.pc))
                meet(thread.values[frame.base + reg]);
        }
    }
    while (!pending.empty()) {
        const u64 id = pending.back();
        pending.pop_back();
        each_word(spaces_[owner_of(id)], spaces_[owner_of(id)].objects[number_of(id)], meet);
    }

    // Of those that are lost, one that no other one leads to tells most.
    std::vector<u64> lost;
    each_object([&](Slot owner, u64 number, const Object& object) {
        const bool known = number < met[owner].size() && met[owner][number];
        if (object.kind == ObjectKind::heap && object.alive && !known)
            lost.push_back(object_of(address_of(owner, number)));
    });
    if (lost.empty()) return std::nullopt;
    for (const u64 id : lost) {
        bool held = false;
        for (const u64 other : lost)
            if (other != id)
                each_word(spaces_[owner_of(other)], spaces_[owner_of(other)].objects[number_of(other)],
                          [&](u64 word) { held = held || block_at(word) == id; });
        if (!held) return Leak{id << offset_bits, lost.size()};
    }
    return Leak{lost[0] << offset_bits, lost.size()};
}

}  // namespace mazurka
