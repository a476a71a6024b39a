#include "states/states.hpp"

#include <algorithm>
#include <bit>

#include "core/choices.hpp"

namespace mazurka {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr u8 most_unstored = 16;
// Where nearly every step led further away from the start, and there are so many states, something keeps growing.
constexpr std::size_t many_states = 1'000'000;

MachineOptions machine_options(const StateSearchOptions& options) {
    MachineOptions machine = options.machine;
    machine.follow_locks = options.reduction != Reduction::none || options.livelocks;
    machine.follow_pointers = true;
    return machine;
}

}  // namespace

StateSearch::StateSearch(const Code& code, const StateSearchOptions& options)
    : options_(options),
      facts_(code),
      machine_(code, machine_options(options)),
      start_(machine_.mark()),
      movers_(options.races != Races::ignore),
      livelocks_(code),
      table_(options.exact) {
    machine_.save_only_live(facts_);
    words_.summarise = !options.exact;
    renames_ = !machine_.addresses_matter();
    options_.nearby &= !options_.until_cycle;
    livelocks_.stop_at(stop_);
}

void StateSearch::run() {
    End end = search();
    while (end == End::again) {
        progress_.restarts.fetch_add(1, relaxed);
        end = search();
    }
    finished_ = end == End::covered;
    note_progress();
    if (bug_ && !options_.keep_going) shorten();
}

StateSearch::End StateSearch::search() {
    machine_.rewind(start_);
    movers_.start_again();
    words_.threads.fill({});
    table_.clear();
    stack_.clear();
    choices_.clear();
    again_at_ = 0;
    transitions_ = 0;
    moving_on_ = 0;
    stops_ = goes_on_ = cut_ = false;
    if (revisits_) table_.keep_depths();
    if (machine_.failed()) {
        report_failure();
        return options_.keep_going ? End::covered : End::stopped;
    }
    if (machine_.limited()) report_failure();
    machine_.canonical(facts_, renames_, words_);
    words_.push(0);
    enter(table_.add(fingerprint(words_.words()), words_.words()).index, 1, false, false, true);
    for (u64 rounds = 1; !stack_.empty(); ++rounds) {
        if (rounds % 1024 == 0) note_progress();
        if (should_stop()) return End::stopped;
        if (table_.size() >= near_at_ && options_.nearby && options_.max_depth == 0) look_nearby();
        Visit& visit = stack_.back();
        if (!visit.over) {
            if (!try_step(visit)) return End::stopped;
        } else if (!try_next_thread(visit)) {
            if (machine_.exited()) goes_on_ = true;
            if (visit.xend && !visit.alive && !machine_.exited()) note_terminal();
            if (options_.livelocks && visit.alive && moving_on_ < stack_.size() && !note_livelock())
                note_progress_from(stack_.size() - 1);
            pop();
        }
        if (bug_ && !options_.keep_going) return End::stopped;
        if (transitions_ >= most_transitions_) return End::stopped;
        if (options_.max_states != 0 && table_.size() >= options_.max_states) {
            limit_ = StateLimit::states;
            return End::stopped;
        }
        if (again_at_ != 0 && table_.size() >= again_at_) return End::again;
        if (renames_ && machine_.addresses_matter()) {
            renames_ = false;
            return End::again;
        }
    }
    return movers_.wrong() ? End::again : End::covered;
}

// The thread that was tried has been, with all its choices. Whether another is to be tried in the same state.
bool StateSearch::try_next_thread(Visit& visit) {
    if (!visit.xend && !visit.phase) {
        // The last moment to end the transaction. After a both mover it need not be: an earlier commit point does as
        // well.
        if (options_.reduction == Reduction::cpc) visit.xend = !completed(visit) && !visit.right;
        if (options_.reduction == Reduction::cycle_detection) visit.xend = !visit.moved;
    }
    if (visit.xend) complete(visit);
    if (stack_.size() > 1 && completed(visit)) complete(stack_[stack_.size() - 2]);
    if (!visit.xend || visit.untried == 0) return false;
    visit.thread = static_cast<Slot>(std::countr_zero(visit.untried));
    visit.untried &= visit.untried - 1;
    visit.over = visit.moved = false;
    return true;
}

