// Tests of the native core by itself, made to be run under sanitizers: random programs on random walks.
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <vector>

#include "explore/exploration.hpp"

using namespace mazurka;

namespace {

#define CHECK(condition)                                                             \
    do {                                                                             \
        if (!(condition)) {                                                          \
            std::fprintf(stderr, "%s:%d: %s is false\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                            \
        }                                                                            \
    } while (false)

using Random = std::mt19937;

u32 below(Random& random, u32 limit) { return std::uniform_int_distribution<u32>(0, limit - 1)(random); }

constexpr i32 registers = 6;
constexpr u32 worker_count = 2;

// Assembles a program: `main` spawns workers; all of them do random things to memory, sane or not.
struct Assembler {
    Code code;
    Random& random;

    explicit Assembler(Random& source) : random(source) {}

    i32 constant(u64 value, u64 undefined = 0) {
        code.constants.push_back({value, undefined});
        return ~static_cast<i32>(code.constants.size() - 1);
    }
    i32 reg() { return static_cast<i32>(below(random, registers)); }
    // Usually the address of a global, sometimes of anything else.
    i32 address() {
        const u32 kind = below(random, 20);
        if (kind < 12) return constant(global(below(random, 2)) + 4 * below(random, 4));
        if (kind < 18) return reg();
        if (kind == 18) return constant(0);
        return constant(std::uniform_int_distribution<u64>()(random));
    }
    Address global(u32 index) const { return address_of(0, 1 + code.functions.size() + index); }
    i32 value() { return below(random, 2) == 0 ? reg() : constant(below(random, 4), below(random, 8) == 0 ? 0xf : 0); }

    Instruction make(Op op, i32 dst = -1, i32 a = 0, i32 b = 0, i32 c = 0, i32 d = 0, u64 imm = 0) {
        return {op, 32, 4, dst, a, b, c, d, imm};
    }
    void emit(const Instruction& instruction) { code.instructions.push_back(instruction); }

    void random_instruction() {
        switch (below(random, 16)) {
            case 0: emit(make(Op::add, reg(), reg(), value())); break;
            case 1: emit(make(Op::eq, reg(), reg(), value())); break;
            case 2:
            case 3: emit(make(Op::load, reg(), address(), 0, 5, 0, 4)); break;
            case 4:
            case 5: emit(make(Op::store, -1, address(), value(), 5, 0, 4)); break;
            case 6: emit(make(Op::update, below(random, 2) == 0 ? reg() : -1, address(), value(), 5, static_cast<i32>(below(random, 11)), 4)); break;
            case 7: {
                const i32 pair = static_cast<i32>(code.operands.size());
                code.operands.push_back(value());
                code.operands.push_back(reg());
                emit(make(Op::compare_exchange, reg(), address(), value(), 5, pair, 4));
                break;
            }
            case 8: emit(make(Op::stack_alloc, reg(), constant(below(random, 40)), 0, static_cast<i32>(below(random, 2)))); break;
            case 9: emit(make(Op::heap_alloc, reg(), constant(below(random, 40)), 0, static_cast<i32>(below(random, 2)))); break;
            case 10: emit(make(Op::free_, -1, below(random, 4) == 0 ? address() : reg())); break;
            case 11: emit(make(Op::choose, reg(), constant(1 + below(random, 3)))); break;
            case 12: {  // a section that waits for something, and does something
                emit(make(Op::atomic_begin));
                const i32 loaded = reg();
                emit(make(Op::load, loaded, constant(global(0)), 0, 5, 0, 4));
                emit(make(Op::ult, loaded, loaded, constant(2)));
                if (below(random, 2) == 0) emit(make(Op::assume, -1, loaded));
                else emit(make(Op::await, -1, loaded, constant(global(0)), constant(0)));
                emit(make(Op::store, -1, constant(global(0) + 4 * below(random, 2)), value(), 5, 0, 4));
                emit(make(Op::atomic_end));
                break;
            }
            case 13: emit(make(Op::call, reg(), 0, 0, 0, 0, 1)); break;  // the helper
            case 14: emit(make(Op::branch, -1, reg(), 0, 0, static_cast<i32>(code.instructions.size() + 1), code.instructions.size() + 1)); break;
            case 15: emit(make(Op::offset, reg(), reg(), constant(0), 0, 1, 4 * below(random, 4))); break;
        }
    }

    void function(u32 index, u32 length, bool spawns) {
        code.functions[index] = {static_cast<u32>(code.instructions.size()), registers, 0, false};
        // Registers are undefined until something is moved there.
        for (i32 i = 0; i < registers; ++i) emit(make(Op::move, i, constant(global(static_cast<u32>(i) % 2))));
        for (u32 i = 0; spawns && i < worker_count; ++i) emit(make(Op::spawn, reg(), constant(address_of(0, 1 + 2))));
        for (u32 i = 0; i < length; ++i) random_instruction();
        emit(make(Op::return_, -1, reg(), 1));
    }

    Code assemble() {
        code.functions.resize(3);  // main, the helper, the workers
        code.globals = {{std::vector<u8>(16), false}, {std::vector<u8>(16), false}};
        code.thread_block_size = 16;
        // The helper must not call itself: give it fixed code.
        code.functions[1] = {static_cast<u32>(code.instructions.size()), registers, 0, false};
        emit(make(Op::stack_alloc, 0, constant(8), 0, 0));
        emit(make(Op::store, -1, 0, constant(7), 5, 0, 4));
        emit(make(Op::load, 1, 0, 0, 5, 0, 4));
        emit(make(Op::return_, -1, 1, 1));
        function(0, below(random, 4), true);
        function(2, 1 + below(random, 5), false);
        code.entry = 0;
        return std::move(code);
    }
};

// The steps that can be taken, each as thread and choices.
std::vector<Step> enabled_steps(Machine& machine) {
    std::vector<Step> steps;
    if (machine.exited()) return steps;
    for (u64 rest = machine.threads(); rest != 0; rest &= rest - 1) {
        const Slot thread = static_cast<Slot>(std::countr_zero(rest));
        Next next;
        machine.next(thread, {}, next);
        if (next.enabled) steps.push_back({thread, {}});
    }
    return steps;
}

// Rewinding restores the state exactly, from any depth, and looking at what is next changes nothing.
void walk(const Code& code, Random& random) {
    Machine machine(code, {.uninitialised = below(random, 2) == 0, .record = below(random, 2) == 0, .instruction_limit = 1000});
    struct Point {
        Machine::Mark mark;
        std::vector<u8> state;
    };
    std::vector<Point> points;
    for (u32 i = 0; i < 40; ++i) {
        points.push_back({machine.mark(), machine.state()});
        const std::vector<Step> steps = enabled_steps(machine);
        CHECK(machine.state() == points.back().state);
        if (steps.empty() || below(random, 5) == 0) {
            const u32 back = below(random, static_cast<u32>(points.size()));
            machine.rewind(points[back].mark);
            CHECK(machine.state() == points[back].state);
            points.resize(back);
            continue;
        }
        const Step& step = steps[below(random, static_cast<u32>(steps.size()))];
        CHECK(machine.step(step.thread, step.choices) == Machine::Outcome::done);
    }
}

// All algorithms see the same verdicts, and both reductions the same number of classes.
void explore(const Code& code) {
    SearchOptions options;
    options.machine.instruction_limit = 1000;
    options.max_executions = 3000;
    options.keep_going = true;
    options.races = Races::warn;
    options.algorithm = Algorithm::exhaustive;
    Exploration all(code, options);
    all.run();
    options.algorithm = Algorithm::optimal;
    Exploration optimal(code, options);
    optimal.run();
    options.algorithm = Algorithm::pop;
    Exploration pop(code, options);
    pop.run();
    CHECK(optimal.progress().redundant == 0 && pop.progress().redundant == 0);
    if (all.finished()) {
        CHECK(optimal.finished() && pop.finished());
        CHECK(optimal.progress().complete + optimal.progress().blocked <= all.progress().complete + all.progress().blocked);
        CHECK(all.bug().has_value() == optimal.bug().has_value());
    }
    if (optimal.finished() && pop.finished()) {
        CHECK(optimal.progress().complete == pop.progress().complete && optimal.progress().blocked == pop.progress().blocked);
        CHECK(optimal.bug().has_value() == pop.bug().has_value());
    }
}

}  // namespace

int main() {
    constexpr u32 programs = 2000;
    for (u32 seed = 0; seed < programs; ++seed) {
        Random random(seed);
        const Code code = Assembler(random).assemble();
        for (int i = 0; i < 5; ++i) walk(code, random);
        if (seed % 10 == 0) explore(code);
    }
    std::printf("native: %u programs passed\n", programs);
}
