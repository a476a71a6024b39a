#include "explore/execution.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace mazurka {

u32 AccessIndex::head(u64 place) const {
    const std::size_t last = lists_.size() - 1;
    for (std::size_t i = hash(place) & last;; i = (i + 1) & last) {
        if (lists_[i].place == place) return lists_[i].head;
        if (lists_[i].place == everything) return none;
    }
}

u32& AccessIndex::list(u64 place) {
    const std::size_t last = lists_.size() - 1;
    std::size_t at = hash(place) & last;
    while (lists_[at].place != place) {
        if (lists_[at].place == everything) {
            if (2 * ++places_ > lists_.size()) {
                std::vector<List> old = std::exchange(lists_, std::vector<List>(2 * lists_.size()));
                places_ = 0;
                for (const List& kept : old)
                    if (kept.place != everything) list(kept.place) = kept.head;
                return list(place);
            }
            lists_[at].place = place;
            break;
        }
        at = (at + 1) & last;
    }
    return lists_[at].head;
}

void AccessIndex::add(Position event, const Access& access) {
    if (access.size > wide) {
        wide_.push_back(static_cast<u32>(entries_.size()));
        entries_.push_back({access, event, none, none, everything});
        return;
    }
    for (u64 place = access.address / unit; place <= (access.address + access.size - 1) / unit; ++place) {
        u32& head = list(place);
        const u32 write = head == none || entries_[head].access.writes ? head : entries_[head].previous_write;
        entries_.push_back({access, event, head, write, place});
        head = static_cast<u32>(entries_.size() - 1);
    }
}

void AccessIndex::remove_from(Position event) {
    while (!entries_.empty() && entries_.back().event >= event) {
        const Entry& entry = entries_.back();
        if (entry.place == everything) wide_.pop_back();
        else list(entry.place) = entry.previous;
        entries_.pop_back();
    }
}

void Execution::widen(u32 stride) {
    for (std::vector<u32>* table : {&clocks_, &synchronised_, &released_}) {
        std::vector<u32> wider(table->size() / stride_ * stride, 0);
        for (std::size_t i = 0; i < table->size() / stride_; ++i) std::copy_n(table->data() + i * stride_, stride_, wider.data() + i * stride);
        *table = std::move(wider);
    }
    stride_ = stride;
}

bool Execution::extend(Slot thread, std::span<const u32> choices) {
    const Machine::Mark mark = machine_.mark();
    const u64 threads = machine_.threads();
    const u64 site = machine_.site(thread);
    if (machine_.step(thread, choices) == Machine::Outcome::blocked) {
        machine_.rewind(mark);
        return false;
    }
    const Position position = size();
    const Position before_it = before(thread);
    const u32 index = next_index(thread);
    if (machine_.named_threads() > stride_) widen(std::max(2 * stride_, machine_.named_threads()));
    events_.push_back({thread, index, last_of_[thread], mark, static_cast<u32>(accesses_.size()),
                       static_cast<u32>(choices_.size()), threads, site, machine_.guard_accesses(), machine_.varies(), machine_.section(), machine_.expected()});
    last_of_[thread] = position;
    for (u64 created = machine_.threads() & ~threads; created != 0; created &= created - 1)
        spawned_by_[static_cast<Slot>(std::countr_zero(created))] = position;
    // Choices that were left open are made explicit, so that equal steps look equal.
    for (std::size_t i = 0; i < machine_.ranges().size(); ++i) choices_.push_back(i < choices.size() ? choices[i] : 0);

    const Accesses& touched = machine_.accesses();
    conflicting(touched, [](Position) { return false; }, conflicts_);
    accesses_.insert(accesses_.end(), touched.begin(), touched.end());
    clocks_.resize(std::size_t{position + 1} * stride_, 0);
    u32* const clock = row(position);
    if (before_it != nowhere) std::copy_n(row(before_it), stride_, clock);
    adjacent_.clear();
    for (const Position other : conflicts_) {
        if (clock[events_[other].thread] >= events_[other].index) continue;
        adjacent_.push_back(other);
        const u32* const joined = row(other);
        for (u32 i = 0; i < stride_; ++i) clock[i] = std::max(clock[i], joined[i]);
    }
    clock[thread] = index;
    if (find_races_) synchronise(position, before_it);
    waiting_races_.clear();
    if (find_races_ && machine_.guarded()) find_waiting_races(thread, before_it, position, touched);
    for (const Access& access : touched) index_.add(position, access);
    return true;
}