// Take the step that is to be tried, and go on from there if the state is new. False: there is no room for it, or the
// search is over.
bool StateSearch::try_step(Visit& visit) {
    const Slot thread = visit.thread;
    if (machine_.status(thread) != Status::ready || machine_.exited()) {
        visit.over = true;
        return true;
    }
    trying_.clear();
    for (std::size_t i = visit.choices; i < choices_.size(); ++i) trying_.push_back(choices_[i].value);
    const bool reducing = options_.reduction != Reduction::none;
    if (reducing) {
        const auto held = machine_.held(thread);
        held_.assign(held.begin(), held.end());
    }
    visit.summary = std::exchange(words_.threads[thread], {});
    const bool blocked = !machine_.take(thread, trying_, effect_);
    choices_.resize(visit.choices);
    for (std::size_t i = 0; i < effect_.ranges.size(); ++i)
        choices_.push_back({i < trying_.size() ? trying_[i] : 0, effect_.ranges[i]});
    const Mover mover = reducing ? mover_of(thread) : Mover{false, false};
    if (blocked) {
        back_to(visit);
        if (effect_.ranges.empty()) note_circle(thread, *effect_.waiting);
        return true;
    }
    note_step();
    visit.moved = visit.alive = true;
    const bool failed = machine_.failed();
    if (!visit.phase && (!mover.left || failed)) {
        visit.xend = true;
        complete(visit);
    }
    if (failed || machine_.status(thread) == Status::failed) report_failure();
    if (failed) {
        back_to(visit);
        return true;
    }
    return go_on(visit, mover);
}

// The step that was taken, or could not be.
Mover StateSearch::mover_of(Slot thread) {
    Mover mover = movers_.judge(machine_, thread, effect_, held_);
    if (effect_.created != 0) mover.right = false;  // the new thread could not go first
    // It touches nothing, but who is alone then is not looked at closely any more.
    if (machine_.status(thread) == Status::returned) mover = {false, false};
    if (movers_.wrong() && again_at_ == 0) again_at_ = 2 * table_.size() + 1000;  // there may be more to learn
    return mover;
}

// What is to be known of a step that was taken, wherever it leads.
void StateSearch::note_step() {
    const Status status = machine_.status(stack_.back().thread);
    ++transitions_;
    stops_ |= status == Status::stopped;
    if (options_.livelocks && moving_on_ < stack_.size() &&
        (status != Status::ready || machine_.exited() || effect_.created != 0 || surely_changes(machine_, effect_)))
        note_progress_from(stack_.size() - 1);
    if (looks_for_races()) variants_.note_step(effect_);
}

