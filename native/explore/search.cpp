#include "explore/search.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace mazurka {

namespace {
constexpr auto relaxed = std::memory_order_relaxed;
}

std::vector<Step> Search::schedule() const {
    std::vector<Step> steps;
    for (Position i = 0; i < execution_.size(); ++i) {
        const auto choices = execution_.choices(i);
        steps.push_back({execution_[i].thread, {choices.begin(), choices.end()}});
    }
    return steps;
}

// Whether what went wrong is that the machine has no room for the program.
bool Search::only_a_limit(Bug::Kind kind) const {
    if (kind != Bug::Kind::failure) return false;
    const Fault fault = machine().failure().fault;
    return fault == Fault::too_large || fault == Fault::stack_overflow || fault == Fault::too_many_threads || fault == Fault::too_many_choices;
}

// Keep the first bug; one of the program is worth more than a limit of the machine.
void Search::report(Bug::Kind kind, Slot thread) {
    if (bug_ && (!bug_is_limit_ || only_a_limit(kind))) return;
    bug_ = Bug{kind, thread, schedule()};
    bug_is_limit_ = only_a_limit(kind);
}

void Search::note_races(u64 waiting_site) {
    const Position last = execution_.size() - 1;
    for (const Position first : execution_.data_races()) {
        const std::pair<u64, u64> sites = std::minmax(execution_[first].site, execution_[last].site);
        if (std::ranges::find(racy_sites_, sites) != racy_sites_.end()) continue;
        racy_sites_.push_back(sites);
        races_.push_back({first, schedule()});
        if (options_.races == Races::error) report(Bug::Kind::race, execution_[last].thread);
    }
    for (const auto& [first, latest, thread] : execution_.waiting_races()) {
        const std::pair<u64, u64> sites = std::minmax(execution_[first].site, waiting_site);
        if (std::ranges::find(racy_sites_, sites) != racy_sites_.end()) continue;
        racy_sites_.push_back(sites);
        // Only what comes before the two, so that the thread still waits or has just arrived.
        DataRace race{0, {}};
        for (Position i = 0; i <= (latest == nowhere ? first : std::max(first, latest)); ++i) {
            const bool before = i == first || execution_.happens_before(i, first);
            if (!before && (latest == nowhere || (i != latest && !execution_.happens_before(i, latest)))) continue;
            if (i == first) race.first = static_cast<Position>(race.schedule.size());
            const auto choices = execution_.choices(i);
            race.schedule.push_back({execution_[i].thread, {choices.begin(), choices.end()}});
        }
        race.schedule.push_back({thread, {}});
        races_.push_back(std::move(race));
        if (options_.races == Races::error && !bug_) bug_ = Bug{Bug::Kind::race, thread, races_.back().schedule};
    }
}

// The races of threads that still wait when the process ends: before its last event, they could have gone round once more.
void Search::note_races_of_waiting() {
    Machine& machine = execution_.machine();
    const Execution::Event& last = execution_[execution_.size() - 1];
    const auto made = execution_.choices(execution_.size() - 1);
    const std::vector<u32> choices(made.begin(), made.end());
    machine.rewind(last.mark);
    waiting_.clear();
    for (u64 rest = machine.threads(); rest != 0; rest &= rest - 1) {
        const Slot thread = static_cast<Slot>(std::countr_zero(rest));
        if (thread == last.thread || !machine.at_guarded_access(thread)) continue;
        machine.next(thread, {}, next_);
        note_waiting(thread, next_.accesses, execution_.size() - 1);
    }
    machine.mark();
    machine.step(last.thread, choices);
}

// A thread waits with these accesses after the first `length` events, when nothing else happens any more.
void Search::note_waiting(Slot thread, const Accesses& accesses, Position length) {
    execution_.find_races_of_waiting(thread, accesses, length);
    note_races(machine().site(thread));
    const auto plain = [](const Access& access) { return access.ordering == Ordering::plain; };
    for (const auto& [other, others] : waiting_) {
        const bool race = std::ranges::any_of(accesses, [&](const Access& one) {
            return std::ranges::any_of(others, [&](const Access& two) { return (plain(one) || plain(two)) && conflict(one, two, false); });
        });
        const std::pair<u64, u64> sites = std::minmax(machine().site(other), machine().site(thread));
        if (!race || std::ranges::find(racy_sites_, sites) != racy_sites_.end()) continue;
        racy_sites_.push_back(sites);
        DataRace found{length, schedule()};
        found.schedule.resize(length);
        found.schedule.push_back({other, {}});
        found.schedule.push_back({thread, {}});
        races_.push_back(std::move(found));
        if (options_.races == Races::error && !bug_) bug_ = Bug{Bug::Kind::race, thread, races_.back().schedule};
    }
    waiting_.emplace_back(thread, accesses);
}

