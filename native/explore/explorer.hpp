// What all explorers share: the execution, the limits, the counts, the bugs.
#pragma once

#include <atomic>
#include <bit>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/choices.hpp"
#include "explore/execution.hpp"
#include "explore/results.hpp"
#include "explore/team.hpp"

namespace mazurka {

struct ExplorationOptions {
    Algorithm algorithm = Algorithm::pop;
    bool commute = true;      // respect commuting updates
    bool symmetry = false;    // threads that are alike in one order only
    bool keep_going = false;  // after a bug
    bool allow_livelock = false;
    Races races = Races::ignore;
    std::function<bool(const DataRace&)> passes_over = {};  // whether a data race is of no interest; empty: none is
    bool keep_executions = false;                           // their schedules; for tests
    u64 max_executions = 0;                                 // 0: no limit
    u64 max_steps = 100'000;                                // in one execution, ...
    bool until_endless = false;                             // ... and when one has more, that is all
    u64 seed = 0;                                           // not 0: shuffles which thread goes first
    Division division = {};                                 // among workers
};

template <Subject S>
class Explorer {
public:
    Explorer(const S& start, const ExplorationOptions& options, Progress& progress, const std::atomic<bool>& stopping)
        : options_(options),
          execution_(start, options.commute, options.races != Races::ignore,
                     options.symmetry && options.algorithm == Algorithm::optimal),
          progress_(progress),
          stopping_(stopping) {}
    virtual ~Explorer() = default;
    Explorer(const Explorer&) = delete;
    Explorer& operator=(const Explorer&) = delete;

    // Until everything is covered, a bug or a limit of the search is met, or someone asks to stop. Whether everything
    // was covered (up to the limits that executions have met).
    virtual bool run() = 0;
    // Why another explorer has to do it, if so.
    virtual std::optional<HandOver> hand_over() const { return {}; }
    // Whether threads turned out not to be alike, so that it has to be done again.
    bool tells_apart() const { return execution_.tells_apart(); }

    const Results& results() const { return results_; }
    const S& subject() const { return execution_.subject(); }

protected:
    // Be one of several workers. Of all that shows the same, they report what comes first in an order of schedules,
    // since who finds it first is a matter of time.
    void join(Crew& crew) { crew_ = &crew; }
    bool is_over() const { return crew_ != nullptr && crew_->is_over(options_.max_executions); }
    // After each new event: count it, and notice failures and executions that are too long. False: do not go on from
    // here.
    bool note_event();
    // The execution cannot be extended: count it, and notice deadlocks and livelocks.
    void note_end();
    void note_redundant() { ++results_.counts.redundant; }
    bool should_stop() const;
    // Somebody asked for it: what goes through many choices looks at this now and then, and is not complete if so.
    bool is_stopping() const {
        return stopping_.load(std::memory_order_relaxed) || (crew_ != nullptr && crew_->has_ended());
    }
    // Whether the subject failed before the first event.
    bool failed_at_start();
    // About how much of the search is done, judged by the branches that are known along the present execution.
    virtual double fraction() const { return 0; }
    // Calls `visit` with each of the threads.
    template <class Visit>
    static void each_thread(u64 threads, Visit visit) {
        for (; threads != 0; threads &= threads - 1) visit(static_cast<Slot>(std::countr_zero(threads)));
    }
    // The steps that can be taken now: threads, and the choices that they can make.
    std::vector<Step> enabled_steps();
    Step step_of(Position event) const {
        const auto choices = execution_.choices(event);
        return {execution_[event].thread, {choices.begin(), choices.end()}};
    }

    const ExplorationOptions options_;
    Execution<S> execution_;
    Effect effect_;  // of what is only looked at

private:
    void report(Ending kind, Slot thread);
    Sighting* sighting(BugKey key, Slot thread);
    // Calls `visit` with each thread that has failed, and what that bug is known by.
    template <class Visit>
    void each_failure(Visit visit) const;
    void note_limit(Fault fault, Slot thread, std::vector<Step> schedule);
    void note_limit_of_subject();
    bool is_known(RaceKey key) const {
        return passed_over_.contains(key) || (crew_ == nullptr && results_.knows(key.first));
    }
    template <class Found>
    bool precedes(const Found& one, const Found& other) const {
        return comes_before(one, other, order_of(subject()));
    }
    RaceKey key_of(u64 site, u64 other, std::span<const Access> accesses, std::span<const Access> others) const {
        return race_key(site, other, accesses, others, static_cast<bool>(options_.passes_over));
    }
    void note_race(RaceKey key, Position first, std::vector<Step> schedule);
    void note_races(u64 waiting_site, std::span<const Access> waiting);
    void note_races_of_waiting();
    void note_waiting(Slot thread, const Effect& effect, Position length);
    std::vector<Step> schedule() const;