// From the state that a step has led to.
bool StateSearch::go_on(Visit& visit, Mover mover) {
    const Slot thread = visit.thread;
    bool phase = mover.right && (visit.phase || !mover.left);
    bool xend = options_.reduction == Reduction::none;
    if (machine_.status(thread) == Status::ended || machine_.status(thread) == Status::returned || machine_.exited() ||
        (machine_.status(thread) == Status::ready && !machine_.paused(thread) &&
         (facts_.may_wait(machine_.position(thread)) || movers_.contended(machine_.position(thread))))) {
        phase = false;
        xend = true;
    }
    for (u64 made = effect_.created; made != 0; made &= made - 1) words_.threads[std::countr_zero(made)] = {};
    const bool too_deep = options_.max_depth != 0 && stack_.size() > options_.max_depth;
    // Before the commit, only loops and choices can lead to the same state again: it is enough to know some.
    if (phase && visit.unstored < most_unstored && effect_.ranges.empty() && !too_deep) {
        const u8 unstored = visit.unstored + 1;
        enter(not_stored, thread, mover.right, phase, xend);
        stack_.back().unstored = unstored;
        return true;
    }
    machine_.canonical(facts_, renames_, words_);
    words_.push(phase ? thread : 0);
    if (!make_room()) return false;
    const auto [index, added] = table_.add(fingerprint(words_.words()), words_.words());
    bool is_new = added;
    if (table_.keeps_depths()) {
        // A state that was met at a greater depth has more before it now.
        const u32 depth = static_cast<u32>(stack_.size());
        is_new = added || (depth < table_.depth(index) && (table_.flags(index) & StateTable::on_stack) == 0);
        if (is_new) table_.depth(index) = depth;
    }
    if (is_new && !too_deep) {
        enter(index, thread, mover.right, phase, xend);
        return true;
    }
    cut_ |= is_new;
    if (options_.until_cycle && (table_.flags(index) & StateTable::on_stack) != 0) {
        goes_on_ |= !has_stopped();
        cycle_ = machine_.frames(thread);
        return false;
    }
    meet_again(visit, index);
    return true;
}

// For the present state in the table.
bool StateSearch::make_room() {
    const std::size_t needed = table_.bytes_to_add(words_.words().size());
    if (needed == 0) return true;
    if (options_.max_memory != 0 && memory() + needed > options_.max_memory) {
        limit_ = StateLimit::memory;
        return false;
    }
    if (table_.full()) grow();
    return true;
}

// The present state is known, or too far away.
void StateSearch::meet_again(Visit& visit, std::size_t index) {
    const u64 known = table_.flags(index);
    const bool closes_loop = (known & StateTable::on_stack) != 0;
    if (options_.livelocks && (known & StateTable::moves_on) != 0 && moving_on_ < stack_.size())
        note_progress_from(stack_.size() - 1);
    if (closes_loop && !goes_on_) goes_on_ = !has_stopped();
    if ((known & StateTable::completed) != 0) complete(visit);
    if (options_.reduction == Reduction::cycle_detection && !visit.phase && closes_loop) visit.xend = true;
    back_to(visit);
}

// The present state is new.
void StateSearch::enter(std::size_t index, Slot thread, bool right, bool phase, bool xend) {
    if (index != not_stored) table_.set(index, StateTable::on_stack | (xend ? StateTable::completed : 0));
    if (stack_.size() == stack_.capacity()) stack_.reserve(stack_.size() + stack_.size() / 4 + 1024);
    stack_.push_back({machine_.mark(),
                      {},
                      machine_.threads() & ~(u64{1} << thread),
                      index,
                      thread,
                      static_cast<u32>(choices_.size()),
                      0,
                      phase,
                      right,
                      xend,
                      false,
                      false,
                      false});
    deepest_ = std::max<u64>(deepest_, stack_.size() - 1);
    if (looks_for_races()) note_races();
}

void StateSearch::pop() {
    if (stack_.back().index != not_stored) table_.clear(stack_.back().index, StateTable::on_stack);
    choices_.resize(stack_.back().choices);
    stack_.pop_back();
    moving_on_ = std::min(moving_on_, stack_.size());
    if (stack_.empty()) return;
    back_to(stack_.back());
}

// From the step that was tried, to what is tried next: the choices after those that the thread has made, if there are
// any.
void StateSearch::back_to(Visit& visit) {
    machine_.rewind(visit.mark);
    words_.threads[visit.thread] = visit.summary;
    while (choices_.size() > visit.choices) {
        if (++choices_.back().value < choices_.back().range) return;
        choices_.pop_back();
    }
    visit.over = true;
}

void StateSearch::grow() {
    std::vector<std::pair<std::size_t, std::size_t>> moved;
    table_.grow([&](std::size_t from, std::size_t to) { moved.emplace_back(from, to); });  // in the order of `from`
    for (Visit& visit : stack_)
        if (visit.index != not_stored)
            visit.index =
                std::ranges::lower_bound(moved, visit.index, {}, &std::pair<std::size_t, std::size_t>::first)->second;
}

