// A lowered program: flat arrays that the machine runs through. Made by mazurka.transforms.lowering.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace mazurka {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

// The one table of instructions. The lowering reads the names from here.
//
// Operands: a, b, c, d are registers (>= 0) or constants (~index, < 0) unless the comment says "literal". `bits` is the
// width of the operands, `size` the bytes of memory that an access touches. Values are kept zero-extended.
#define MAZURKA_OPCODES(X)                                                                                       \
    X(move) /* dst = a */                                                                                        \
    X(add) X(sub) X(mul) X(udiv) X(sdiv) X(urem) X(srem) X(and_) X(or_) X(xor_) X(shl) X(lshr) X(ashr)           \
    X(fadd) X(fsub) X(fmul) X(fdiv) X(frem)                                                                      \
    X(eq) X(ne) X(ult) X(ule) X(ugt) X(uge) X(slt) X(sle) X(sgt) X(sge)                                          \
    X(foeq) X(fone) X(folt) X(fole) X(fogt) X(foge) X(ford) X(fueq) X(fune) X(fult) X(fule) X(fugt) X(fuge)      \
    X(funo)                                                                                                      \
    X(trunc)  /* dst = a modulo 2^bits */                                                                        \
    X(sext)   /* dst = a, of imm bits, extended to bits */                                                       \
    X(fptosi) X(fptoui) X(sitofp) X(uitofp) X(fpext) X(fptrunc) /* bits: of the result; imm: of the operand */   \
    X(fneg) X(fabs) X(fsqrt) X(ffloor) X(fceil) X(ftrunc) X(fround)                                              \
    X(ctpop) X(ctlz) X(cttz) X(bswap) X(bitreverse)                                                              \
    X(select)           /* dst = a ? b : c */                                                                    \
    X(offset)           /* dst = a + b * d (literal) + imm */                                                    \
    X(load)             /* dst = *a; c: ordering (literal), imm: alignment */                                    \
    X(store)            /* *a = b; c, imm as for load */                                                         \
    X(update)           /* dst = *a, *a = *a op b; d: which op (literal); c, imm as for load */                  \
    X(compare_exchange) /* dst = *a, if dst == b then *a = operands[d]; operands[d + 1]: register for success */ \
    X(stack_alloc)      /* dst = new object of a bytes; c: private (literal) */                                  \
    X(heap_alloc)       /* dst = new object of a bytes; c: zeroed (literal) */                                   \
    X(free_)            /* end the object at a */                                                                \
    X(block_size)       /* dst = size of the object at a */                                                      \
    X(thread_local_address) /* dst = address of thread-local number imm */                                       \
    X(call)             /* dst = function imm (operands[c .. c + d]) */                                          \
    X(call_pointer)     /* dst = *a (operands[c .. c + d]) */                                                    \
    X(spawn)            /* dst = new thread that runs *a (operands[c .. c + d]) */                               \
    X(self)                                                                                                      \
    X(choose)           /* dst = any of 0 .. a - 1 */                                                            \
    X(assume)           /* a; c: origin (literal) */                                                             \
    X(await)            /* a; b: object; c: holder */                                                            \
    X(claim)            /* a: lock; c: kind (literal) */                                                         \
    X(atomic_begin)     /* c: one access and its guards (literal) */                                             \
    X(atomic_end)                                                                                                \
    X(output)           /* a */                                                                                  \
    X(jump)             /* to imm */                                                                             \
    X(branch)           /* a ? to imm : to d (literal) */                                                        \
    X(switch_)          /* a: operands[c ..]: d pairs of constant, target; else to imm */                        \
    X(return_)          /* a if b (literal) */                                                                   \
    X(end_thread)                                                                                                \
    X(exit_)            /* a */                                                                                  \
    X(fail)             /* c: kind of fault (literal) */                                                         \
    X(unreachable)

enum class Op : u16 {
#define X(name) name,
    MAZURKA_OPCODES(X)
#undef X
};

std::span<const std::string_view> opcode_names();

// Where an assume comes from (see instructions.py).
enum class Origin : u8 { program, loop, bound };

// What a section does to a lock (see instructions.py).
enum class ClaimKind : u8 { acquire, release, keep, try_, look };

enum class UpdateOp : u8 { exchange, add, sub, and_, or_, xor_, nand, max, min, umax, umin };

struct Instruction {
    Op op;
    u8 bits;
    u8 size;
    i32 dst;  // a register, or -1
    i32 a, b, c, d;
    u64 imm;
};
static_assert(sizeof(Instruction) == 32);

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
    u32 thread_block_size = 0;
};

}  // namespace mazurka
