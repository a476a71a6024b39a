// A lowered program: flat arrays that the machine runs through. Made by mazurka.machine.lowering.
#pragma once

#include <vector>

#include "core/vocabulary.hpp"

namespace mazurka {

struct Instruction {
    Op op;
    u8 bits;
    u8 size;
    i32 dst;  // a register, or -1
    i32 a, b, c, d;
    u64 imm;
};
static_assert(sizeof(Instruction) == 32);

// What a thread stays at that does not get past this instruction.
inline Guard guard_at(const Instruction& at) {
    if (at.op == Op::await) return Guard::resource;
    if (at.op != Op::assume || static_cast<Origin>(at.c) == Origin::program) return Guard::program;
    return static_cast<Origin>(at.c) == Origin::loop ? Guard::loop : Guard::bound;
}

struct Constant {
    u64 value;
    u64 undefined;  // the bits that nobody ever wrote
};

struct FunctionCode {
    u32 entry;       // position of the first instruction
    u32 registers;   // size of a frame
    u32 parameters;  // they arrive in the first registers
    bool library;
};

struct GlobalData {
    std::vector<u8> bytes;
    bool constant;
};

struct ThreadLocalData {
    std::vector<u8> bytes;
    bool is_private;
};

struct Code {
    std::vector<Instruction> instructions;
    std::vector<Constant> constants;
    std::vector<i32> operands;
    std::vector<FunctionCode> functions;
    std::vector<GlobalData> globals;
    std::vector<ThreadLocalData> thread_locals;
    u32 entry = 0;  // the function that the first thread runs
};

}  // namespace mazurka