std::size_t StateSearch::memory() const {
    return table_.bytes() + machine_.trail_bytes() + machine_.memory_bytes() + stack_.capacity() * sizeof(Visit) +
           choices_.capacity() * sizeof(Choice) + (near_ ? near_->memory() : 0);
}

void StateSearch::note_progress() {
    progress_.states.store(table_.size(), relaxed);
    progress_.transitions.store(transitions_, relaxed);
    progress_.depth.store(stack_.empty() ? 0 : stack_.size() - 1, relaxed);
    progress_.deepest.store(deepest_, relaxed);
    progress_.memory.store(memory(), relaxed);
}

// Asked in every round: one may take long.
bool StateSearch::should_stop() {
    if (options_.max_memory != 0 && memory() > options_.max_memory) limit_ = StateLimit::memory;
    if (options_.until_growth && table_.size() > many_states && 4 * deepest_ > 3 * transitions_)
        limit_ = StateLimit::growth;
    return stop_->load(relaxed) || limit_ != StateLimit::none;
}

// ------------------------------------------------------------------------------------------- bugs

std::vector<Step> StateSearch::schedule(std::size_t length) const {
    std::vector<Step> steps;
    for (std::size_t i = 0; i < length; ++i) {
        const std::size_t end = i + 1 < stack_.size() ? stack_[i + 1].choices : choices_.size();
        Step step{stack_[i].thread, {}};
        for (std::size_t j = stack_[i].choices; j < end; ++j) step.choices.push_back(choices_[j].value);
        steps.push_back(std::move(step));
    }
    return steps;
}

void StateSearch::report(BugKey known, Slot thread, std::size_t length) {
    if (std::ranges::find(bugs_, known) != bugs_.end()) return;
    Bug bug{known.kind, thread, schedule(length), machine_.failure().fault};
    if (!bug_) bug_ = bug;
    if (found_.size() < most_bugs) found_.push_back(std::move(bug));
    bugs_.push_back(std::move(known));
}

void StateSearch::report_failure() {
    const Failure& failure = machine_.failure();
    if (is_limit(failure.fault)) {
        if (limit_met_) return;
        limit_met_ = Limit{failure.fault, failure.thread, schedule(stack_.size())};
        // Beyond it, there may be a bug; but it may as well be met again and again.
        most_transitions_ = std::min(most_transitions_, 10 * transitions_ + effort_beyond);
        return;
    }
    BugKey known{Ending::failure, failure.fault, {}};
    for (const u32 frame : failure.frames) known.places.emplace_back(failure.thread, frame);
    report(std::move(known), failure.thread, stack_.size());
}

// A thread must wait: does it wait for itself, by way of others?
void StateSearch::note_circle(Slot thread, Waiting waiting) {
    BugKey known{Ending::deadlock, {}, {}};
    for (Slot at = thread;;) {
        if (waiting.guard != Guard::resource) return;
        known.places.emplace_back(at, waiting.pc);
        at = owner_of(object_of(waiting.holder));
        if (at == thread) break;
        if (at == 0 || known.places.size() > max_slots) return;
        if (machine_.status(at) != Status::ready || machine_.paused(at) || !facts_.may_wait(machine_.position(at)))
            return;
        machine_.announce(at, {}, other_);
        if (!other_.waiting || !other_.ranges.empty()) return;  // (with another choice it might go on)
        waiting = *other_.waiting;
    }
    std::ranges::sort(known.places);
    report(std::move(known), thread, stack_.size() - 1);
}

bool StateSearch::has_stopped() const {
    for (u64 rest = machine_.threads(); rest != 0; rest &= rest - 1)
        if (machine_.status(static_cast<Slot>(std::countr_zero(rest))) == Status::stopped) return true;
    return false;
}

