// The execution that a search is in: its events, their happens-before order, and the subject at its end.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "explore/access_index.hpp"
#include "explore/subject.hpp"
#include "explore/symmetry.hpp"
#include "explore/synchronisation.hpp"

namespace mazurka {

template <Subject S>
class Execution {
public:
    struct Event {
        Slot thread;
        u32 index;              // among the events of its thread, from 1
        Position previous;      // in the same slot
        Position predecessor;   // of the same thread, or the one that created it
        typename S::Mark mark;  // before it
        u32 accesses;           // where they begin
        u32 choices;            // where they begin
        u32 spawns;             // where they begin
        u64 site;               // where in the code it is
        u32 guard_accesses;     // how many of its accesses its guards depend on; 0: it could not have been disabled
        bool varies;            // what it touches can depend on what it reads, ...
        bool section;           // ... and so can whether it is enabled
        bool races;             // with an earlier one
        u64 expected;           // by a compare-exchange, ...
        u64 compared;           // ... which looks at these bits
        // Of a thread that is alike another one, as long as it has done the same: the event of the other that it comes
        // after, and whether it still has.
        Position twin = nowhere;
        bool same = false;
    };

    Execution(const S& start, bool commute, bool races, bool symmetry = false)
        : subject_(start.again()),
          commute_(commute),
          find_races_(races),
          symmetry_(symmetry),
          synchronisation_(has_fences(subject_)) {
        subject_.mark();  // the start is a point to return to
        spawned_by_.fill(nowhere);
        last_of_.fill(nowhere);
    }

    Position size() const { return static_cast<Position>(events_.size()); }
    const Event& operator[](Position position) const { return events_[position]; }
    S& subject() { return subject_; }
    const S& subject() const { return subject_; }
    bool commute() const { return commute_; }

    std::span<const Access> accesses(Position position) const {
        const u32 end = position + 1 < size() ? events_[position + 1].accesses : static_cast<u32>(accesses_.size());
        return std::span(accesses_).subspan(events_[position].accesses, end - events_[position].accesses);
    }
    std::span<const u32> choices(Position position) const {
        const u32 end = position + 1 < size() ? events_[position + 1].choices : static_cast<u32>(choices_.size());
        return std::span(choices_).subspan(events_[position].choices, end - events_[position].choices);
    }

    // What the last event did, or the one that could not be added.
    const Effect& effect() const { return effect_; }

    // Take a step and make it the last event. False: it is not enabled, and nothing has changed.
    [[nodiscard]] bool extend(Slot thread, std::span<const u32> choices);
    // The same for a step that is known to be enabled. If it is not, the search is wrong, and must not go on as if it
    // were right.
    void take(Slot thread, std::span<const u32> choices) {
        if (!extend(thread, choices)) throw std::logic_error("a planned step is not enabled");
    }
    // Go back to the first `length` events.
    void shorten(Position length);

    bool happens_before(Position earlier, Position later) const {
        return row(later)[events_[earlier].thread] >= events_[earlier].index;
    }
    // The same by what they do alone, whatever the order of threads that are alike.
    bool depends(Position earlier, Position later) const {
        const u32* const clock = follows_dependence() ? dependence_.data() + std::size_t{later} * stride_ : row(later);
        return clock[events_[earlier].thread] >= events_[earlier].index;
    }
    // What the next event of a thread happens after whatever it does: its last event, or the one that created it.
    Position before(Slot thread) const {
        const Position last = last_of_[thread], spawned = spawned_by_[thread];
        // (A slot may have had a thread before, whose end comes before the creation.)
        return last == nowhere || (spawned != nowhere && spawned > last) ? spawned : last;
    }
    // Threads that are alike are in the same state as long as they have read the same and written nothing that others
    // can tell apart, so exchanging their names leads to the same executions. Of these, only those are executions here
    // in which the one that was created first always moves first. So its event comes before that of the other, as if it
    // were of the same thread, and nothing reverses that order.
    struct Twin {
        bool needed;
        Position event;  // `nowhere`: it is still to come
    };
    Twin twin_of_next(Slot thread) const;
    // Whether a step of a thread that has just been looked at is one that there is.
    bool admits(Slot thread, const Effect& effect, std::span<const u32> choices) const {
        const Twin twin = twin_of_next(thread);
        return !twin.needed || (twin.event != nowhere && admits_step(twin.event, effect, choices));
    }
    // The same for one that would be in the place of an event.
    bool admits_instead(Position position, const Effect& effect, std::span<const u32> choices) const {
        return admits_step(events_[position].twin, effect, choices);
    }
    // Something tells threads apart that were taken to be alike.
    bool tells_apart() const { return tells_apart_; }
    // How many executions this one stands for.
    u64 weight() const;

