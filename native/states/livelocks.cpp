#include "states/livelocks.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "core/choices.hpp"

namespace mazurka {

namespace {

constexpr std::size_t most_states = 5'000;     // if more can be reached, nobody says that it is a livelock
constexpr std::size_t most_words = 8'000'000;  // or if they take more memory
constexpr u64 most_bytes = 4096;               // and if more are written at once

bool is_of_lock(const Effect& effect, const Access& access) {
    return std::ranges::any_of(effect.claims, [&](const Claim& claim) {
        return access.address >= claim.lock && access.address + access.size <= claim.lock + lock_size;
    });
}

// Whether an instruction adds something to what is there.
bool is_addition(const Instruction& at) {
    const UpdateOp op = static_cast<UpdateOp>(at.d);
    return at.op == Op::update && (op == UpdateOp::add || op == UpdateOp::sub);
}

// In a block, which only some threads may know.
bool is_block(const Machine& machine, const Access& access) {
    const Object* const object = machine.object(access.address);
    return object != nullptr && (object->kind == ObjectKind::heap || object->kind == ObjectKind::stack);
}

template <class Visit>
void each_thread(const Machine& machine, Visit visit) {
    for (u64 rest = machine.threads(); rest != 0; rest &= rest - 1) visit(static_cast<Slot>(std::countr_zero(rest)));
}

}  // namespace

bool surely_changes(const Machine& machine, const Effect& effect) {
    if (!effect.claims.empty()) return false;                                           // it is about a lock
    if (is_addition(machine.code().instructions[effect.site & ~u32{0}])) return false;  // it may be taken away again
    const std::span<const Access> all = effect.accesses;
    return std::ranges::any_of(all, [&](const Access& access) {
        if (!access.writes || !access.known || is_block(machine, access)) return false;
        // A section may write several times: what counts is what was there before the first.
        const auto earlier = all.first(static_cast<std::size_t>(&access - all.data()));
        if (std::ranges::any_of(earlier, [&](const Access& other) { return other.writes && overlap(other, access); }))
            return false;
        const std::optional<u64> now = machine.defined_value(access.address, static_cast<u32>(access.size));
        return !now || *now != access.before;
    });
}

bool Livelocks::excused(const Machine& machine) const {
    if (machine.exited() || machine.failed() || machine.limited()) return true;
    bool excused = false;
    each_thread(machine, [&](Slot thread) {
        const Status status = machine.status(thread);
        excused |= status != Status::ready && status != Status::ended;
    });
    return excused;
}

bool Livelocks::find(Machine& machine) {
    if (excused(machine)) return false;
    const Machine::Mark start = machine.mark();
    touched_.assign(max_slots, {});
    changed_.clear();
    balances_.clear();
    waiters_.clear();
    const bool found = look_around(machine);
    machine.rewind(start);
    return found;
}

// Whether balances that go with the same state differ, and it is noticed. (In blocks that is seen later.)
bool Livelocks::drift_apart(const Machine& machine, const Balances& balances, const Balances& others) {
    for (const auto& [counter, balance] : balances) {
        const auto other = others.find(counter);
        if (other != others.end() && other->second == balance) continue;
        const auto [thread, address, size] = counter;
        Access access{};
        access.address = address;
        access.size = size;
        if (!is_block(machine, access)) return true;
        changed_.emplace_back(thread, access);
    }
    return false;
}

// Take a step. Whether it leaves all as it was, but for locks, counters, and blocks that only this thread knows: that
// is seen later.
bool Livelocks::changes_nothing(Machine& machine, Slot thread, std::span<const u32> choices) {
    std::vector<std::pair<Access, std::vector<u8>>> written;
    for (const Access& access : effect_.accesses) {
        if (!access.writes || is_of_lock(effect_, access)) continue;
        if (access.size > most_bytes) {
            gave_up_ = true;
            return false;
        }
        std::vector<u8> bytes(access.size);
        if (!machine.read(access.address, bytes)) return false;
        written.emplace_back(access, std::move(bytes));
    }
    machine.take(thread, choices, effect_, way_);
    if (excused(machine) || machine.status(thread) != Status::ready) return false;
    std::vector<u8> now;
    for (const auto& [access, before] : written) {
        now.resize(access.size);
        if (!machine.read(access.address, now)) return false;
        if (now == before) continue;
        if (is_addition(machine.code().instructions[effect_.site & ~u32{0}])) {
            // As signed numbers: who goes on adding until the counter wraps around takes nothing away.
            const auto number = [](const std::vector<u8>& bytes) {
                u64 value = 0;
                std::ranges::copy(bytes, reinterpret_cast<u8*>(&value));
                return value;
            };
            const u64 spare = 64 - 8 * access.size;
            i64& balance = balances_[{thread, access.address, access.size}];
            balance += static_cast<i64>((number(now) - number(before)) << spare) >> spare;
            if (balance == 0) balances_.erase({thread, access.address, access.size});
            continue;
        }
        if (!is_block(machine, access)) return false;
        changed_.emplace_back(thread, access);
    }
    for (const Access& access : effect_.accesses) {
        const auto same = [&](const Access& other) {
            return other.address == access.address && other.size == access.size;
        };
        if (!is_of_lock(effect_, access) && std::ranges::none_of(touched_[thread], same))
            touched_[thread].push_back(access);
    }
    return true;
}

// Whether the last step went round a loop that was written to have no end.
bool Livelocks::goes_round() {
    std::vector<Passage> calls;  // where it came by last in each call that it is in
    for (const Passage& passage : way_) {
        while (!calls.empty() && calls.back().depth > passage.depth) calls.pop_back();
        if (!calls.empty() && calls.back().depth == passage.depth) {
            if (loops_.goes_round(calls.back().position, passage.position)) return true;
            calls.pop_back();
        }
        calls.push_back(passage);
    }
    return false;
}

// Whether a thread that comes by here, again and again, stays in a loop that can be left.
bool Livelocks::waits(Slot thread, std::set<Passage>& passages) {
    // In the outermost call that it is ever in.
    const u32 depth = passages.begin()->depth;
    std::vector<u32> positions;
    for (const Passage& passage : passages)
        if (passage.depth == depth) positions.push_back(passage.position);
    waiters_.push_back({thread, positions.front(), true});
    return loops_.share_loop(positions);
}

// Whether all threads that take steps from this state on, and from those that were met later, wait.
bool Livelocks::all_wait(const std::vector<Taken>& taken, std::size_t from, const std::set<Waiter>& held_up) {
    std::map<Slot, std::set<Passage>> passages;
    for (const Taken& step : taken)
        if (step.from >= from) passages[step.thread].insert(step.way.begin(), step.way.end());
    for (auto& [thread, passed] : passages)
        if (!waits(thread, passed)) return false;
    for (const Waiter& waiter : held_up)
        if (!passages.contains(waiter.thread)) waiters_.push_back(waiter);
    return true;
}

bool Livelocks::look_around(Machine& machine) {
    std::map<std::vector<u64>, Known> seen;
    std::size_t stored = 0;  // words
    std::vector<Visit> path;
    std::vector<Taken> taken;
    StateWords words;
    std::set<Waiter> held_up;
    bool decided = false;
    const u64 threads = machine.threads();
    u64 ready = 0;
    each_thread(machine, [&](Slot thread) {
        if (machine.status(thread) == Status::ready) ready |= u64{1} << thread;
    });
    const auto arrive = [&]() -> bool {
        words.threads.fill({});
        machine.canonical(facts_, !machine.addresses_matter(), words);
        const std::size_t number = seen.size();
        const auto [here, added] =
            seen.try_emplace(std::vector<u64>(words.words().begin(), words.words().end()), Known{number, balances_});
        if (added) {
            stored += words.words().size();
            path.push_back({machine.mark(), number, number, ready, {}, false, {}, balances_});
            return true;
        }
        const Known& known = here->second;
        path.back().low = std::min(path.back().low, known.number);
        return !drift_apart(machine, balances_, known.balances) && !drift_apart(machine, known.balances, balances_);
    };
    arrive();
    while (!path.empty()) {
        if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) return false;
        Visit& visit = path.back();
        machine.rewind(visit.mark);
        balances_ = visit.balances;
        if (visit.untried == 0) {
            // Where nobody can go on, or some wait for each other, it is something else.
            if (!visit.alive || !circle(visit.stays).empty()) return false;
            const auto [number, low] = std::pair(visit.number, visit.low);
            path.pop_back();
            if (!path.empty()) path.back().low = std::min(path.back().low, low);
            if (low < number || std::exchange(decided, true)) continue;
            // The states from this one on are the first that are never left again: what is done there is done for ever.
            if (!all_wait(taken, number, held_up)) return false;
            continue;
        }
        if (seen.size() > most_states || stored > most_words) {
            gave_up_ = true;
            return false;
        }
        const Slot thread = static_cast<Slot>(std::countr_zero(visit.untried));
        const std::vector<u32> choices = visit.choices;
        machine.announce(thread, choices, effect_);
        if (!advance(visit.choices, effect_.ranges)) {
            visit.choices.clear();
            visit.untried &= visit.untried - 1;
        }
        if (!effect_.enabled) {
            if (!effect_.waiting || effect_.waiting->guard != Guard::resource) return false;
            if (effect_.ranges.empty())
                visit.stays.push_back({thread, Guard::resource, owner_of(object_of(effect_.waiting->holder))});
            held_up.insert({thread, effect_.waiting->pc, false});
            continue;
        }
        visit.alive = true;
        if (!changes_nothing(machine, thread, choices) || machine.threads() != threads || goes_round()) return false;
        taken.push_back({visit.number, thread, way_});
        if (!arrive()) return false;
    }
    std::ranges::sort(waiters_);
    return !is_noticed();
}

// Whether a block that somebody has changed is touched by others.
bool Livelocks::is_noticed() const {
    return std::ranges::any_of(changed_, [&](const auto& change) {
        for (Slot other = 0; other < max_slots; ++other)
            if (other != change.first &&
                std::ranges::any_of(touched_[other], [&](const Access& it) { return overlap(it, change.second); }))
                return true;
        return false;
    });
}

}  // namespace mazurka