// Nobody can go on.
void StateSearch::note_terminal() {
    BugKey known{Ending::deadlock, {}, {}};
    stays_.clear();
    for (u64 rest = machine_.threads(); rest != 0; rest &= rest - 1) {
        const Slot thread = static_cast<Slot>(std::countr_zero(rest));
        if (machine_.status(thread) == Status::stopped) stays_.push_back({thread, machine_.stopped_at(thread)});
        if (machine_.status(thread) != Status::ready) continue;
        machine_.announce(thread, {}, other_);
        stays_.push_back({thread, other_.waiting ? other_.waiting->guard : Guard::program});
        if (other_.waiting) known.places.emplace_back(thread, other_.waiting->pc);
    }
    // (Threads that wait for each other were noticed when the circle was closed.)
    const bool returned = machine_.status(1) == Status::returned;
    const Judgement found = judge(stays_, returned, machine_.limited(), true, [](Slot) { return false; });
    if (found.ending) report(std::move(known), found.thread, stack_.size() - 1);
    (found.assumed ? stops_ : goes_on_) = true;
    if (found.left > (left_ ? left_->count : 0)) left_ = Left{found.left, schedule(stack_.size() - 1)};
}

// Something happens in a step from this state on the way, or further on: so it does from all before it.
void StateSearch::note_progress_from(std::size_t visit) {
    for (; moving_on_ <= visit; ++moving_on_)
        if (stack_[moving_on_].index != not_stored) table_.set(stack_[moving_on_].index, StateTable::moves_on);
}

// The present state is left, and all that was done from it led nowhere, or back to the way here. If some state of a
// livelock is met at all, the first of them to be left is like that: nothing happens in any step from there, so that it
// is not known to move on. What is known is about all schedules, not only those that the reduction leaves: so it does
// not matter whether a transaction is over.
bool StateSearch::note_livelock() {
    if (!livelocks_.find(machine_)) return false;
    BugKey known{Ending::livelock, {}, {}};
    Slot first = 0;
    for (const Livelocks::Waiter& waiter : livelocks_.waiters()) {
        known.places.emplace_back(waiter.thread, waiter.position);
        if (first == 0 && waiter.spins) first = waiter.thread;
    }
    goes_on_ = true;
    report(std::move(known), first, stack_.size() - 1);
    return true;
}

// ------------------------------------------------------------------------------------------ races

bool StateSearch::may_race(Slot thread) const {
    if (machine_.status(thread) != Status::ready || machine_.paused(thread)) return false;
    const u32 position = machine_.position(thread);
    if (options_.reduction != Reduction::none) return movers_.contended(position);
    const Instruction& next = machine_.code().instructions[position];
    return ((next.op == Op::load || next.op == Op::store) && static_cast<Ordering>(next.c) == Ordering::plain) ||
           next.op == Op::free_ || machine_.at_guarded_access(thread);
}

bool StateSearch::looks_for_races() const {
    return options_.races != Races::ignore && (options_.reduction == Reduction::none || movers_.any_contended());
}

// All that is about to happen, if any of it may be in a data race.
void StateSearch::find_racers() {
    racers_.clear();
    const u64 threads = machine_.exited() ? 0 : machine_.threads();
    bool possible = false;
    for (u64 rest = threads; rest != 0 && !possible; rest &= rest - 1)
        possible = may_race(static_cast<Slot>(std::countr_zero(rest)));
    if (!possible) return;
    for (u64 rest = threads; rest != 0; rest &= rest - 1) {
        const Slot thread = static_cast<Slot>(std::countr_zero(rest));
        if (machine_.status(thread) != Status::ready || machine_.paused(thread)) continue;
        std::vector<u32> choices;
        do {
            machine_.announce(thread, choices, other_);
            racers_.push_back({thread, machine_.site(thread), other_.enabled, other_.guarded, other_.varies, choices,
                               other_.accesses});
        } while (advance(choices, other_.ranges));
    }
}

