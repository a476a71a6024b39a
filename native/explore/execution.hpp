// The execution that a search is in: its events, their happens-before order, and the machine at its end.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "vm/machine.hpp"

namespace mazurka {

using Position = u32;  // of an event in the execution
inline constexpr Position nowhere = ~Position{0};

// A step that a thread can take: the thread, and the choices it makes on the way.
struct Step {
    Slot thread = 0;
    std::vector<u32> choices;
    bool operator==(const Step&) const = default;
};

// One table of accesses by place, so that finding what an access conflicts with takes time proportional to the answer.
class AccessIndex {
public:
    static constexpr u64 unit = 8;  // bytes of memory that share a list

    void add(Position event, const Access& access);
    void remove_from(Position event);  // forget all accesses of this and later events

    // Calls `visit(event, access)` for the accesses that conflict with this one, latest first for each place. At a write that hides
    // what came before it, goes on only if `visit` says so.
    template <class Visit>
    void conflicts(const Access& access, bool commute, Visit visit) const;

private:
    static constexpr u64 wide = 8 * unit;  // larger accesses are kept apart
    static constexpr u32 none = ~u32{0};
    struct Entry {
        Access access;
        Position event;
        u32 previous;        // in the same list
        u32 previous_write;  // likewise, of those that write
        u64 place;           // which list; `everything` for the wide ones
    };
    struct List {
        u64 place = everything;  // no place has this number
        u32 head = none;         // the latest entry
    };
    static std::size_t hash(u64 place) { return static_cast<std::size_t>((place ^ place >> 23) * 0x9e3779b97f4a7c15 >> 20); }
    u32& list(u64 place);
    u32 head(u64 place) const;

