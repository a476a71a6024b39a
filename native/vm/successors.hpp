// Where in the code a thread can go on after an instruction, in the same call.
#pragma once

#include "vm/code.hpp"

namespace mazurka {

template <class Visit>
void each_successor(const Code& code, u32 pc, Visit visit) {
    const Instruction& in = code.instructions[pc];
    switch (in.op) {
        case Op::jump: visit(static_cast<u32>(in.imm)); break;
        case Op::branch:
            visit(static_cast<u32>(in.imm));
            visit(static_cast<u32>(in.d));
            break;
        case Op::switch_:
            visit(static_cast<u32>(in.imm));
            for (i32 i = 0; i < in.d; ++i)
                visit(static_cast<u32>(code.operands[static_cast<std::size_t>(in.c + 2 * i + 1)]));
            break;
        case Op::return_:
        case Op::long_jump:
        case Op::end_thread:
        case Op::exit_:
        case Op::fail:
        case Op::unreachable: break;
        default: visit(pc + 1);
    }
}

}  // namespace mazurka