// Two threads that are both about to make conflicting accesses, not both atomic, are in a data race: nothing comes
// between the two, in either order.
void StateSearch::note_races() {
    find_racers();
    for (std::size_t i = 0; i < racers_.size(); ++i)
        for (std::size_t j = i + 1; j < racers_.size(); ++j) {
            const Racer &one = racers_[i], &other = racers_[j];
            if (one.thread == other.thread) continue;
            if (one.varies) variants_.note_beside(one.site, other.accesses);
            if (other.varies) variants_.note_beside(other.site, one.accesses);
            const auto conflicting = std::ranges::any_of(one.accesses, [&](const Access& access) {
                return access.ordering != Ordering::lifetime &&
                       std::ranges::any_of(other.accesses, [&](const Access& second) {
                           return second.ordering != Ordering::lifetime && is_data_race(access, second);
                       });
            });
            if (conflicting) note_race_between(one, other);
        }
}

void StateSearch::note_race_between(const Racer& one, const Racer& other) {
    const RaceKey key =
        race_key(one.site, other.site, one.accesses, other.accesses, static_cast<bool>(options_.passes_over));
    if (knows_race(key)) return;
    // A section comes first, since what it touches may depend on what the other one writes. Who frees what the other
    // one touches comes last, and so does who waits.
    const auto is_plain = [](const Racer& racer) {
        return racer.accesses.size() == 1 && racer.accesses[0].ordering == Ordering::plain;
    };
    const auto is_last = [&](const Racer& racer) {
        const Instruction& at = machine_.code().instructions[racer.site & ~u32{0}];
        return at.op == Op::free_ || !racer.enabled;
    };
    const bool swapped = is_last(one) || (is_plain(one) && !is_plain(other) && !is_last(other));
    const Racer &first = swapped ? other : one, &second = swapped ? one : other;
    if (!can_follow(first, second)) return;
    std::vector<Step> steps = schedule(stack_.size() - 1);
    steps.push_back({first.thread, first.choices});
    steps.push_back({second.thread, second.choices});
    note_race(key, std::move(steps));
}

// One access that waits stands for all the times at which it is made meanwhile. Other sections that wait touch nothing
// before they can go on: so that must be what the first step is for.
bool StateSearch::can_follow(const Racer& first, const Racer& second) {
    if (!first.enabled && !first.guarded) return false;
    if (second.enabled || second.guarded) return true;
    const Machine::Mark mark = machine_.mark();
    bool follows = machine_.take(first.thread, first.choices, other_) && !machine_.failed();
    if (follows) {
        machine_.announce(second.thread, second.choices, other_);
        follows =
            other_.enabled && std::ranges::any_of(first.accesses, [&](const Access& one) {
                return std::ranges::any_of(other_.accesses, [&](const Access& two) { return is_data_race(one, two); });
            });
    }
    machine_.rewind(mark);
    return follows;
}

bool StateSearch::knows_race(const RaceKey& key) const {
    return std::ranges::find(races_, key.first, &DataRace::sites) != races_.end() || passed_over_.contains(key);
}

void StateSearch::note_race(RaceKey key, std::vector<Step> steps) {
    DataRace race{key.first, static_cast<Position>(steps.size() - 2), std::move(steps)};
    if (options_.passes_over && options_.passes_over(machine_, race)) {
        passed_over_.insert(key);
        return;
    }
    if (options_.races == Races::error && !bug_) bug_ = Bug{Ending::race, race.schedule.back().thread, race.schedule};
    races_.push_back(std::move(race));
}

// ---------------------------------------------------------------------------------------- the start