    u32 next_index(Slot thread) const { return last_of_[thread] != nowhere ? events_[last_of_[thread]].index + 1 : 1; }

    // The events that the last event conflicts with, latest first, but for those that are hidden by a write ...
    const std::vector<Position>& conflicts() const { return conflicts_; }
    // ... and those of them, and of other threads, that it directly happens after: it races with them.
    const std::vector<Position>& adjacent() const { return adjacent_; }

    // The events that conflict with accesses, latest first. What is hidden by a write for which `further` says no is
    // left out.
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

    // What `place` would hold after the first `length` events without `first` and those of them that happen after it;
    // nothing if that cannot be told from what the events overwrote.
    std::optional<u64> value_without(const Access& place, Position first, Position length) const;

    // The events with which the last one is in a data race: one of the two conflicting accesses is not atomic, and no
    // synchronisation orders them.
    const std::vector<Position>& data_races() const { return data_races_; }
    // Whether they may be ones only if updates that commute come in another order.
    bool races_if_reordered() const { return first_commuting_ != nowhere; }
    // A guarded access stands for a loop that makes the access again and again. It is in a data race with an earlier
    // event if it can come right after the two of them: that event, and the one that its thread did last.
    struct WaitingRace {
        Position first;
        Position last;  // `nowhere`: there is none
        Slot thread;
    };
    const std::vector<WaitingRace>& waiting_races() const { return waiting_races_; }
    // Look for those of a thread that has not got past its guard after the first `length` events, and would do this.
    void find_races_of_waiting(Slot thread, const Effect& effect, Position length) {
        waiting_races_.clear();
        find_waiting_races(thread, before(thread), length, effect);
    }

    u32 clock_size() const { return stride_; }
    std::span<const u32> clock(Position position) const { return {row(position), stride_}; }

private:
    std::optional<u64> value_now(const Access& place) const {
        if constexpr (Pokable<S>) return subject_.defined_value(place.address, static_cast<u32>(place.size));
        return {};
    }
    bool follows_dependence() const { return symmetry_ && find_races_; }
    bool admits_step(Position twin, const Effect& effect, std::span<const u32> choices) const;
    bool is_local(const Effect& effect) const {
        return !effect.section && std::ranges::all_of(effect.accesses, [](const Access& access) {
            return !access.writes && access.address == process_byte(owner_of(object_of(access.address)));
        });
    }
    void compare_with_twin(Position position, Position twin);
    Slot joined_by(Position position) const;
    void look_for_names(Position position);
    void synchronise(Position position);
    // Calls `visit(event, access)` for what is in a data race with an access of a thread that knows so much.
    template <class Visit>
    void unordered(const Access& access, const u32* known, Visit visit) const;
    bool would_write(const Access& access, u64 expected, Position after) const;
    void find_waiting_races(Slot thread, Position last, Position end, const Effect& effect);
    u32* row(Position position) { return clocks_.data() + std::size_t{position} * stride_; }
    const u32* row(Position position) const { return clocks_.data() + std::size_t{position} * stride_; }
    void widen(u32 stride);

