// What the tests of the native core share: random code, and what can be done with it. They are made to be run under
// sanitizers.
#pragma once

#include <bit>
#include <cstdio>
#include <random>
#include <utility>
#include <vector>

#include "tests/check.hpp"
#include "vm/machine.hpp"

namespace mazurka {

using Random = std::mt19937;

inline u32 below(Random& random, u32 limit) { return std::uniform_int_distribution<u32>(0, limit - 1)(random); }

inline constexpr i32 registers = 6;
inline constexpr u32 worker_count = 2;

// Assembles a program: `main` spawns workers; all of them do random things to memory, sane or not. With `endless`, they
// do so again and again, hold locks meanwhile, and let numbers stay small.
struct Assembler {
    Code code;
    Random& random;
    bool endless;

    explicit Assembler(Random& source, bool again = false) : random(source), endless(again) {}

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
            case 6:
                emit(make(Op::update, below(random, 2) == 0 ? reg() : -1, address(), value(), 5,
                          static_cast<i32>(below(random, 11)), 4));
                break;
            case 7: {
                const i32 pair = static_cast<i32>(code.operands.size());
                code.operands.push_back(value());
                code.operands.push_back(reg());
                code.operands.push_back(static_cast<i32>(Ordering::relaxed));
                emit(make(Op::compare_exchange, reg(), address(), value(), 5, pair, 4));
                break;
            }
            case 8:
                emit(make(Op::stack_alloc, reg(), constant(below(random, 40)), 0, static_cast<i32>(below(random, 2))));
                break;
            case 9:
                emit(make(Op::heap_alloc, reg(), constant(below(random, 40)), 0, static_cast<i32>(below(random, 2))));
                break;
            case 10: emit(make(Op::free_, -1, below(random, 4) == 0 ? address() : reg())); break;
            case 11: emit(make(Op::choose, reg(), constant(1 + below(random, 3)))); break;
            case 12: {  // a section that waits for something, and does something
                emit(make(Op::atomic_begin));
                const i32 loaded = reg();
                emit(make(Op::load, loaded, constant(global(0)), 0, 5, 0, 4));
                emit(make(Op::ult, loaded, loaded, constant(2)));
                if (below(random, 2) == 0)
                    emit(make(Op::assume, -1, loaded));
                else
                    emit(make(Op::await, -1, loaded, constant(global(0)), constant(0)));
                emit(make(Op::store, -1, constant(global(0) + 4 * below(random, 2)), value(), 5, 0, 4));
                emit(make(Op::atomic_end));
                break;
            }
            case 13: emit(make(Op::call, reg(), 0, 0, 0, 0, 1)); break;  // the helper
            case 14:
                emit(make(Op::branch, -1, reg(), 0, 0, static_cast<i32>(code.instructions.size() + 1),
                          code.instructions.size() + 1));
                break;
            case 15: emit(make(Op::offset, reg(), reg(), constant(0), 0, 1, 4 * below(random, 4))); break;
        }
    }

    // A section that takes a lock or gives it back, and says so.
    void lock(u32 which, bool takes) {
        const i32 at = constant(global(2 + which)), found = 0;
        emit(make(Op::atomic_begin));
        emit(make(Op::load, found, at, 0, 5, 0, 4));
        emit(make(Op::claim, -1, at, 0, static_cast<i32>(takes ? ClaimKind::acquire : ClaimKind::release)));
        if (takes) {
            emit(make(Op::eq, found, found, constant(0)));
            emit(make(Op::await, -1, found, at, constant(0)));
        }
        emit(make(Op::store, -1, at, constant(takes ? 1 : 0), 5, 0, 4));
        emit(make(Op::atomic_end));
    }
    // Accesses with or without a lock around them.
    void critical() {
        const u32 locks = below(random, 3);
        const u32 first = below(random, 2);
        for (u32 i = 0; i < locks; ++i) lock((first + i) % 2, true);
        for (u32 i = 1 + below(random, 2); i-- > 0;) {
            const i32 at = constant(global(below(random, 2)) + 4 * below(random, 2));
            switch (below(random, 4)) {
                case 0: emit(make(Op::load, reg(), at, 0, 5, 0, 4)); break;
                case 1: emit(make(Op::store, -1, at, constant(below(random, 2)), 5, 0, 4)); break;
                case 2: emit(make(Op::update, -1, at, constant(1), 5, static_cast<i32>(UpdateOp::xor_), 4)); break;
                case 3:
                    emit(make(Op::load, 0, at, 0, 5, 0, 4));
                    emit(make(Op::ult, 0, 0, constant(1 + below(random, 2))));
                    emit(make(Op::branch, -1, 0, 0, 0, static_cast<i32>(code.instructions.size() + 2),
                              code.instructions.size() + 1));
                    emit(make(Op::store, -1, at, constant(1), 5, 0, 4));
                    break;
            }
        }
        for (u32 i = locks; i-- > 0;) lock((first + i) % 2, false);
        if (below(random, 12) == 0) lock(below(random, 2), below(random, 2) == 0);  // what nobody should do
    }

    void function(u32 index, u32 length, bool spawns) {
        code.functions[index] = {static_cast<u32>(code.instructions.size()), registers, 0, false};
        // Registers are undefined until something is moved there.
        for (i32 i = 0; i < registers; ++i) emit(make(Op::move, i, constant(global(static_cast<u32>(i) % 2))));
        for (u32 i = 0; spawns && i < worker_count; ++i) emit(make(Op::spawn, reg(), constant(address_of(0, 1 + 2))));
        const u32 begin = static_cast<u32>(code.instructions.size());
        for (u32 i = 0; i < length; ++i) endless&& below(random, 4) != 0 ? critical() : random_instruction();
        if (endless && !spawns && below(random, 2) == 0) emit(make(Op::jump, -1, 0, 0, 0, 0, begin));
        emit(make(Op::return_, -1, reg(), 1));
    }

    Code assemble() {
        code.functions.resize(3);  // main, the helper, the workers
        code.globals.assign(2, {std::vector<u8>(16), false});
        code.globals.resize(4, {std::vector<u8>(lock_size), false});
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

// The threads that can take a step, making the first of all choices.
inline std::vector<Slot> enabled_threads(Machine& machine) {
    std::vector<Slot> threads;
    if (machine.exited()) return threads;
    for (u64 rest = machine.threads(); rest != 0; rest &= rest - 1) {
        const Slot thread = static_cast<Slot>(std::countr_zero(rest));
        Effect effect;
        machine.announce(thread, {}, effect);
        if (effect.enabled) threads.push_back(thread);
    }
    return threads;
}

}  // namespace mazurka
