// The search over states, its table, and canonical states, on random code with locks that runs for ever.
#include "states/states.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <memory>
#include <unordered_map>

#include "tests/testing.hpp"

using namespace mazurka;

namespace {

std::unique_ptr<StateSearch> search(const Code& code, Reduction reduction, bool exact, u64 max_states = 1500) {
    StateSearchOptions options;
    options.reduction = reduction;
    options.exact = exact;
    options.keep_going = true;
    options.livelocks = true;
    options.races = Races::warn;
    options.max_states = max_states;
    options.machine.instruction_limit = 1000;
    auto found = std::make_unique<StateSearch>(code, options);
    found->run();
    return found;
}

// One livelock is as good as another: which one is met first depends on the order of the search.
bool all_in(const std::vector<BugKey>& some, const std::vector<BugKey>& others) {
    return std::ranges::all_of(some, [&](const BugKey& bug) {
        if (bug.kind == Ending::livelock) return std::ranges::find(others, bug.kind, &BugKey::kind) != others.end();
        return std::ranges::find(others, bug) != others.end();
    });
}

// Reductions lose no bug and find no other ones, in no more states; and fingerprints stand for the states themselves.
bool compare_reductions(const Code& code) {
    const auto all = search(code, Reduction::none, true);
    if (!all->finished()) return false;
    for (const Reduction reduction : {Reduction::none, Reduction::cpc, Reduction::cycle_detection})
        for (const bool exact : {false, true}) {
            const auto found = search(code, reduction, exact, 0);
            CHECK(found->finished());
            CHECK(all_in(found->bugs(), all->bugs()) && all_in(all->bugs(), found->bugs()));
            CHECK(found->bug().has_value() == all->bug().has_value());
            CHECK(found->races().empty() == all->races().empty());
            CHECK(found->progress().states <= all->progress().states);
            CHECK(reduction != Reduction::none || found->progress().states == all->progress().states);
        }
    CHECK(all_in(search(code, Reduction::unsound, false, 0)->bugs(), all->bugs()));
    return true;
}

// A search that has come to a limit says so.
void check_limits(const Code& code, u64 states) {
    const auto few = search(code, Reduction::none, false, states / 2);
    CHECK(!few->finished() && few->limit() == StateLimit::states && few->progress().states <= states / 2 + 1);
    StateSearchOptions options;
    options.keep_going = options.exact = true;
    options.max_memory = 1;
    StateSearch starved(code, options);
    starved.run();
    CHECK(!starved.finished() && starved.limit() == StateLimit::memory);
}

std::vector<u64> canonical(const Machine& machine, const CodeFacts& facts) {
    StateWords words;
    machine.canonical(facts, !machine.addresses_matter(), words);
    return {words.words().begin(), words.words().end()};
}

// Canonical states are the same after rewinding, and different only if the states themselves are.
void walk(const Code& code, Random& random) {
    const CodeFacts facts(code);
    Machine machine(code, {.instruction_limit = 1000, .follow_locks = true, .follow_pointers = true});
    struct Point {
        Machine::Mark mark;
        bool matter;
        std::vector<u8> state;
        std::vector<u64> words;
    };
    std::vector<Point> points;
    for (u32 i = 0; i < 30; ++i) {
        points.push_back({machine.mark(), machine.addresses_matter(), machine.state(), canonical(machine, facts)});
        for (const Point& point : points)
            if (point.state == points.back().state && point.matter == points.back().matter)
                CHECK(point.words == points.back().words);
        const std::vector<Slot> threads = enabled_threads(machine);
        if (threads.empty() || below(random, 5) == 0) {
            const u32 back = below(random, static_cast<u32>(points.size()));
            machine.rewind(points[back].mark);
            // (That a program has looked at addresses is known for good.)
            if (machine.addresses_matter() == points[back].matter)
                CHECK(canonical(machine, facts) == points[back].words);
            points.resize(back);
            continue;
        }
        Effect effect;
        CHECK(machine.take(threads[below(random, static_cast<u32>(threads.size()))], {}, effect));
    }
}

// Blocks are called by how they are reached, not by which was made first.
void check_renaming() {
    Random random(0);
    Assembler assembler(random);
    Code& code = assembler.code;
    code.functions.resize(2);  // main, and one that makes a block
    code.globals.assign(2, {std::vector<u8>(16), false});
    const auto emit = [&](Op op, i32 dst, i32 a, i32 b = 0, i32 d = 0, u64 imm = 0) {
        code.instructions.push_back({op, 64, 8, dst, a, b, 0, d, imm});
    };
    code.functions[1] = {0, registers, 0, false};
    emit(Op::heap_alloc, 0, assembler.constant(8));
    emit(Op::return_, -1, 0, 1);
    code.functions[0] = {2, registers, 0, false};
    emit(Op::spawn, 0, assembler.constant(address_of(0, 1 + 1)));  // so that there is somebody to see it
    emit(Op::choose, 0, assembler.constant(2));
    emit(Op::branch, -1, 0, 0, 8, 5);
    for (const i32 first : {1, 2}) {
        emit(Op::call, first, 0, 0, 0, 1);
        emit(Op::call, 3 - first, 0, 0, 0, 1);
        emit(Op::jump, -1, 0, 0, 0, 11);
    }
    emit(Op::store, -1, assembler.constant(assembler.global(0)), 1, 0, 8);
    emit(Op::store, -1, assembler.constant(assembler.global(1)), 2, 0, 8);
    emit(Op::return_, -1, assembler.constant(0), 1);

    const CodeFacts facts(code);
    Machine machine(code, {.follow_pointers = true});
    const Machine::Mark start = machine.mark();
    std::array<std::vector<u64>, 2> words;
    std::array<std::vector<u8>, 2> states;
    for (const u32 chosen : {0u, 1u}) {
        machine.rewind(start);
        const std::array<u32, 1> choices{chosen};
        Effect effect;
        CHECK(machine.take(1, choices, effect));
        for (int i = 0; i < 2; ++i) CHECK(machine.take(1, {}, effect));
        words[chosen] = canonical(machine, facts);
        states[chosen] = machine.state();
    }
    CHECK(words[0] == words[1]);
    CHECK(states[0] != states[1]);
}

// A table keeps what is put into it, with its flags, however often it grows.
void check_table(bool exact) {
    StateTable table(exact);
    Random random(1);
    std::unordered_map<std::size_t, u64> on_stack;  // by index: which state
    const auto add = [&](u64 number) {
        const std::array<u64, 2> words{number, number * number};
        return table.add(fingerprint(words), words);
    };
    constexpr u64 count = 40'000;
    for (u64 number = 0; number < count; ++number) {
        if (table.full()) {
            const auto before = std::exchange(on_stack, {});
            table.grow([&](std::size_t from, std::size_t to) { on_stack[to] = before.at(from); });
            CHECK(on_stack.size() == before.size());
        }
        const auto [index, added] = add(number);
        CHECK(added);
        if (below(random, 100) == 0) {
            table.set(index, StateTable::on_stack);
            on_stack[index] = number;
        }
    }
    CHECK(table.size() == count);
    for (u64 number = 0; number < count; ++number) CHECK(!add(number).added);
    for (const auto& [index, number] : on_stack) {
        CHECK(add(number).index == index && table.flags(index) == StateTable::on_stack);
        table.clear(index, StateTable::on_stack);
        CHECK(table.flags(index) == 0);
    }
}

}  // namespace

int main() {
    constexpr u32 programs = 400;
    u32 compared = 0;
    for (u32 seed = 0; seed < programs; ++seed) {
        Random random(seed);
        const Code code = Assembler(random, seed % 4 != 0).assemble();
        walk(code, random);
        compared += compare_reductions(code);
    }
    CHECK(2 * compared > programs);
    for (u32 seed = 0, left = 5; left > 0; ++seed) {
        Random random(seed);
        const Code code = Assembler(random, true).assemble();
        const auto all = search(code, Reduction::none, false);
        if (!all->finished() || all->progress().states < 50) continue;
        check_limits(code, all->progress().states);
        --left;
    }
    check_renaming();
    for (const bool exact : {false, true}) check_table(exact);
    std::printf("states: %u of %u programs compared\n", compared, programs);
}