    std::vector<Entry> entries_;
    std::vector<List> lists_ = std::vector<List>(64);  // a hash table with linear probing; a power of two
    std::size_t places_ = 0;
    std::vector<u32> wide_;               // entries
};

template <class Visit>
void AccessIndex::conflicts(const Access& access, bool commute, Visit visit) const {
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
        const bool only_writes = !access.writes;
        u32 i = head(place);
        if (only_writes && i != none && !entries_[i].access.writes) i = entries_[i].previous_write;
        for (; i != none; i = only_writes ? entries_[i].previous_write : entries_[i].previous) {
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

class Execution {
public:
    struct Event {
        Slot thread;
        u32 index;          // among the events of its thread, from 1
        Position previous;  // of the same thread
        Machine::Mark mark; // before it
        u32 accesses;       // where they begin
        u32 choices;        // where they begin
        u64 threads;        // that existed before it
        u64 site;           // where in the code it is
        u32 guard_accesses; // how many of its accesses its guards depend on; 0: it could not have been disabled
        bool varies;        // what it touches can depend on what it reads, ...
        bool section;       // ... and so can whether it is enabled
        u64 expected;       // by a compare-exchange
    };

    Execution(const Code& code, MachineOptions options, bool commute, bool races)
        : machine_(code, options), commute_(commute), find_races_(races) {
        machine_.mark();  // the start is a point to return to
        spawned_by_.fill(nowhere);
        last_of_.fill(nowhere);
    }

    Position size() const { return static_cast<Position>(events_.size()); }
    const Event& operator[](Position position) const { return events_[position]; }
    Machine& machine() { return machine_; }
    const Machine& machine() const { return machine_; }
    bool commute() const { return commute_; }

    std::span<const Access> accesses(Position position) const {
        const u32 end = position + 1 < size() ? events_[position + 1].accesses : static_cast<u32>(accesses_.size());
        return std::span(accesses_).subspan(events_[position].accesses, end - events_[position].accesses);
    }
    std::span<const u32> choices(Position position) const {
        const u32 end = position + 1 < size() ? events_[position + 1].choices : static_cast<u32>(choices_.size());
        return std::span(choices_).subspan(events_[position].choices, end - events_[position].choices);
    }

    // Take a step and make it the last event. False: it is not enabled, and nothing has changed.
    [[nodiscard]] bool extend(Slot thread, std::span<const u32> choices);
    // The same for a step that is known to be enabled. If it is not, the search is wrong, and must not go on as if it were right.
    void take(Slot thread, std::span<const u32> choices) {
        if (!extend(thread, choices)) throw std::logic_error("a planned step is not enabled");
    }
    // Go back to the first `length` events.
    void shorten(Position length);

    bool happens_before(Position earlier, Position later) const {
        return row(later)[events_[earlier].thread] >= events_[earlier].index;
    }
    // What the next event of a thread happens after whatever it does: its last event, or the one that created it.
    Position before(Slot thread) const { return last_of_[thread] != nowhere ? last_of_[thread] : spawned_by_[thread]; }
    Position spawned_by(Slot thread) const { return spawned_by_[thread]; }
    u32 next_index(Slot thread) const { return last_of_[thread] != nowhere ? events_[last_of_[thread]].index + 1 : 1; }

    // The events that the last event conflicts with, latest first, but for those that are hidden by a write ...
    const std::vector<Position>& conflicts() const { return conflicts_; }
    // ... and those of them, and of other threads, that it directly happens after: it races with them.
    const std::vector<Position>& adjacent() const { return adjacent_; }

    // The events that conflict with accesses, latest first. What is hidden by a write for which `further` says no is left out.
    template <class Further>
    void conflicting(std::span<const Access> accesses, Further further, std::vector<Position>& positions) const {
        positions.clear();
        for (const Access& access : accesses)
            index_.conflicts(access, commute_, [&](Position event, const Access&) {
                positions.push_back(event);
                return further(event);
            });
        if (positions.size() > 1) {
            std::sort(positions.begin(), positions.end(), std::greater<>());
            positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
        }
    }

    // Whether the last event is independent of an earlier one only because they are updates that commute.
    bool commutes() const;

    // What `place` would hold after the first `length` events without `first` and those of them that happen after it; nothing if
    // that cannot be told from what the events overwrote.
    std::optional<u64> value_without(const Access& place, Position first, Position length) const;

    // The events with which the last one is in a data race: one of the two conflicting accesses is not atomic, and no
    // synchronisation orders them.
    const std::vector<Position>& data_races() const { return data_races_; }
    // A guarded access stands for a loop that makes the access again and again. It is in a data race with an earlier event if it can
    // come right after the two of them: that event, and the one that its thread did last.
    struct WaitingRace {
        Position first;
        Position last;  // `nowhere`: there is none
        Slot thread;
    };
    const std::vector<WaitingRace>& waiting_races() const { return waiting_races_; }
    // Look for those of a thread that has not got past its guard after the first `length` events. `accesses` are what it would touch.
    void find_races_of_waiting(Slot thread, std::span<const Access> accesses, Position length) {
        waiting_races_.clear();
        find_waiting_races(thread, before(thread), length, accesses);
    }

    u32 clock_size() const { return stride_; }
    std::span<const u32> clock(Position position) const { return {row(position), stride_}; }

private:
    void synchronise(Position position, Position before_it);
    bool would_write(const Access& access, Position after) const;
    void find_waiting_races(Slot thread, Position last, Position end, std::span<const Access> accesses);
    u32* row(Position position) { return clocks_.data() + std::size_t{position} * stride_; }
    const u32* row(Position position) const { return clocks_.data() + std::size_t{position} * stride_; }
    void widen(u32 stride);

    Machine machine_;
    bool commute_;
    bool find_races_;
    std::vector<Event> events_;
    Accesses accesses_;
    std::vector<u32> choices_;
    std::vector<u32> clocks_;  // a row per event: for each thread, how many of its events happen before or are this one
    u32 stride_ = 4;
    // As `clocks_`, but only synchronisation counts: what happens before an event, and what an event that acquires what it wrote
    // happens after.
    std::vector<u32> synchronised_;
    std::vector<u32> released_;
    std::vector<Position> data_races_;
    std::vector<WaitingRace> waiting_races_;
    std::vector<std::pair<Position, Access>> met_;
    std::array<Position, max_slots> spawned_by_;
    std::array<Position, max_slots> last_of_;
    AccessIndex index_;
    std::vector<Position> conflicts_;
    std::vector<Position> adjacent_;
};

}  // namespace mazurka
