// The objects of the machine's memory: how they come and go, and what is in them.
#include <algorithm>
#include <bit>

#include "vm/machine.hpp"

namespace mazurka {

Object& Machine::make_object(Slot owner, u64 size, ObjectKind kind, i32 site) {
    Space& space = spaces_[owner];
    const u64 at = space.bytes.size();
    const u64 padded = (std::max<u64>(size, 1) + 7) & ~u64{7};
    space.bytes.resize(at + padded, 0);
    space.undefined.resize(at + padded, 0xff);
    if (options_.follow_pointers) space.pointers.resize((at + padded) / 8, 0);
    space.objects.push_back({at, static_cast<u32>(size), 0, 0, site, -1, 0, kind, true, false, false});
    trail_.push(owner);
    trail_.push(Record::object_made);
    return space.objects.back();
}

void Machine::end_object(Slot owner, u64 number, i32 pc) {
    Object& object = spaces_[owner].objects[number];
    trail_.push(SavedObject{owner, number, object.freed_at, object.alive});
    trail_.push(Record::object_ended);
    object.alive = false;
    object.freed_at = pc;
}

std::vector<u64> Machine::freed_blocks(Slot slot, u64 size) const {
    std::vector<u64> found;
    for (u64 rest = world_.threads; rest != 0; rest &= rest - 1) {
        const Slot owner = static_cast<Slot>(std::countr_zero(rest));
        const auto& objects = spaces_[owner].objects;
        for (u64 number = 0; number < objects.size(); ++number) {
            const Object& object = objects[number];
            if (object.kind == ObjectKind::heap && !object.alive && object.freed_by == slot && object.size == size)
                found.push_back(object_of(address_of(owner, number)));
        }
    }
    return found;
}

void Machine::use_again(u64 id, i32 site) {
    const Slot owner = owner_of(id);
    Space& space = spaces_[owner];
    Object& object = space.objects[number_of(id)];
    for (u64 at = object.at; at < object.at + object.size; at += 8) {
        save_bytes(owner, at, 8);
        put(&space.bytes[at], 0, 8);
        put(&space.undefined[at], ~u64{0}, 8);
        if (options_.follow_pointers) space.pointers[at / 8] = 0;
    }
    trail_.push(object);
    trail_.push(id);
    trail_.push(Record::object_used_again);
    object.alive = true;
    object.site = site;
    object.freed_at = -1;
}

bool Machine::leaves_shared_objects(const Thread& thread, u32 down_to) const {
    if (thread.state.stack == down_to) return false;
    const Space& space = spaces_[static_cast<std::size_t>(&thread - threads_.data())];
    for (u32 number = thread.state.stack; number != down_to; number = space.objects[number].below)
        if (!space.objects[number].is_private) return true;
    return false;
}

// A function's local variables die when it returns. Private ones cannot be reached any more: nothing to do.
void Machine::end_stack_objects(Slot slot, u32 down_to, i32 pc) {
    Thread& thread = threads_[slot];
    for (u32 number = thread.state.stack; number != down_to;) {
        const Object& object = spaces_[slot].objects[number];
        if (!object.is_private) {
            if (world_.several)
                effect_->accesses.push_back({.address = address_of(slot, number),
                                             .size = std::max<u64>(object.size, 1),
                                             .before = 0,
                                             .reads = false,
                                             .writes = true,
                                             .commuting = Commuting::no,
                                             .ordering = Ordering::lifetime,
                                             .life = Life::ends});
            end_object(slot, number, pc);
        }
        number = object.below;
    }
    thread.state.stack = down_to;
}

const Object* Machine::object(Address address) const {
    const u64 object = object_of(address);
    const Space& space = spaces_[owner_of(object)];
    return number_of(object) < space.objects.size() ? &space.objects[number_of(object)] : nullptr;
}

void Machine::poke(Address address, u32 size, u64 value, u64 undefined) {
    const Object* found = object(address);
    const u64 id = object_of(address);
    const u64 at = found->at + (address - (id << offset_bits));
    save_bytes(owner_of(id), at, size);
    put(&spaces_[owner_of(id)].bytes[at], value, size);
    put(&spaces_[owner_of(id)].undefined[at], undefined, size);
    // It has been there before, or will be: whatever can be the address of a block is one.
    if (options_.follow_pointers) {
        const u64 pointed = object_of(value);
        const bool is_pointer = size == 8 && owner_of(pointed) != 0 && number_of(pointed) > code_.thread_locals.size();
        spaces_[owner_of(id)].pointers[at / 8] = spaces_[owner_of(id)].pointers[(at + size - 1) / 8] = is_pointer;
    }
}

Machine::Content Machine::content(Address address, u32 size) const {
    const Object* found = object(address);
    const u64 id = object_of(address);
    const Space& space = spaces_[owner_of(id)];
    const u64 at = found->at + (address - (id << offset_bits));
    return {get(&space.bytes[at], size), get(&space.undefined[at], size)};
}

bool Machine::read(Address address, std::span<u8> into) const {
    const Object* found = object(address);
    const u64 id = object_of(address);
    const u64 offset = address - (id << offset_bits);
    if (found == nullptr || offset > found->size || into.size() > found->size - offset) return false;
    std::copy_n(spaces_[owner_of(id)].bytes.begin() + static_cast<std::ptrdiff_t>(found->at + offset), into.size(),
                into.begin());
    return true;
}

std::optional<u64> Machine::defined_value(Address address, u32 size) const {
    const Object* found = object(address);
    const u64 id = object_of(address);
    const u64 offset = address - (id << offset_bits);
    if (found == nullptr || size > 8 || offset > found->size || size > found->size - offset) return {};
    const Space& space = spaces_[owner_of(id)];
    if (options_.uninitialised && get(&space.undefined[found->at + offset], size) != 0) return {};
    return get(&space.bytes[found->at + offset], size);
}

}  // namespace mazurka
