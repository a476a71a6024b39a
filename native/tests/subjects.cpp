// The explorers on subjects that have nothing to do with the virtual machine: threads with a fixed list of things to do
// to shared registers, of which it is known how many classes of executions they have.
#include <bit>
#include <functional>
#include <memory>
#include <vector>

#include "explore/exploration.hpp"
#include "explore/restarting.hpp"
#include "tests/check.hpp"

namespace mazurka {
namespace {

enum class Do : u8 { read, write, lock, unlock, choose };
struct Task {
    Do what;
    u32 place;
};
using Tasks = std::vector<std::vector<Task>>;

// Can only announce, step and start again.
class Registers {
public:
    Registers() = default;
    explicit Registers(std::shared_ptr<const Tasks> tasks) : tasks_(std::move(tasks)), done_(tasks_->size()) {}
    explicit Registers(Tasks tasks) : Registers(std::make_shared<const Tasks>(std::move(tasks))) {}
    Registers again() const { return Registers(tasks_); }

    u64 threads() const { return ((u64{1} << tasks_->size()) - 1) << 1; }
    Status status(Slot thread) const { return at(thread) == nullptr ? Status::ended : Status::ready; }
    Slot named_threads() const { return static_cast<Slot>(tasks_->size() + 1); }
    void share_names(const Registers&) {}
    u64 site(Slot thread) const { return u64{thread} << 8 | done_[thread - 1]; }
    Guard stopped_at(Slot) const { return Guard::program; }
    bool exited() const { return false; }
    bool failed() const { return false; }
    bool limited() const { return false; }
    const Failure& failure() const { return failure_; }

    void announce(Slot thread, std::span<const u32> choices, Effect& effect) const {
        effect.clear();
        const Task* task = at(thread);
        if (task == nullptr) return;
        const Address address = address_of(0, 1 + task->place);
        const u64 held = values_[task->place];
        effect.enabled = true;
        effect.site = site(thread);
        const auto touch = [&](bool reads, bool writes) {
            effect.accesses.push_back({address, 8, held, reads, writes, Commuting::no, Ordering::seq_cst, writes});
        };
        switch (task->what) {
            case Do::read: touch(true, false); break;
            case Do::write:
            case Do::unlock: touch(false, true); break;
            case Do::lock:
                effect.enabled = held == 0;
                effect.section = effect.varies = true;
                effect.guard_accesses = 1;
                touch(true, effect.enabled);
                if (!effect.enabled)
                    effect.waiting = {0, Guard::resource, address, address_of(static_cast<Slot>(held), 0)};
                break;
            case Do::choose:
                effect.ranges.push_back(task->place);
                effect.enabled = choices.empty() || choices[0] < task->place;
                effect.accesses.push_back({process_byte(thread), 1, 0, true, false, Commuting::no, Ordering::seq_cst});
                break;
        }
    }
    bool take(Slot thread, std::span<const u32> choices, Effect& effect) {
        announce(thread, choices, effect);
        if (!effect.enabled) return false;
        const Task& task = *at(thread);
        if (task.what == Do::write || task.what == Do::lock) values_[task.place] = thread;
        if (task.what == Do::unlock) values_[task.place] = 0;
        ++done_[thread - 1];
        return true;
    }

private:
    const Task* at(Slot thread) const {
        const std::vector<Task>& all = (*tasks_)[thread - 1];
        const std::size_t done = done_[thread - 1];
        return done < all.size() ? &all[done] : nullptr;
    }

    std::shared_ptr<const Tasks> tasks_;
    std::vector<std::size_t> done_;
    std::vector<u64> values_ = std::vector<u64>(8);
    Failure failure_{};
};

// The same with all that the explorers can make use of.
class Rewinding : public Registers {
public:
    using Registers::Registers;
    explicit Rewinding(Registers start) : Registers(std::move(start)) {}
    Rewinding again() const { return Rewinding(Registers::again()); }

    using Mark = Registers;
    Mark mark() const { return *this; }
    void rewind(const Mark& mark) { static_cast<Registers&>(*this) = mark; }
};

static_assert(Subject<Rewinding> && !Pokable<Rewinding>);
static_assert(Subject<Restarting<Registers>> && !Subject<Registers>);

template <Subject S>
Counts count(const Tasks& tasks, Algorithm algorithm, u64 seed, std::optional<Ending> ending) {
    ExplorationOptions options;
    options.algorithm = algorithm;
    options.keep_going = true;
    options.seed = seed;
    Exploration<S> exploration(S(Registers(tasks)), options);
    exploration.run();
    CHECK(exploration.finished());
    const Results& results = exploration.results();
    CHECK(results.counts.redundant == 0);
    CHECK(results.bug.has_value() == ending.has_value() && (!ending || results.bug->kind == *ending));
    CHECK(results.bugs.empty() == !ending);
    // Added to what is the same, it counts twice, and shows nothing new.
    Results sum;
    for (u64 times = 1; times <= 2; ++times) {
        sum.add(results, std::less<>());
        CHECK(sum.counts.executions() == times * results.counts.executions());
        CHECK(sum.bug.has_value() == ending.has_value() && sum.bugs.size() == results.bugs.size());
        for (std::size_t i = 0; i < sum.bugs.size(); ++i)
            CHECK(sum.bugs[i].executions == times * results.bugs[i].executions && sum.bugs[i].executions > 0);
    }
    return results.counts;
}

void expect(const Tasks& tasks, u64 classes, u64 interleavings, std::optional<Ending> ending = {}) {
    CHECK(count<Rewinding>(tasks, Algorithm::exhaustive, 0, ending).executions() == interleavings);
    CHECK(count<Restarting<Registers>>(tasks, Algorithm::exhaustive, 0, ending).executions() == interleavings);
    for (const Algorithm algorithm : {Algorithm::optimal, Algorithm::pop})
        for (const u64 seed : {0, 1, 2}) {
            CHECK(count<Rewinding>(tasks, algorithm, seed, ending).executions() == classes);
            CHECK(count<Restarting<Registers>>(tasks, algorithm, seed, ending).executions() == classes);
        }
}

}  // namespace

void test_subjects() {
    const Task write{Do::write, 0}, read{Do::read, 0}, lock{Do::lock, 0}, unlock{Do::unlock, 0};
    const Task other_lock{Do::lock, 1}, other_unlock{Do::unlock, 1};
    expect({{write}, {write}, {write}, {write}}, 24, 24);         // n!
    expect({{write}, {read}, {read}, {read}}, 8, 24);             // each read before or after
    expect({{write}, {{Do::write, 1}}, {{Do::write, 2}}}, 1, 6);  // nothing in common
    expect({{lock, unlock}, {lock, unlock}, {lock, unlock}}, 6, 6);
    expect({{{Do::choose, 3}}, {{Do::choose, 2}}}, 6, 12);
    // Two locks, in either order: who is first at both, or a deadlock.
    expect({{lock, other_lock, other_unlock, unlock}, {other_lock, lock, unlock, other_unlock}}, 3, 6,
           Ending::deadlock);
}

}  // namespace mazurka
