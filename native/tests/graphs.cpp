// The explorer of execution graphs: programs whose graphs can be counted by hand, and random code, under every model.
#include "graphs/search.hpp"

#include <array>
#include <memory>

#include "explore/exploration.hpp"
#include "tests/testing.hpp"
#include "vm/exploring.hpp"

using namespace mazurka;

namespace {

constexpr std::array models{MemoryModel::sc, MemoryModel::tso, MemoryModel::pso, MemoryModel::ra, MemoryModel::c11};

std::unique_ptr<GraphSearch> explore(const Code& code, MemoryModel model, Equivalence equivalence = Equivalence::traces,
                                     Division division = {}) {
    GraphOptions options;
    options.algorithm = Algorithm::graphs;
    options.memory = model;
    options.equivalence = equivalence;
    options.keep_going = options.keep_executions = true;
    options.races = Races::warn;
    options.max_executions = 3000;
    options.division = division;
    auto found = std::make_unique<GraphSearch>(Machine(code, {.instruction_limit = 1000}), options);
    found->run();
    return found;
}

// Threads that main starts, which then ends. What they do is written down one after the other.
struct Threads {
    Random random;
    Assembler assembler{random};
    Code& code = assembler.code;

    explicit Threads(u32 count) {
        code.functions.resize(1 + count);
        code.globals.assign(3, {std::vector<u8>(4), false});
        begin(0);
        for (u32 i = 1; i <= count; ++i) emit(Op::spawn, 0, constant(address_of(0, 1 + i)));
        emit(Op::return_, -1, constant(0), 1);
        code.entry = 0;
    }

    i32 constant(u64 value) { return assembler.constant(value); }
    i32 variable(u32 index) { return constant(assembler.global(index)); }
    void emit(Op op, i32 dst, i32 a = 0, i32 b = 0, i32 c = 0, i32 d = 0, u64 imm = 0) {
        assembler.emit(assembler.make(op, dst, a, b, c, d, imm));
    }