    S subject_;
    bool commute_;
    bool find_races_;
    bool symmetry_;
    bool tells_apart_ = false;
    Effect effect_;
    std::vector<Event> events_;
    Accesses accesses_;
    std::vector<u32> choices_;
    std::vector<u32> clocks_;  // a row per event: for each thread, how many of its events happen before or are this one
    std::vector<u32> dependence_;  // the same without the order of threads that are alike, where that is needed
    u32 stride_ = 4;
    Synchronisation synchronisation_;     // the same, but only what the memory model says counts
    Position first_commuting_ = nowhere;  // the first update that commutes with one before it
    std::vector<Position> data_races_;
    std::vector<WaitingRace> waiting_races_;
    std::vector<std::pair<Position, Access>> met_, candidates_;
    struct Spawn {
        Slot thread;
        Position before;  // what `spawned_by_` was
    };
    std::vector<Spawn> spawns_;
    std::array<Position, max_slots> spawned_by_;
    std::array<Position, max_slots> last_of_;
    AccessIndex index_;
    std::vector<Position> conflicts_;
    std::vector<Position> adjacent_;
};

template <Subject S>
void Execution<S>::widen(u32 stride) {
    clocks_ = widened(clocks_, stride_, stride);
    dependence_ = widened(dependence_, stride_, stride);
    synchronisation_.widen(stride);
    stride_ = stride;
}

template <Subject S>
bool Execution<S>::extend(Slot thread, std::span<const u32> choices) {
    const Twin twin = twin_of_next(thread);
    if (twin.needed && twin.event == nowhere) {
        effect_.clear();
        return false;
    }
    const typename S::Mark mark = subject_.mark();
    if (!subject_.take(thread, choices, effect_) || !admits(thread, effect_, choices)) {
        subject_.rewind(mark);
        return false;
    }
    const Position position = size();
    const Position before_it = before(thread);
    const u32 index = next_index(thread);
    if (subject_.named_threads() > stride_) widen(std::max(2 * stride_, subject_.named_threads()));
    events_.push_back({thread, index, last_of_[thread], before_it, mark, static_cast<u32>(accesses_.size()),
                       static_cast<u32>(choices_.size()), static_cast<u32>(spawns_.size()), effect_.site,
                       effect_.guard_accesses, effect_.varies, effect_.section, false, effect_.expected,
                       effect_.compared, twin.event, false});
    last_of_[thread] = position;
    for (u64 created = effect_.created; created != 0; created &= created - 1) {
        const auto slot = static_cast<Slot>(std::countr_zero(created));
        spawns_.push_back({slot, std::exchange(spawned_by_[slot], position)});
    }
    // Choices that were left open are made explicit, so that equal steps look equal.
    for (std::size_t i = 0; i < effect_.ranges.size(); ++i) choices_.push_back(i < choices.size() ? choices[i] : 0);

    const Accesses& touched = effect_.accesses;
    conflicting(touched, [](Position) { return false; }, conflicts_);
    accesses_.insert(accesses_.end(), touched.begin(), touched.end());
    clocks_.resize(std::size_t{position + 1} * stride_, 0);
    u32* const clock = row(position);
    if (before_it != nowhere) std::copy_n(row(before_it), stride_, clock);
    if (twin.needed)
        for (u32 i = 0; i < stride_; ++i) clock[i] = std::max(clock[i], row(twin.event)[i]);
    adjacent_.clear();
    for (const Position other : conflicts_) {
        if (clock[events_[other].thread] >= events_[other].index) continue;
        adjacent_.push_back(other);
        const u32* const joined = row(other);
        for (u32 i = 0; i < stride_; ++i) clock[i] = std::max(clock[i], joined[i]);
    }
    clock[thread] = index;
    if (follows_dependence()) {
        dependence_.resize(clocks_.size(), 0);
        u32* const depends = dependence_.data() + std::size_t{position} * stride_;
        const auto join = [&](Position other) {
            const u32* const joined = dependence_.data() + std::size_t{other} * stride_;
            for (u32 i = 0; i < stride_; ++i) depends[i] = std::max(depends[i], joined[i]);
        };
        if (before_it != nowhere) join(before_it);
        for (const Position other : conflicts_) join(other);
        depends[thread] = index;
    }
    if (twin.needed) compare_with_twin(position, twin.event);
    if (symmetry_) look_for_names(position);
    waiting_races_.clear();
    if (find_races_) {
        if (effect_.guarded) find_waiting_races(thread, before_it, position, effect_);
        synchronise(position);
    }
    for (const Access& access : touched) index_.add(position, access);
    return true;
}

template <Subject S>
typename Execution<S>::Twin Execution<S>::twin_of_next(Slot thread) const {
    if constexpr (Grouping<S>) {
        const Slot other = symmetry_ ? subject_.alike(thread) : 0;
        const Position last = last_of_[thread];
        if (other == 0 || (last != nowhere && !events_[last].same)) return {false, nowhere};
        const u32 index = next_index(thread);
        Position twin = last_of_[other];
        if (twin == nowhere || events_[twin].index < index) return {true, nowhere};
        while (events_[twin].index > index) twin = events_[twin].previous;
        return {true, twin};
    }
    return {false, nowhere};
}

// Of two threads that have done the same and now choose, the first one chooses what is not larger.
template <Subject S>
bool Execution<S>::admits_step(Position twin, const Effect& effect, std::span<const u32> made) const {
    if (twin == nowhere || effect.ranges.empty() || !is_local(effect)) return true;
    const std::span<const u32> others = choices(twin);
    for (std::size_t i = 0; i < others.size(); ++i) {
        const u32 mine = i < made.size() ? made[i] : 0;
        if (mine != others[i]) return mine > others[i];
    }
    return true;
}

// Whether the last event, which comes after its twin, is the same up to names: what happens before them is, and neither
// is before the other but for that.
template <Subject S>
void Execution<S>::compare_with_twin(Position position, Position twin) {
    Event& event = events_[position];
    const Slot other = events_[twin].thread;
    for (u32 i = 0; i < stride_; ++i) {
        const u32 wanted = i == event.thread ? event.index : i == other ? event.index : row(twin)[i];
        if (row(position)[i] != wanted) return;
    }
    if (dependent(accesses(position), accesses(twin), commute_)) return;
    event.same = std::ranges::equal(choices(position), choices(twin));
    // What a section chooses is not compared: none can be told to be the first.
    tells_apart_ |= !event.same && !is_local(effect_);
}

// The thread whose end an event has waited for; 0: it does not do that.
template <Subject S>
Slot Execution<S>::joined_by(Position position) const {
    for (const Access& access : accesses(position)) {
        const u64 object = object_of(access.address);
        if (number_of(object) == 0 && owner_of(object) != 0 && owner_of(object) != events_[position].thread &&
            access.address == address_of(owner_of(object), 0) + thread_done && access.reads)
            return owner_of(object);
    }
    return 0;
}

// Whether the last event tells threads that are alike apart: by their handles, by whom they create, by their addresses.
// Whoever waits for the end of one of them does so for all, one after the other, and does nothing else until then.
template <Subject S>
void Execution<S>::look_for_names(Position position) {
    if constexpr (Grouping<S>) {
        const u64 grouped = subject_.grouped();
        if (grouped == 0) return;
        const Event& event = events_[position];
        const auto is_grouped = [&](Slot thread) { return (grouped >> thread & 1) != 0; };
        tells_apart_ |= subject_.addresses_matter();
        tells_apart_ |= effect_.created != 0 && is_grouped(event.thread);
        if (subject_.exited()) {
            // Whoever waits for them all may be cut off in the middle of that.
            u64 ended = 0;
            for (Position other = 0; other < position; ++other)
                if (const Slot joined = joined_by(other)) ended |= u64{1} << joined;
            tells_apart_ |= (grouped & ~ended) != 0;
        }
        for (u64 rest = effect_.created & grouped; rest != 0; rest &= rest - 1)
            tells_apart_ |= last_of_[std::countr_zero(rest)] != nowhere;  // in the place of a thread that is gone
        const Slot joined = joined_by(position);
        if (joined != 0 && is_grouped(joined))
            tells_apart_ |= event.guard_accesses == 0 || (group_of(subject_, joined) >> event.thread & 1) != 0;
        if (joined != 0) return;
        u64 waited = 0;
        for (Position last = event.previous; last != nowhere; last = events_[last].previous) {
            const Slot other = joined_by(last);
            if (other == 0) break;
            waited |= u64{1} << other;
        }
        for (u64 rest = waited & grouped; rest != 0; rest &= rest - 1)
            tells_apart_ |= (group_of(subject_, static_cast<Slot>(std::countr_zero(rest))) & ~waited) != 0;
    }
}

template <Subject S>
u64 Execution<S>::weight() const {
    if constexpr (Grouping<S>) {
        if (!symmetry_ || subject_.grouped() == 0) return 1;
        return weight_of(subject_, [&](Slot thread) {
            const Position last = last_of_[thread], others = last_of_[subject_.alike(thread)];
            if (last == nowhere || others == nowhere) return last == others;
            return events_[last].same && events_[last].index == events_[others].index;
        });
    }
    return 1;
}

template <Subject S>
bool Execution<S>::commutes() const {
    const Position last = size() - 1;
    bool found = false;
    for (const Access& access : accesses(last)) {
        if (!commute_ || access.commuting == Commuting::no) continue;
        index_.conflicts(access, false, [&](Position event, const Access& other) {
            found |= events_[event].thread != events_[last].thread && !conflict(access, other, true);
            return !found;
        });
    }
    return found;
}

template <Subject S>
std::optional<u64> Execution<S>::value_without(const Access& place, Position first, Position length) const {
    // Through the writes from the last to the first: what one of them left is what the one after it overwrote.
    if (place.address % AccessIndex::unit + place.size > AccessIndex::unit) return {};
    std::optional<u64> value = value_now(place);
    bool known = true, found = false;
    const Access read{place.address, place.size, 0, true, false, Commuting::no, Ordering::seq_cst};
    index_.conflicts(read, false, [&](Position event, const Access& write) {
        if (found || !known) return false;
        known = write.address == place.address && write.size == place.size && write.known;
        if (!known) return false;
        // Commuting updates have no order of their own: without one of them, the others do the same but leave something
        // else.
        if (event < length && (event < first || !happens_before(first, event))) {
            known = event < first || write.commuting == Commuting::no || !commute_;
            found = true;
        } else {
            value = write.before;
        }
        return !found;
    });
    return known ? value : std::nullopt;
}

// Atomic accesses synchronise as the memory model of C says. Accesses in atomic sections acquire and release.
template <Subject S>
void Execution<S>::synchronise(Position position) {
    const Event& event = events_[position];
    synchronisation_.begin(event.thread, event.index);
    for (const Access& access : accesses(position)) {
        if (!synchronises(access.ordering)) continue;
        if (access.writes) synchronisation_.write(access);
        if (!access.reads) continue;
        index_.conflicts(access, false, [&](Position other, const Access& written) {
            if (!written.writes) return false;
            // Of two updates that commute, and that nothing else orders, either may come first.
            if (commute_ && !conflict(access, written, true) && !depends(other, position))
                first_commuting_ = std::min(first_commuting_, position);
            else
                synchronisation_.read(access, other);
            return false;
        });
    }
    synchronisation_.end(effect_.acts);
    data_races_.clear();
    for (const Access& access : accesses(position))
        unordered(access, synchronisation_.known(event.thread),
                  [&](Position other, const Access&) { data_races_.push_back(other); });
    events_[position].races = !data_races_.empty();
    synchronisation_.go_on(effect_.acts);
}

template <Subject S>
template <class Visit>
void Execution<S>::unordered(const Access& access, const u32* known, Visit visit) const {
    // That an object's life is over when it is used is found by itself.
    if (access.ordering == Ordering::lifetime) return;
    const bool plain = access.ordering == Ordering::plain;
    const auto look = [&](Position other, const Access& earlier) {
        const Event& event = events_[other];
        if (earlier.ordering == Ordering::lifetime) return true;
        const bool unknown = known[event.thread] < event.index;
        if (unknown && (plain || earlier.ordering == Ordering::plain)) visit(other, earlier);
        // What a write hides is known with it, if the write was in no race with that.
        return unknown || event.races || (plain && earlier.ordering != Ordering::plain);
    };
    index_.conflicts(access, false, look, !plain);
}

// Whether a compare-exchange would find what it expects right after an event that wrote there, or before all of them.
template <Subject S>
bool Execution<S>::would_write(const Access& access, u64 expected, Position after) const {
    // (If it was successful itself, what is there now is not what it found.)
    std::optional<u64> value;
    if (access.known)
        value = access.before;
    else if (!access.writes)
        value = value_now(access);
    for (const auto& [event, write] : met_) {
        if (event == after) break;
        if (!write.writes) continue;
        value.reset();
        if (write.known && write.address == access.address && write.size == access.size) value = write.before;
    }
    return value.value_or(expected) == expected;
}

template <Subject S>
void Execution<S>::find_waiting_races(Slot thread, Position last, Position end, const Effect& effect) {
    const auto is_before = [&](Position event, Position other) {
        return other != nowhere && (event == other || depends(event, other));
    };
    const u32* const known = synchronisation_.known(thread);
    for (const Access& made : effect.accesses) {
        Access access = made;
        access.writes |= access.conditional;  // at another time, it might
        met_.clear();
        index_.conflicts(access, false, [&](Position event, const Access& earlier) {
            if (event < end) met_.emplace_back(event, earlier);
            return event >= end || !is_before(event, last);
        });
        candidates_.clear();
        unordered(access, known, [&](Position first, const Access& earlier) {
            if (first < end && events_[first].thread != thread) candidates_.emplace_back(first, earlier);
        });
        for (const auto& [first, earlier] : candidates_) {
            const Event& event = events_[first];
            // What it would read there may order it after the event.
            const auto read = std::ranges::find_if(met_, [&](const auto& met) {
                return met.second.writes && (is_before(met.first, first) || is_before(met.first, last));
            });
            const bool writes = made.conditional
                                    ? would_write(made, effect.expected, read == met_.end() ? nowhere : read->first)
                                    : made.writes;
            if (!writes && !earlier.writes) continue;
            const Ordering ordering = writes == made.writes ? made.ordering : made.otherwise;
            if (acquires(ordering) && read != met_.end() &&
                synchronisation_.left_by(read->first)[event.thread] >= event.index)
                continue;
            waiting_races_.push_back({first, last, thread});
        }
    }
}

template <Subject S>
void Execution<S>::shorten(Position length) {
    if (length >= size()) return;
    index_.remove_from(length);
    for (Position i = size(); i-- > length;) last_of_[events_[i].thread] = events_[i].previous;
    const Event& first = events_[length];
    for (; spawns_.size() > first.spawns; spawns_.pop_back())
        spawned_by_[spawns_.back().thread] = spawns_.back().before;
    subject_.rewind(first.mark);
    accesses_.resize(first.accesses);
    choices_.resize(first.choices);
    clocks_.resize(std::size_t{length} * stride_);
    if (follows_dependence()) dependence_.resize(clocks_.size());
    if (find_races_) synchronisation_.shorten(length);
    if (first_commuting_ >= length) first_commuting_ = nowhere;
    events_.resize(length);
}

}  // namespace mazurka