// Cover all that is near the start, and then what is further and further away, with an effort in proportion to what was
// done so far: one part in sixteen, each time that the number of states has doubled, which is an eighth in all.
void StateSearch::look_nearby() {
    near_at_ = 2 * table_.size();
    if (!near_) {
        StateSearchOptions options = options_;
        options.max_depth = 8;
        options.max_states = 0;
        near_ = std::make_unique<StateSearch>(machine_.code(), options);
        near_->stop_ = stop_;
        near_->livelocks_.stop_at(stop_);
        near_->revisits_ = true;
    }
    u64 effort = std::max<u64>(transitions_ / 16, 500);
    near_->machine_.share_names(machine_);
    while (effort > 0 && !stop_->load(relaxed)) {
        near_->most_transitions_ = effort;
        const End end = near_->search();
        effort -= std::min(effort, near_->transitions_ + 1);
        add_findings(*near_);
        if (end == End::again) continue;
        if (end == End::stopped) break;
        covered_depth_ = near_->options_.max_depth;
        if (!near_->cut_) {
            options_.nearby = false;  // that was all there is
            break;
        }
        near_->options_.max_depth += std::max<u64>(near_->options_.max_depth / 4, 2);
    }
    machine_.share_names(near_->machine_);
    if (!options_.nearby || (bug_ && !options_.keep_going)) near_.reset();
}

void StateSearch::add_findings(const StateSearch& other) {
    for (std::size_t i = 0; i < other.found_.size(); ++i) {
        if (std::ranges::find(bugs_, other.bugs_[i]) != bugs_.end()) continue;
        if (!bug_) bug_ = other.found_[i];
        bugs_.push_back(other.bugs_[i]);
        if (found_.size() < most_bugs) found_.push_back(other.found_[i]);
    }
    for (const DataRace& race : other.races_)
        if (std::ranges::find(races_, race.sites, &DataRace::sites) == races_.end()) races_.push_back(race);
    passed_over_.insert(other.passed_over_.begin(), other.passed_over_.end());
    if (!bug_) bug_ = other.bug_;
}

// Depth-first search comes to a bug by a detour. Look for one that is less deep, with an effort in proportion to what
// it took to find the first: with bounds that grow until there is one, and then between the last two.
void StateSearch::shorten() {
    const u64 states = table_.size(), transitions = transitions_, deepest = deepest_;
    progress_.shortening.store(true, relaxed);
    u64 effort = 10 * transitions + 3'000'000;
    const auto found_within = [&](std::size_t depth) {
        const Bug best = *std::exchange(bug_, {});
        const std::vector<BugKey> known = std::exchange(bugs_, {});
        std::vector<DataRace> races = std::exchange(races_, {});
        options_.max_depth = depth;
        most_transitions_ = effort;
        search();
        effort -= std::min(effort, transitions_);
        limit_ = StateLimit::none;
        for (DataRace& race : races)
            if (std::ranges::find(races_, race.sites, &DataRace::sites) == races_.end())
                races_.push_back(std::move(race));
        if (bug_) return true;
        bug_ = best;
        bugs_ = known;
        return false;
    };
    const auto may_go_on = [&] { return effort > 0 && !stop_->load(relaxed); };
    std::size_t low = 0;  // nothing was found within this depth
    revisits_ = true;
    for (std::size_t depth = 8; may_go_on() && depth < bug_->schedule.size() && !found_within(depth); depth *= 2)
        low = depth;
    while (may_go_on() && bug_->schedule.size() > low + 1 + low / 8) {
        const std::size_t size = bug_->schedule.size(), depth = (low + size) / 2;
        if (!found_within(depth) || bug_->schedule.size() == size) low = depth;
    }
    // If that was too much, half the depth, as it comes, is better than nothing.
    revisits_ = false;
    effort += transitions;
    while (may_go_on() && bug_->schedule.size() > std::max<std::size_t>(2 * low, 8) &&
           found_within(bug_->schedule.size() / 2)) {
    }
    transitions_ = transitions;
    deepest_ = deepest;
    progress_.states.store(states, relaxed);
    progress_.transitions.store(transitions, relaxed);
    progress_.deepest.store(deepest, relaxed);
    progress_.shortening.store(false, relaxed);
}

}  // namespace mazurka
