// Which events touched what: finding what an access conflicts with takes time proportional to the answer.
#pragma once

#include <vector>

#include "core/access.hpp"

namespace mazurka {

using Position = u32;  // of an event in the execution
inline constexpr Position nowhere = ~Position{0};

// One table of accesses by place.
class AccessIndex {
public:
    static constexpr u64 unit = 8;  // bytes of memory that share a list

    void add(Position event, const Access& access);
    void remove_from(Position event);  // forget all accesses of this and later events

    // Calls `visit(event, access)` for the accesses that conflict with this one, latest first for each place; only for
    // those that are not atomic, if `only_plain`. At a write that hides what came before it, goes on only if `visit`
    // says so.
    template <class Visit>
    void conflicts(const Access& access, bool commute, Visit visit, bool only_plain = false) const;

private:
    static constexpr u64 wide = 8 * unit;  // larger accesses are kept apart
    static constexpr u32 none = ~u32{0};
    struct Entry {
        Access access;
        Position event;
        u32 previous;        // in the same list
        u32 previous_write;  // likewise, of those that write
        u32 previous_plain;  // likewise, of those that are not atomic
        u64 place;           // which list; `everything` for the wide ones
    };
    struct List {
        u64 place = everything;  // no place has this number
        u32 head = none;         // the latest entry
    };
    static std::size_t hash(u64 place) {
        return static_cast<std::size_t>((place ^ place >> 23) * 0x9e3779b97f4a7c15 >> 20);
    }
    u32& list(u64 place);
    u32 head(u64 place) const;

    std::vector<Entry> entries_;
    std::vector<List> lists_ = std::vector<List>(64);  // a hash table with linear probing; a power of two
    std::size_t places_ = 0;
    std::vector<u32> wide_;  // entries
};

template <class Visit>
void AccessIndex::conflicts(const Access& access, bool commute, Visit visit, bool only_plain) const {
    for (auto it = wide_.rbegin(); it != wide_.rend(); ++it)
        if (conflict(entries_[*it].access, access, commute)) visit(entries_[*it].event, entries_[*it].access);
    if (access.size > wide) {
        // Rare: the end of an object's life, or of everything.
        for (std::size_t i = entries_.size(); i-- > 0;)
            if (entries_[i].place != everything && conflict(entries_[i].access, access, commute))
                visit(entries_[i].event, entries_[i].access);
        return;
    }
    for (u64 place = access.address / unit; place <= (access.address + access.size - 1) / unit; ++place) {
        // Reads do not conflict with each other: pass over them all at once.
        const bool only_writes = !access.writes && !only_plain;
        u32 i = head(place);
        if (only_writes && i != none && !entries_[i].access.writes) i = entries_[i].previous_write;
        if (only_plain && i != none && entries_[i].access.ordering != Ordering::plain) i = entries_[i].previous_plain;
        for (; i != none; i = only_plain    ? entries_[i].previous_plain
                              : only_writes ? entries_[i].previous_write
                                            : entries_[i].previous) {
            const Entry& entry = entries_[i];
            if (!conflict(entry.access, access, commute)) continue;
            const bool further = visit(entry.event, entry.access);
            const bool hides = entry.access.writes && entry.access.commuting == Commuting::no &&
                               entry.access.address <= access.address &&
                               access.address + access.size <= entry.access.address + entry.access.size;
            if (hides && !further) break;
        }
    }
}

}  // namespace mazurka