bool Search::failed_at_start() {
    if (!machine().failed()) return false;
    report(Bug::Kind::failure, machine().failure().thread);
    if (!options_.keep_going) progress_.complete.fetch_add(1, relaxed);
    return !options_.keep_going;
}

bool Search::note_event() {
    progress_.steps.fetch_add(1, relaxed);
    progress_.depth.store(execution_.size(), relaxed);
    if (!execution_.data_races().empty() || !execution_.waiting_races().empty()) note_races(execution_[execution_.size() - 1].site);
    if (machine().exited() && options_.races != Races::ignore) note_races_of_waiting();
    if (machine().failed()) report(Bug::Kind::failure, machine().failure().thread);
    if (bug_ && !options_.keep_going) {
        progress_.complete.fetch_add(1, relaxed);
        return false;
    }
    if (execution_.size() > options_.max_steps) {
        const bool first = !bug_;
        report(Bug::Kind::steps, execution_[execution_.size() - 1].thread);
        if (first) bug_->schedule.pop_back();  // it has not ended after the steps that it may have
        progress_.complete.fetch_add(1, relaxed);
        return false;
    }
    return true;
}

void Search::note_end() {
    if ((progress_.complete.load(relaxed) + progress_.blocked.load(relaxed)) % 256 == 0) progress_.fraction.store(fraction(), relaxed);
    if (options_.keep_executions) executions_.push_back(schedule());
    // Why threads have not ended: a resource, a loop that would only go round once more, what the program assumes, a bound.
    u64 resource = 0, loop = 0, assumed = 0, bound = 0;
    waiting_.clear();
    std::array<Slot, max_slots> holder{};  // of the resource that a thread waits for; 0: nobody in particular
    Machine& machine = execution_.machine();
    for (u64 rest = machine.threads(); rest != 0; rest &= rest - 1) {
        const Slot thread = static_cast<Slot>(std::countr_zero(rest));
        const u64 bit = u64{1} << thread;
        u32 pc = 0;
        if (machine.status(thread) == Status::stopped) {
            pc = static_cast<u32>(machine.site(thread));
        } else if (machine.status(thread) == Status::ready && !machine.exited()) {
            machine.next(thread, {}, next_);
            if (!next_.waiting) {  // (another choice might have been possible)
                assumed |= bit;
                continue;
            }
            pc = next_.waiting->pc;
            if (options_.races != Races::ignore && machine.at_guarded_access(thread)) note_waiting(thread, next_.accesses, execution_.size());
        } else {
            continue;
        }
        const Instruction& guard = code_.instructions[pc];
        if (guard.op == Op::await) {
            resource |= bit;
            holder[thread] = owner_of(object_of(next_.waiting->holder));
        } else if (guard.op == Op::assume && static_cast<Origin>(guard.c) == Origin::loop) {
            loop |= bit;
        } else if (guard.op == Op::assume && static_cast<Origin>(guard.c) == Origin::bound) {
            bound |= bit;
        } else {
            assumed |= bit;
        }
    }
    if (machine.exited()) loop = assumed = 0;  // all is over for them; for a bounded loop it came too early
    if (bound != 0) progress_.bounded.fetch_add(1, relaxed);
    else if (assumed != 0) progress_.assumed.fetch_add(1, relaxed);
    if ((loop | assumed | bound) == 0) {
        progress_.complete.fetch_add(1, relaxed);
        if (resource != 0) report(Bug::Kind::deadlock, static_cast<Slot>(std::countr_zero(resource)));
        return;
    }
    progress_.blocked.fetch_add(1, relaxed);
    // Threads that wait for each other in a circle do so whatever the others do.
    for (Slot thread = 1; thread < max_slots; ++thread) {
        Slot at = holder[thread];
        for (Slot steps = 1; at != 0 && at != thread && steps < max_slots; ++steps) at = holder[at];
        if (at == thread) return report(Bug::Kind::deadlock, thread);
    }
    // A loop that would be left if it went round once more is: in another execution.
    if ((assumed | bound) != 0 || options_.allow_livelock || (bug_ && !bug_is_limit_)) return;
    for (u64 rest = loop; rest != 0; rest &= rest - 1)
        if (!machine.spins(static_cast<Slot>(std::countr_zero(rest)))) return;
    report(Bug::Kind::livelock, static_cast<Slot>(std::countr_zero(loop)));
}

bool Search::should_stop() const {
    if (stopping_.load(relaxed) || (bug_ && !options_.keep_going)) return true;
    return options_.max_executions != 0 &&
           progress_.complete.load(relaxed) + progress_.blocked.load(relaxed) >= options_.max_executions;
}

}  // namespace mazurka