    Progress& progress_;
    const std::atomic<bool>& stopping_;
    Crew* crew_ = nullptr;
    Results results_;
    std::set<RaceKey> passed_over_;                   // data races of no interest, ...
    std::set<RaceKey> wanted_;                        // ... and others
    u64 most_steps_ = ~u64{0};                        // of all executions
    std::vector<Stay> stays_;                         // at the end
    std::vector<std::pair<Slot, Accesses>> waiting_;  // threads that wait at the end, and with what
    std::vector<std::pair<Slot, Slot>> joining_;      // those that wait for the end of another one
};

template <Subject S>
std::vector<Step> Explorer<S>::schedule() const {
    std::vector<Step> steps;
    for (Position i = 0; i < execution_.size(); ++i) steps.push_back(step_of(i));
    return steps;
}

template <Subject S>
std::vector<Step> Explorer<S>::enabled_steps() {
    std::vector<Step> steps;
    S& subject = execution_.subject();
    if (subject.exited()) return steps;
    each_thread(subject.threads(), [&](Slot thread) {
        if (subject.status(thread) != Status::ready) return;
        std::vector<u32> choices;
        do {
            subject.announce(thread, choices, effect_);
            if (effect_.enabled) steps.push_back({thread, choices});
        } while (advance(choices, effect_.ranges) && !is_stopping());
    });
    return steps;
}

template <Subject S>
void Explorer<S>::report(Ending kind, Slot thread) {
    if (!results_.bug) results_.bug = Bug{kind, thread, schedule(), subject().failure().fault};
}

// What is known of a bug, if there is room for it. It was shown by the last event of its thread, or by the execution as
// a whole.
template <Subject S>
Sighting* Explorer<S>::sighting(BugKey key, Slot thread) {
    const auto known = std::ranges::find(results_.bugs, key, &Sighting::key);
    const bool is_failure = key.kind == Ending::failure;
    const Position last = is_failure ? execution_.before(thread) : nowhere;
    if (known != results_.bugs.end()) {
        const bool is_new = !is_failure || last + 1 == execution_.size();
        if (crew_ == nullptr || !is_new) return &*known;
    } else if (results_.bugs.size() >= (crew_ == nullptr ? most_bugs : 16 * most_bugs)) {
        return nullptr;
    }
    Bug bug{key.kind, thread, {}, key.fault};
    // Of a failure, only what leads to it: another thread may have failed before. (What is lost depends on who has
    // ended.)
    const bool all = !is_failure || bug.fault == Fault::leaked;
    for (Position i = 0; i < execution_.size(); ++i)
        if (all || i == last || (last != nowhere && execution_.happens_before(i, last)))
            bug.schedule.push_back(step_of(i));
    if (known != results_.bugs.end()) {
        if (precedes(bug, known->bug)) known->bug = std::move(bug);
        return &*known;
    }
    results_.bugs.push_back({std::move(key), std::move(bug)});
    return &results_.bugs.back();
}

template <Subject S>
template <class Visit>
void Explorer<S>::each_failure(Visit visit) const {
    each_thread(subject().threads(), [&](Slot thread) {
        if (subject().status(thread) != Status::failed) return;
        const Failure& failure = failure_of(subject(), thread);
        if (is_limit(failure.fault)) return;
        BugKey key{Ending::failure, failure.fault, {}};
        for (const u32 frame : failure.frames) key.places.emplace_back(0, frame);
        visit(thread, std::move(key));
    });
}

template <Subject S>
void Explorer<S>::note_limit(Fault fault, Slot thread, std::vector<Step> schedule) {
    if (results_.limit) return;
    results_.limit = Limit{fault, thread, std::move(schedule)};
    const bool is_over = options_.until_endless && fault == Fault::too_many_steps;
    if (crew_ != nullptr) crew_->limit_steps(is_over);
    if (is_over || crew_ == nullptr) most_steps_ = is_over ? 0 : 10 * results_.counts.steps + effort_beyond;
}

template <Subject S>
void Explorer<S>::note_race(RaceKey key, Position first, std::vector<Step> schedule) {
    DataRace race{key.first, first, std::move(schedule)};
    const auto known = std::ranges::find(results_.races, key.first, &DataRace::sites);
    if (known != results_.races.end() && !precedes(race, *known)) return;
    if (options_.passes_over && !wanted_.contains(key)) {
        const bool passes_over = options_.passes_over(race);
        (passes_over ? passed_over_ : wanted_).insert(key);
        if (passes_over) return;
    }
    if (options_.races == Races::error && !results_.bug)
        results_.bug = Bug{Ending::race, race.schedule.back().thread, race.schedule};
    if (known != results_.races.end())
        *known = std::move(race);
    else
        results_.races.push_back(std::move(race));
}

template <Subject S>
void Explorer<S>::note_races(u64 waiting_site, std::span<const Access> waiting) {
    const Position last = execution_.size() - 1;
    for (const Position first : execution_.data_races()) {
        const RaceKey key = key_of(execution_[first].site, execution_[last].site, execution_.accesses(first),
                                   execution_.accesses(last));
        if (is_known(key)) continue;
        std::vector<Step> steps = schedule();
        Position at = first;
        if (execution_.races_if_reordered()) {
            // As late as possible, so that whoever might get to know of it from a commuting update comes before.
            std::vector<Step> before, after;
            for (Position i = 0; i <= last; ++i) {
                const bool later = i == first || execution_.depends(first, i);
                (later ? after : before).push_back(std::move(steps[i]));
            }
            at = static_cast<Position>(before.size());
            before.insert(before.end(), after.begin(), after.end());
            steps = std::move(before);
        }
        note_race(key, at, std::move(steps));
    }
    for (const auto& [first, latest, thread] : execution_.waiting_races()) {
        const RaceKey key = key_of(execution_[first].site, waiting_site, execution_.accesses(first), waiting);
        if (is_known(key)) continue;
        // Only what comes before the two, so that the thread still waits or has just arrived.
        std::vector<Step> steps;
        Position at = 0;
        for (Position i = 0; i <= (latest == nowhere ? first : std::max(first, latest)); ++i) {
            const bool before = i == first || execution_.depends(i, first);
            if (!before && (latest == nowhere || (i != latest && !execution_.depends(i, latest)))) continue;
            if (i == first) at = static_cast<Position>(steps.size());
            steps.push_back(step_of(i));
        }
        steps.push_back({thread, {}});
        note_race(key, at, std::move(steps));
    }
}

// The races of threads that still wait when the process ends: before its last event, they could have gone round once
// more.
template <Subject S>
void Explorer<S>::note_races_of_waiting() {
    if constexpr (Looping<S>) {
        S& subject = execution_.subject();
        const Position last = execution_.size() - 1;
        const Step step = step_of(last);
        subject.rewind(execution_[last].mark);
        waiting_.clear();
        each_thread(subject.threads(), [&](Slot thread) {
            if (thread == step.thread || !subject.at_guarded_access(thread)) return;
            subject.announce(thread, {}, effect_);
            note_waiting(thread, effect_, last);
        });
        subject.mark();
        subject.take(step.thread, step.choices, effect_);
    }
}

// A thread waits with these accesses after the first `length` events, when nothing else happens any more.
template <Subject S>
void Explorer<S>::note_waiting(Slot thread, const Effect& effect, Position length) {
    execution_.find_races_of_waiting(thread, effect, length);
    note_races(subject().site(thread), effect.accesses);
    for (const auto& [other, others] : waiting_) {
        const bool race = std::ranges::any_of(effect.accesses, [&](const Access& one) {
            return std::ranges::any_of(others, [&](const Access& two) { return is_data_race(one, two); });
        });
        const RaceKey key = key_of(subject().site(other), subject().site(thread), others, effect.accesses);
        if (!race || is_known(key)) continue;
        std::vector<Step> steps = schedule();
        steps.resize(length);
        steps.push_back({other, {}});
        steps.push_back({thread, {}});
        note_race(key, length, std::move(steps));
    }
    waiting_.emplace_back(thread, effect.accesses);
}

template <Subject S>
bool Explorer<S>::failed_at_start() {
    note_limit_of_subject();
    if (!subject().failed()) return false;
    report(Ending::failure, subject().failure().thread);
    each_failure([&](Slot thread, BugKey key) { sighting(std::move(key), thread); });
    if (!options_.keep_going) {
        ++results_.counts.complete;
        results_.counts.tell_apart(execution_.weight(), false);
    }
    progress_.show(results_.counts, 0);
    return !options_.keep_going;
}

// A thread that meets a limit stays where it is; what the others do without it is part of the program.
template <Subject S>
void Explorer<S>::note_limit_of_subject() {
    if (results_.limit || !subject().limited() || subject().failed()) return;
    note_limit(subject().failure().fault, subject().failure().thread, schedule());
}

template <Subject S>
bool Explorer<S>::note_event() {
    Counts& counts = results_.counts;
    ++counts.steps;
    if (!execution_.data_races().empty() || !execution_.waiting_races().empty())
        note_races(execution_[execution_.size() - 1].site, execution_.accesses(execution_.size() - 1));
    if (subject().exited() && options_.races != Races::ignore) note_races_of_waiting();
    note_limit_of_subject();
    if (subject().failed()) {
        report(Ending::failure, subject().failure().thread);
        each_failure([&](Slot thread, BugKey key) { sighting(std::move(key), thread); });
    }
    bool goes_on = options_.keep_going || !results_.bug;
    if (goes_on && execution_.size() > options_.max_steps) {
        std::vector<Step> steps = schedule();
        steps.pop_back();  // it has not ended after the steps that it may have
        note_limit(Fault::too_many_steps, execution_[execution_.size() - 1].thread, std::move(steps));
        ++counts.beyond;
        goes_on = false;
    }
    if (!goes_on) {
        ++counts.complete;
        counts.tell_apart(execution_.weight(), false);
    }
    progress_.show(counts, execution_.size());
    return goes_on;
}

template <Subject S>
void Explorer<S>::note_end() {
    Counts& counts = results_.counts;
    if (counts.executions() % 256 == 0) progress_.fraction.store(fraction(), std::memory_order_relaxed);
    if (options_.keep_executions) results_.executions.push_back(schedule());
    S& subject = execution_.subject();
    stays_.clear();
    waiting_.clear();
    joining_.clear();
    each_thread(subject.threads(), [&](Slot thread) {
        // Where all is over, a bounded loop is still one that was left too early.
        if (subject.status(thread) == Status::stopped) {
            const Guard guard = subject.stopped_at(thread);
            if (!subject.exited() || guard == Guard::bound) stays_.push_back({thread, guard});
        } else if (subject.status(thread) == Status::ready && !subject.exited()) {
            subject.announce(thread, {}, effect_);
            if (!effect_.waiting) {  // (another choice might have been possible)
                stays_.push_back({thread, Guard::program});
                return;
            }
            const Waiting waiting = *effect_.waiting;
            if (const Slot awaited = joined_by(effect_.accesses, thread)) joining_.emplace_back(thread, awaited);
            if constexpr (Looping<S>)
                if (options_.races != Races::ignore && subject.at_guarded_access(thread))
                    note_waiting(thread, effect_, execution_.size());
            stays_.push_back({thread, waiting.guard, owner_of(object_of(waiting.holder))});
        }
    });
    const bool returned = subject.status(1) == Status::returned;
    const Judgement found = judge(stays_, returned, subject.limited(), options_.allow_livelock, [&](Slot thread) {
        if constexpr (Looping<S>) return (options_.keep_going || !results_.bug) && subject.spins(thread);
        return false;
    });
    counts.tell_apart(execution_.weight(), !subject.limited() && found.blocked);
    if (!subject.limited()) {
        ++(found.blocked ? counts.blocked : counts.complete);
        counts.bounded += found.bounded ? 1 : 0;
        counts.assumed += found.assumed ? 1 : 0;
    } else {
        ++counts.complete;
        ++counts.beyond;
        if (subject.failure().fault == Fault::too_many_instructions && counts.beyond >= most_beyond) most_steps_ = 0;
    }
    if (subject.failed()) {
        std::set<Sighting*> shown;  // several threads may fail in the same way
        each_failure([&](Slot, const BugKey& key) {
            const auto known = std::ranges::find(results_.bugs, key, &Sighting::key);
            if (known != results_.bugs.end() && shown.insert(&*known).second) ++known->executions;
        });
    } else if (found.ending) {
        report(*found.ending, found.thread);
        BugKey key{*found.ending, {}, {}};
        for (const Stay& stay : stays_) key.places.emplace_back(stay.thread, subject.site(stay.thread));
        if (Sighting* const known = sighting(std::move(key), found.thread)) ++known->executions;
    }
    if (options_.keep_going || !results_.bug)
        for (const auto& [thread, awaited] : joining_) execution_.look_for_names_at_end(thread, awaited, stays_);
    const u32 most_left = results_.left ? results_.left->count : 0;
    if (found.left > most_left || (crew_ != nullptr && found.left != 0 && found.left == most_left)) {
        Left left{found.left, schedule()};
        if (found.left > most_left || precedes(left, *results_.left)) results_.left = std::move(left);
    }
    progress_.show(counts, execution_.size());
}

template <Subject S>
bool Explorer<S>::should_stop() const {
    if (tells_apart() || is_stopping() || (results_.bug && !options_.keep_going)) return true;
    const Counts& counts = results_.counts;
    return counts.steps >= most_steps_ ||
           (options_.max_executions != 0 && counts.executions() >= options_.max_executions);
}

}  // namespace mazurka
