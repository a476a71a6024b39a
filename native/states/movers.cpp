#include "states/movers.hpp"

#include <algorithm>
#include <bit>

namespace mazurka {

namespace {

constexpr u64 unit = 4;
constexpr u64 relative = u64{1} << 63;

bool can_move(const Object& object) { return object.kind == ObjectKind::stack || object.kind == ObjectKind::heap; }

}  // namespace

Movers::Place& Movers::place(u64 key) {
    if (2 * used_ >= places_.size()) {
        std::vector<Place> larger(2 * places_.size());
        std::swap(places_, larger);
        used_ = 0;
        for (const Place& old : larger)
            if (old.key != unused) place(old.key) = old;
    }
    std::size_t i = (key * 0x9e3779b97f4a7c15 >> 32) & (places_.size() - 1);
    while (places_[i].key != key && places_[i].key != unused) i = (i + 1) & (places_.size() - 1);
    if (places_[i].key == unused) {
        places_[i].key = key;
        ++used_;
    }
    return places_[i];
}

u64 Movers::key(const Machine& machine, Address address) {
    const Object& object = *machine.object(address);
    if (!can_move(object)) return address / unit;
    const u64 offset = address - (object_of(address) << offset_bits);
    return relative | static_cast<u64>(object.site) << offset_bits | offset / unit;
}

void Movers::become_shared(Place& place) {
    if (place.kind == Kind::lock || place.kind == Kind::data) wrong_ = true;
    place.kind = Kind::shared;
}

void Movers::see_data(Place& place, Slot thread, u64 object) {
    if (place.kind == Kind::shared) return;
    if (place.kind == Kind::lock) return become_shared(place);
    // The locks that protect this access, as every access to this place can name them.
    const auto protects = [&](u64 lock) {
        return std::ranges::any_of(held_, [&](const Lock& held) {
            if (!held.movable) return held.address == lock;
            return object_of(held.address) == object && (relative | (held.address - (object << offset_bits))) == lock;
        });
    };
    const bool by_maker = owner_of(object) == thread;
    if (place.kind == Kind::unseen) {
        place.kind = Kind::data;
        place.thread = thread;
        place.by_maker = by_maker;
        place.locks = 0;
        for (const Lock& held : held_) {
            if (held.movable && object_of(held.address) != object) continue;
            place.held[place.locks++] =
                held.movable ? relative | (held.address - (object << offset_bits)) : held.address;
        }
        return;
    }
    if (place.thread != thread) place.thread = 0;
    if (!by_maker) place.by_maker = false;
    for (u8 i = 0; i < place.locks;) {
        if (protects(place.held[i]))
            ++i;
        else
            place.held[i] = place.held[--place.locks];
    }
    if (place.thread == 0 && !place.by_maker && place.locks == 0) become_shared(place);
}

// What is noted here stays when the search begins again. Whoever may be in a data race has to be outside of a
// transaction, and so what was searched before this was known may have been too little.
void Movers::see_order(Place& place, const Access& access, u32 position) {
    if (access.ordering == Ordering::lifetime) return;
    const bool plain = access.ordering == Ordering::plain;
    const bool new_here = (access.writes && !place.written) || (plain && !place.plain);
    place.written |= access.writes;
    place.plain |= plain;
    if (place.kind != Kind::shared || !place.written || !place.plain) return;
    if (plain && !contended(position)) {
        if (position >= contended_.size()) contended_.resize(position + 1, false);
        contended_[position] = true;
        wrong_ = true;
    }
    wrong_ |= new_here;
}

Mover Movers::judge(const Machine& machine, Slot thread, const Effect& effect, std::span<const Address> held) {
    // With nobody else there, no rule can be broken; but whether that is so depends on the others.
    bool alone = true;
    for (u64 rest = machine.threads() & ~(u64{1} << thread); rest != 0 && alone; rest &= rest - 1) {
        const Status status = machine.status(static_cast<Slot>(std::countr_zero(rest)));
        alone = status == Status::ended || status == Status::returned;
    }
    const std::vector<Claim>& claims = effect.claims;
    if (alone) {
        // Only that a lock is made anew, or given up, while it is held must be known.
        for (const Address lock : held) {
            if (std::ranges::find(claims, lock, &Claim::lock) != claims.end()) continue;
            for (const Access& access : effect.accesses)
                if (access.address < lock + lock_size && lock < access.address + access.size)
                    become_shared(place(key(machine, lock)));
        }
        return {false, false};
    }
    held_.clear();
    for (const Address lock : held) {
        if (place(key(machine, lock)).kind == Kind::lock) held_.push_back({lock, can_move(*machine.object(lock))});
    }
    Mover mover{true, true};
    for (const Access& access : effect.accesses) {
        if (access.size == everything) return {false, false};
        const u64 object = object_of(access.address);
        const Claim* claim = nullptr;
        for (const Claim& one : claims)
            if (object_of(one.lock) == object && access.address >= one.lock &&
                access.address + access.size <= one.lock + lock_size)
                claim = &one;
        // Threads look at each other's control blocks, but for the last bytes, which stand for the process.
        const Object& touched = *machine.object(access.address);
        const Address private_end =
            touched.kind == ObjectKind::thread ? (object << offset_bits) + touched.size - unit : 0;
        for (Address at = access.address & ~(unit - 1); at < access.address + access.size; at += unit) {
            Place& seen = place(key(machine, at));
            if (claim == nullptr) {
                if (at < private_end) seen.kind = Kind::shared;
                see_data(seen, thread, object);
                if (finds_contended_) see_order(seen, access, static_cast<u32>(effect.site));
                if (seen.kind == Kind::shared) mover = {false, false};
                continue;
            }
            const u32 offset = static_cast<u32>(at - (claim->lock & ~(unit - 1)));
            const bool new_here = seen.kind == Kind::unseen;
            if (new_here) {
                seen.kind = Kind::lock;
                seen.offset = offset;
            } else if (seen.kind == Kind::data || seen.offset != offset) {
                become_shared(seen);
            }
            if (finds_contended_) see_order(seen, access, static_cast<u32>(effect.site));
            if (seen.kind == Kind::lock && !seen.tried &&
                (claims.size() > 1 || claim->kind == ClaimKind::try_ || claim->kind == ClaimKind::look)) {
                seen.tried = true;
                wrong_ |= !new_here;
            }
            if (seen.kind == Kind::shared || seen.tried)
                mover = {false, false};
            else if (claim->kind == ClaimKind::acquire)
                mover.left = false;
            else if (claim->kind == ClaimKind::release)
                mover.right = false;
        }
    }
    return mover;
}

void Movers::start_again() {
    for (Place& place : places_) {
        if (place.key == unused || place.kind == Kind::shared) continue;
        const Place known = place;
        place = Place{};
        place.key = known.key;
        place.tried = known.tried;
        place.written = known.written;
        place.plain = known.plain;
    }
    wrong_ = false;
}

}  // namespace mazurka
