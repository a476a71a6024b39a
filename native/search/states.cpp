#include "search/states.hpp"

#include <algorithm>
#include <bit>

namespace mazurka {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr u8 most_unstored = 16;

MachineOptions machine_options(const StateSearchOptions& options) {
    MachineOptions machine = options.machine;
    machine.follow_locks = options.reduction != Reduction::none;
    machine.follow_pointers = true;
    return machine;
}

}  // namespace

StateSearch::StateSearch(const Code& code, const StateSearchOptions& options)
    : code_(code), options_(options), facts_(code), machine_(code, machine_options(options)), start_(machine_.mark()), table_(options.exact) {
    machine_.save_only_live(facts_);
    words_.summarise = !options.exact;
    renames_ = !machine_.addresses_matter();
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
    if (revisits_) table_.keep_depths();
    if (machine_.failed()) {
        report_failure();
        return options_.keep_going ? End::covered : End::stopped;
    }
    machine_.canonical(facts_, renames_, words_);
    words_.push(0);
    enter(table_.add(fingerprint(words_.words()), words_.words()).index, 1, false, false, true);
    for (u64 rounds = 1; !stack_.empty(); ++rounds) {
        if (rounds % 1024 == 0 && should_stop()) return End::stopped;
        Visit& visit = stack_.back();
        if (!visit.over) {
            if (!try_step(visit)) return End::stopped;
        } else if (!try_next_thread(visit)) {
            if (visit.xend && !visit.alive && !machine_.exited()) note_terminal();
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
        // The last moment to end the transaction. After a both mover it need not be: an earlier commit point does as well.
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

// Take the step that is to be tried, and go on from there if the state is new. False: there is no room for it.
bool StateSearch::try_step(Visit& visit) {
    const Slot thread = visit.thread;
    if (machine_.status(thread) != Status::ready || machine_.exited()) {
        visit.over = true;
        return true;
    }
    trying_.clear();
    for (std::size_t i = visit.choices; i < choices_.size(); ++i) trying_.push_back(choices_[i].value);
    const u64 threads = machine_.threads();
    const bool reducing = options_.reduction != Reduction::none;
    if (reducing) {
        const auto held = machine_.held(thread);
        held_.assign(held.begin(), held.end());
    }
    visit.summary = std::exchange(words_.threads[thread], {});
    const bool blocked = machine_.step(thread, trying_) == Machine::Outcome::blocked;
    choices_.resize(visit.choices);
    for (std::size_t i = 0; i < machine_.ranges().size(); ++i) choices_.push_back({i < trying_.size() ? trying_[i] : 0, machine_.ranges()[i]});
    Mover mover{false, false};
    if (reducing) {
        mover = movers_.judge(machine_, thread, held_);
        if (machine_.threads() != threads) mover.right = false;  // the new thread could not go first
        if (movers_.wrong() && again_at_ == 0) again_at_ = 2 * table_.size() + 1000;  // there may be more to learn
    }
    if (blocked) {
        const Waiting waiting = machine_.waiting();
        back_to(visit);
        if (machine_.ranges().empty()) note_circle(thread, waiting);
        return true;
    }
    ++transitions_;
    visit.moved = visit.alive = true;
    const bool failed = machine_.failed();
    if (!visit.phase && (!mover.left || failed)) {
        visit.xend = true;
        complete(visit);
    }
    if (failed) {
        report_failure();
        back_to(visit);
        return true;
    }
    bool phase = mover.right && (visit.phase || !mover.left);
    bool xend = !reducing;
    if (machine_.status(thread) == Status::ended || machine_.exited() ||
        (machine_.status(thread) == Status::ready && !machine_.paused(thread) && facts_.may_wait(machine_.position(thread)))) {
        phase = false;
        xend = true;
    }
    for (u64 made = machine_.threads() & ~threads; made != 0; made &= made - 1) words_.threads[std::countr_zero(made)] = {};
    const bool too_deep = options_.max_depth != 0 && stack_.size() > options_.max_depth;
    // Before the commit, only loops and choices can lead to the same state again: it is enough to know some.
    if (phase && visit.unstored < most_unstored && machine_.ranges().empty() && !too_deep) {
        const u8 unstored = visit.unstored + 1;
        enter(not_stored, thread, mover.right, phase, xend);
        stack_.back().unstored = unstored;
        return true;
    }
    machine_.canonical(facts_, renames_, words_);
    words_.push(phase ? thread : 0);
    if (const std::size_t needed = table_.bytes_to_add(words_.words().size()); needed != 0) {
        if (options_.max_memory != 0 && memory() + needed > options_.max_memory) {
            limit_ = StateLimit::memory;
            return false;
        }
        if (table_.full()) grow();
    }
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
    const u64 known = table_.flags(index);
    if ((known & StateTable::completed) != 0) complete(visit);
    if (options_.reduction == Reduction::cycle_detection && !visit.phase && (known & StateTable::on_stack) != 0) visit.xend = true;
    back_to(visit);
    return true;
}

// The present state is new.
void StateSearch::enter(std::size_t index, Slot thread, bool right, bool phase, bool xend) {
    if (index != not_stored) table_.set(index, StateTable::on_stack | (xend ? StateTable::completed : 0));
    if (stack_.size() == stack_.capacity()) stack_.reserve(stack_.size() + stack_.size() / 4 + 1024);
    stack_.push_back({machine_.mark(), {}, machine_.threads() & ~(u64{1} << thread), index, thread, static_cast<u32>(choices_.size()), 0, phase, right,
                      xend, false, false, false});
    deepest_ = std::max<u64>(deepest_, stack_.size() - 1);
}

void StateSearch::pop() {
    if (stack_.back().index != not_stored) table_.clear(stack_.back().index, StateTable::on_stack);
    choices_.resize(stack_.back().choices);
    stack_.pop_back();
    if (stack_.empty()) return;
    back_to(stack_.back());
}

// From the step that was tried, to what is tried next: the choices after those that the thread has made, if there are any.
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
        if (visit.index != not_stored) visit.index = std::ranges::lower_bound(moved, visit.index, {}, &std::pair<std::size_t, std::size_t>::first)->second;
}

std::size_t StateSearch::memory() const {
    return table_.bytes() + machine_.trail_bytes() + stack_.capacity() * sizeof(Visit) + choices_.capacity() * sizeof(Choice);
}

void StateSearch::note_progress() {
    progress_.states.store(table_.size(), relaxed);
    progress_.transitions.store(transitions_, relaxed);
    progress_.depth.store(stack_.empty() ? 0 : stack_.size() - 1, relaxed);
    progress_.deepest.store(deepest_, relaxed);
    progress_.memory.store(memory(), relaxed);
}

bool StateSearch::should_stop() {
    note_progress();
    if (options_.max_memory != 0 && memory() > options_.max_memory) limit_ = StateLimit::memory;
    return stopping_.load(relaxed) || limit_ != StateLimit::none;
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

void StateSearch::report(KnownBug known, Slot thread, std::size_t length) {
    if (std::ranges::find(bugs_, known) != bugs_.end()) return;
    if (!bug_) bug_ = Bug{known.kind, thread, schedule(length)};
    bugs_.push_back(std::move(known));
}

void StateSearch::report_failure() {
    const Failure& failure = machine_.failure();
    KnownBug known{Bug::Kind::failure, std::string(fault_name(failure.fault)), {}};
    for (const u32 frame : failure.frames) known.places.emplace_back(failure.thread, frame);
    report(std::move(known), failure.thread, stack_.size());
}

// A thread must wait: does it wait for itself, by way of others?
void StateSearch::note_circle(Slot thread, Waiting waiting) {
    KnownBug known{Bug::Kind::deadlock, {}, {}};
    for (Slot at = thread;;) {
        if (code_.instructions[waiting.pc].op != Op::await) return;
        known.places.emplace_back(at, waiting.pc);
        at = owner_of(object_of(waiting.holder));
        if (at == thread) break;
        if (at == 0 || known.places.size() > max_slots) return;
        if (machine_.status(at) != Status::ready || machine_.paused(at) || !facts_.may_wait(machine_.position(at))) return;
        machine_.next(at, {}, next_);
        if (!next_.waiting || !next_.ranges.empty()) return;  // (with another choice it might go on)
        waiting = *next_.waiting;
    }
    std::ranges::sort(known.places);
    report(std::move(known), thread, stack_.size() - 1);
}

// Nobody can go on.
void StateSearch::note_terminal() {
    KnownBug known{Bug::Kind::deadlock, {}, {}};
    for (u64 rest = machine_.threads(); rest != 0; rest &= rest - 1) {
        const Slot thread = static_cast<Slot>(std::countr_zero(rest));
        if (machine_.status(thread) == Status::stopped) return;  // an assumption of the program's is false
        if (machine_.status(thread) != Status::ready) continue;
        machine_.next(thread, {}, next_);
        if (!next_.waiting || code_.instructions[next_.waiting->pc].op != Op::await) return;
        known.places.emplace_back(thread, next_.waiting->pc);
    }
    if (known.places.empty()) return;
    const Slot first = known.places.front().first;
    report(std::move(known), first, stack_.size() - 1);
}

// Depth-first search comes to a bug by a detour. Look for one that is less deep, with an effort in proportion to what it took to find
// the first: with bounds that grow until there is one, and then between the last two.
void StateSearch::shorten() {
    const u64 states = table_.size(), transitions = transitions_, deepest = deepest_;
    progress_.shortening.store(true, relaxed);
    u64 effort = 10 * transitions + 3'000'000;
    const auto found_within = [&](std::size_t depth) {
        const Bug best = *std::exchange(bug_, {});
        const std::vector<KnownBug> known = std::exchange(bugs_, {});
        options_.max_depth = depth;
        most_transitions_ = effort;
        search();
        effort -= std::min(effort, transitions_);
        limit_ = StateLimit::none;
        if (bug_) return true;
        bug_ = best;
        bugs_ = known;
        return false;
    };
    const auto may_go_on = [&] { return effort > 0 && !stopping_.load(relaxed); };
    std::size_t low = 0;  // nothing was found within this depth
    revisits_ = true;
    for (std::size_t depth = 8; may_go_on() && depth < bug_->schedule.size() && !found_within(depth); depth *= 2) low = depth;
    while (may_go_on() && bug_->schedule.size() > low + 1 + low / 8) {
        const std::size_t size = bug_->schedule.size(), depth = (low + size) / 2;
        if (!found_within(depth) || bug_->schedule.size() == size) low = depth;
    }
    // If that was too much, half the depth, as it comes, is better than nothing.
    revisits_ = false;
    effort += transitions;
    while (may_go_on() && bug_->schedule.size() > std::max<std::size_t>(2 * low, 8) && found_within(bug_->schedule.size() / 2)) {}
    transitions_ = transitions;
    deepest_ = deepest;
    progress_.states.store(states, relaxed);
    progress_.transitions.store(transitions, relaxed);
    progress_.deepest.store(deepest, relaxed);
    progress_.shortening.store(false, relaxed);
}

}  // namespace mazurka