bool Execution::commutes() const {
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

std::optional<u64> Execution::value_without(const Access& place, Position first, Position length) const {
    // Through the writes from the last to the first: what one of them left is what the one after it overwrote.
    if (place.address % AccessIndex::unit + place.size > AccessIndex::unit) return {};
    std::optional<u64> value = machine_.defined_value(place.address, place.size);
    bool known = true, found = false;
    const Access read{place.address, place.size, 0, true, false, Commuting::no, Ordering::seq_cst};
    index_.conflicts(read, false, [&](Position event, const Access& write) {
        if (found || !known) return false;
        known = write.address == place.address && write.size == place.size && write.known;
        if (!known) return false;
        // Commuting updates have no order of their own: without one of them, the others do the same but leave something else.
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

// Atomic accesses synchronise as the memory model of C says: reading what a release wrote, or an unbroken chain of updates after it,
// with an acquire. Accesses in atomic sections do both.
void Execution::synchronise(Position position, Position before_it) {
    const Event& event = events_[position];
    synchronised_.resize(clocks_.size(), 0);
    released_.resize(clocks_.size(), 0);
    u32* const now = synchronised_.data() + std::size_t{position} * stride_;
    u32* const gives = released_.data() + std::size_t{position} * stride_;
    const auto join = [&](u32* into, const u32* from) {
        for (u32 i = 0; i < stride_; ++i) into[i] = std::max(into[i], from[i]);
    };
    if (before_it != nowhere) join(now, synchronised_.data() + std::size_t{before_it} * stride_);
    now[event.thread] = event.index;
    bool releases = false;
    for (const Access& access : accesses(position)) {
        if (access.ordering == Ordering::plain || access.ordering == Ordering::lifetime) continue;
        const bool acquires = access.ordering != Ordering::relaxed && access.ordering != Ordering::release;
        releases |= access.writes && access.ordering != Ordering::relaxed && access.ordering != Ordering::acquire;
        if (!access.reads) continue;
        index_.conflicts(access, false, [&](Position other, const Access& written) {
            if (!written.writes) return false;
            const u32* const received = released_.data() + std::size_t{other} * stride_;
            if (acquires) join(now, received);
            if (access.writes) join(gives, received);
            return false;
        });
    }
    if (releases) join(gives, now);
    data_races_.clear();
    // A thread that waits has read before, in vain: with all that has been written since it came, and knowing only what it knew then.
    const bool waits = machine_.guarded() && before_it != nowhere;
    const u32* const known = waits ? synchronised_.data() + std::size_t{before_it} * stride_ : now;
    for (const Access& access : accesses(position))
        index_.conflicts(access, false, [&](Position other, const Access& earlier) {
            // That an object's life is over when it is used is found by itself.
            const bool uses = access.ordering != Ordering::lifetime && earlier.ordering != Ordering::lifetime;
            const bool plain = access.ordering == Ordering::plain || earlier.ordering == Ordering::plain;
            if (uses && plain && known[events_[other].thread] < events_[other].index) data_races_.push_back(other);
            return waits;
        });
}

// Whether a compare-exchange would find what it expects right after an event that wrote there, or before all of them.
bool Execution::would_write(const Access& access, Position after) const {
    // (If it was successful itself, what is there now is not what it found.)
    std::optional<u64> value;
    if (access.known) value = access.before;
    else if (!access.writes) value = machine_.defined_value(access.address, access.size);
    for (const auto& [event, write] : met_) {
        if (event == after) break;
        if (!write.writes) continue;
        value.reset();
        if (write.known && write.address == access.address && write.size == access.size) value = write.before;
    }
    return !value || *value == machine_.expected();
}

void Execution::find_waiting_races(Slot thread, Position last, Position end, std::span<const Access> accesses) {
    const auto is_before = [&](Position event, Position other) { return other != nowhere && (event == other || happens_before(event, other)); };
    for (const Access& made : accesses) {
        Access access = made;
        access.writes |= access.conditional;  // at another time, it might
        met_.clear();
        index_.conflicts(access, false, [&](Position event, const Access& earlier) {
            if (event < end) met_.emplace_back(event, earlier);
            return event >= end || !is_before(event, last);
        });
        for (const auto& [first, earlier] : met_) {
            const Event& event = events_[first];
            const bool plain = access.ordering == Ordering::plain || earlier.ordering == Ordering::plain;
            if (!plain || event.thread == thread || earlier.ordering == Ordering::lifetime) continue;
            if (last != nowhere && synchronised_[std::size_t{last} * stride_ + event.thread] >= event.index) continue;
            // What it would read there may order it after the event.
            const auto read = std::ranges::find_if(met_, [&](const auto& met) {
                return met.second.writes && (is_before(met.first, first) || is_before(met.first, last));
            });
            if (access.conditional && !earlier.writes && !would_write(made, read == met_.end() ? nowhere : read->first)) continue;
            const bool acquires = access.ordering != Ordering::plain && access.ordering != Ordering::relaxed && access.ordering != Ordering::release;
            if (acquires && read != met_.end() && released_[std::size_t{read->first} * stride_ + event.thread] >= event.index) continue;
            waiting_races_.push_back({first, last, thread});
        }
    }
}

void Execution::shorten(Position length) {
    if (length >= size()) return;
    index_.remove_from(length);
    for (Position i = size(); i-- > length;) last_of_[events_[i].thread] = events_[i].previous;
    const Event& first = events_[length];
    for (u64 created = machine_.threads() & ~first.threads; created != 0; created &= created - 1)
        spawned_by_[static_cast<Slot>(std::countr_zero(created))] = nowhere;
    machine_.rewind(first.mark);
    accesses_.resize(first.accesses);
    choices_.resize(first.choices);
    clocks_.resize(std::size_t{length} * stride_);
    if (find_races_) {
        synchronised_.resize(clocks_.size());
        released_.resize(clocks_.size());
    }
    events_.resize(length);
}

}  // namespace mazurka