    void begin(u32 function) {
        code.functions[function] = {static_cast<u32>(code.instructions.size()), registers, 0, false};
    }
    void end() { emit(Op::return_, -1, constant(0), 1); }
    void load(u32 index, Ordering order) { emit(Op::load, 0, variable(index), 0, static_cast<i32>(order), 0, 4); }
    void store(u32 index, u64 value, Ordering order) {
        emit(Op::store, -1, variable(index), constant(value), static_cast<i32>(order), 0, 4);
    }
    // A section that waits for a variable to have a value, and gives it another one.
    void await(u32 index, u64 value, u64 then) {
        emit(Op::atomic_begin, -1);
        load(index, Ordering::seq_cst);
        emit(Op::eq, 0, 0, constant(value));
        emit(Op::await, -1, 0, variable(index), constant(0));
        store(index, then, Ordering::seq_cst);
        emit(Op::atomic_end, -1);
    }
};

void check_counts(const Code& code, MemoryModel model, u64 complete, bool bug = false) {
    const auto found = explore(code, model);
    const auto& counts = found->results().counts;
    CHECK(found->finished() && counts.complete == complete && counts.blocked == 0 && counts.redundant == 0);
    CHECK(found->results().executions.size() == complete);
    CHECK(found->results().bug.has_value() == bug);
    CHECK(found->results().races.empty());
}

// Both read 0 only where a store may wait in a buffer.
void store_buffering(Ordering order) {
    Threads program(2);
    for (u32 thread = 0; thread < 2; ++thread) {
        program.begin(1 + thread);
        program.store(thread, 1, order);
        program.load(1 - thread, order);
        program.end();
    }
    for (const MemoryModel model : models) {
        const bool strong = order == Ordering::seq_cst && model != MemoryModel::ra;
        check_counts(program.code, model, strong || model == MemoryModel::sc ? 3 : 4);
    }
}

// Each order in which threads come to have a lock is a graph, and nothing else makes a difference.
void lock() {
    Threads program(3);
    for (u32 thread = 1; thread <= 3; ++thread) {
        program.begin(thread);
        program.await(0, 0, 1);
        program.load(1, Ordering::plain);
        program.store(1, thread, Ordering::plain);
        program.store(0, 0, Ordering::release);
        program.end();
    }
    for (const MemoryModel model : models) check_counts(program.code, model, 6);
}

// One waits for what the other one does, or waits for ever: that is a bug.
void condition(bool met) {
    Threads program(2);
    program.begin(1);
    program.await(0, 2, 3);
    program.end();
    program.begin(2);
    program.store(0, 1, Ordering::relaxed);
    if (met) program.store(0, 2, Ordering::release);
    program.end();
    for (const MemoryModel model : models) check_counts(program.code, model, 1, !met);
}

// Nobody reads what the threads write, so that their order is no matter; one that reads it sees one of them.
void blind_writes(bool read) {
    Threads program(4);
    for (u32 thread = 1; thread <= 4; ++thread) {
        program.begin(thread);
        if (read && thread == 4)
            program.load(0, Ordering::seq_cst);
        else
            program.store(0, thread, Ordering::seq_cst);
        program.end();
    }
    for (const MemoryModel model : {MemoryModel::sc, MemoryModel::tso}) {
        const Counts counts = explore(program.code, model, Equivalence::reads_from)->results().counts;
        CHECK(counts.complete == (read ? 4 : 1) && counts.blocked == 0 && counts.redundant == 0);
    }
    check_counts(program.code, MemoryModel::sc, 24);
}

// Whatever a program does, all is well with the explorer, and it sees the verdict that interleavings have.
// Several workers find what one does, whoever gets which part.
void compare_with_several(const Code& code, MemoryModel model, Equivalence equivalence, const GraphSearch& found) {
    for (const Division division : {Division{3, 0}, Division{3, 7}}) {
        if (!found.finished()) break;
        const auto several = explore(code, model, equivalence, division);
        const Counts& one = found.results().counts;
        const Counts& all = several->results().counts;
        CHECK(several->finished() && all.complete == one.complete && all.blocked == one.blocked);
        CHECK(several->results().bugs.size() == found.results().bugs.size());
        CHECK(several->results().races.size() == found.results().races.size());
    }
}

void explore_random(const Code& code) {
    ExplorationOptions options;
    options.algorithm = Algorithm::optimal;
    options.max_executions = 3000;
    options.keep_going = true;
    Exploration<Machine> interleavings(Machine(code, {.instruction_limit = 1000}), options);
    interleavings.run();
    for (const MemoryModel model : models) {
        const auto found = explore(code, model);
        compare_with_several(code, model, Equivalence::traces, *found);
        if (model == MemoryModel::sc && found->finished() && interleavings.finished())
            CHECK(found->results().bug.has_value() == interleavings.results().bug.has_value());
        if (model != MemoryModel::sc && model != MemoryModel::tso) continue;
        const auto classes = explore(code, model, Equivalence::reads_from);
        if (!found->finished() || !classes->finished()) continue;
        CHECK(classes->results().bug.has_value() == found->results().bug.has_value());
        CHECK(classes->results().races.size() == found->results().races.size());
        CHECK(classes->results().counts.executions() <= found->results().counts.executions());
        compare_with_several(code, model, Equivalence::reads_from, *classes);
    }
}

}  // namespace

int main() {
    store_buffering(Ordering::relaxed);
    store_buffering(Ordering::seq_cst);
    lock();
    condition(true);
    condition(false);
    blind_writes(false);
    blind_writes(true);
    constexpr u32 programs = 100;
    for (u32 seed = 0; seed < programs; ++seed) {
        Random random(10 * seed);
        explore_random(Assembler(random).assemble());
    }
    std::printf("graphs: 7 programs, and %u random ones, passed\n", programs);
}
