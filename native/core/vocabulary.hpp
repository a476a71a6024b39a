// The words that C++ and Python share. Each vocabulary is one table, from which its enum, the words themselves and the
// numbers that Python asks for by their names come.
//
// An identifier that is a keyword of C++, or taken otherwise, has an underscore behind it, which the word has not. A
// word that is no identifier stands beside it, as does what else is to be known of it.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <type_traits>

#include "core/types.hpp"

// clang-format off

// Instructions of the machine. Operands: a, b, c, d are registers (>= 0) or constants (~index, < 0) unless the comment
// says "literal". `bits` is the width of the operands, `size` the bytes of memory that an access touches. Values are kept
// zero-extended.
#define MAZURKA_OPCODES(X)                                                                                             \
    X(move) /* dst = a */                                                                                              \
    X(add) X(sub) X(mul) X(udiv) X(sdiv) X(urem) X(srem) X(and_) X(or_) X(xor_) X(shl) X(lshr) X(ashr)                 \
    X(checked_add) X(checked_sub) X(checked_mul) X(checked_shl) X(checked_lshr) X(checked_ashr)                        \
    X(fadd) X(fsub) X(fmul) X(fdiv) X(frem) X(fpow) X(fatan2) X(fhypot) X(fremainder) X(fnextafter)                    \
    X(eq) X(ne) X(ult) X(ule) X(ugt) X(uge) X(slt) X(sle) X(sgt) X(sge)                                                \
    X(foeq) X(fone) X(folt) X(fole) X(fogt) X(foge) X(ford)                                                            \
    X(fueq) X(fune) X(fult) X(fule) X(fugt) X(fuge) X(funo)                                                            \
    X(trunc) /* dst = a modulo 2^bits */                                                                               \
    X(sext)  /* dst = a, of imm bits, extended to bits */                                                              \
    X(fptosi) X(fptoui) X(sitofp) X(uitofp) X(fpext) X(fptrunc) /* bits: of the result; imm: of the operand */         \
    X(fneg) X(fabs) X(fsqrt) X(ffloor) X(fceil) X(ftrunc) X(fround) X(frint)                                           \
    X(fsin) X(fcos) X(ftan) X(fasin) X(facos) X(fatan) X(fsinh) X(fcosh) X(ftanh) X(fasinh) X(facosh) X(fatanh)        \
    X(fexp) X(fexp2) X(fexpm1) X(flog) X(flog2) X(flog10) X(flog1p) X(fcbrt) X(ferf) X(ferfc) X(ftgamma) X(flgamma)    \
    X(fma) /* dst = a * b + c, rounded once */                                                                         \
    X(ctpop) X(ctlz) X(cttz) X(bswap) X(bitreverse)                                                                    \
    X(defined)              /* dst = a, with 0 for the bits that nobody wrote */                                       \
    X(select)               /* dst = a ? b : c */                                                                      \
    X(offset)               /* dst = a + b * d (literal) + imm */                                                      \
    X(checked_offset)       /* the same, where b must be below c (literal) */                                          \
    X(load)                 /* dst = *a; c: ordering (literal), imm: alignment */                                      \
    X(store)                /* *a = b; c, imm as for load */                                                           \
    X(update)               /* dst = *a, *a = *a op b; d: which op (literal); c, imm as for load */                    \
    X(compare_exchange)     /* dst = *a, if dst == b then *a = operands[d]; operands[d + 1]: register for success;  */ \
                            /* operands[d + 2]: ordering if it fails (literal) */                                      \
    X(stack_alloc)          /* dst = new object of a bytes; c: private (literal) */                                    \
    X(heap_alloc)           /* dst = new object of a bytes; c: zeroed (literal); d: or one used again (literal) */     \
    X(free_)                /* end the object at a */                                                                  \
    X(block_size)           /* dst = size of the object at a */                                                        \
    X(thread_local_address) /* dst = address of thread-local number imm */                                             \
    X(call)                 /* dst = function imm (operands[c .. c + d]) */                                            \
    X(call_pointer)         /* dst = *a (operands[c .. c + d]) */                                                      \
    X(landing)              /* dst = 0; or what a long jump to number imm of its function brings */                    \
    X(long_jump)            /* to landing b of the call whose stack object is at a, which gives c */                   \
    X(spawn)                /* dst = new thread that runs *a (operands[c .. c + d]) */                                 \
    X(self)                                                                                                            \
    X(choose)       /* dst = any of 0 .. a - 1 */                                                                      \
    X(assume)       /* a; c: origin (literal) */                                                                       \
    X(await)        /* a; b: object; c: holder */                                                                      \
    X(claim)        /* a: lock; c: kind (literal) */                                                                   \
    X(atomic_begin) /* c: one access and its guards (literal) */                                                       \
    X(atomic_end)                                                                                                      \
    X(fence)   /* c: ordering (literal) */                                                                             \
    X(relax)   /* what the section has accessed so far does not synchronise */                                         \
    X(output)  /* a */                                                                                                 \
    X(jump)    /* to imm */                                                                                            \
    X(branch)  /* a ? to imm : to d (literal) */                                                                       \
    X(switch_) /* a: operands[c ..]: d pairs of constant, target; else to imm */                                       \
    X(return_) /* a if b (literal) */                                                                                  \
    X(end_thread) /* a if b (literal): the status that `main` returns */                                               \
    X(exit_) /* a */                                                                                                   \
    X(fail)  /* c: kind of fault (literal), told with a and b */                                                       \
    X(unreachable)

// Memory orders. `lifetime`: not an access of the program's own, but the end of an object's life.
#define MAZURKA_ORDERINGS(X) X(plain) X(relaxed) X(acquire) X(release) X(acq_rel) X(seq_cst) X(lifetime)

// Updates that commute with others of the same class, when nobody uses the old value: adding and subtracting are one.
#define MAZURKA_COMMUTING(X) X(no) X(add) X(and_) X(or_) X(xor_) X(max) X(min) X(umax) X(umin)
#define MAZURKA_UPDATES(X)                                                                                             \
    X(exchange, Commuting::no) X(add, Commuting::add) X(sub, Commuting::add) X(and_, Commuting::and_)                  \
    X(or_, Commuting::or_) X(xor_, Commuting::xor_) X(nand, Commuting::no) X(max, Commuting::max)                      \
    X(min, Commuting::min) X(umax, Commuting::umax) X(umin, Commuting::umin)

// Where an assume comes from (see instructions.py).
#define MAZURKA_ORIGINS(X) X(program) X(loop) X(bound)

// What a thread stays at: a resource that it waits for, an assumption of the program's, the guard of a loop, the bound
// on one.
#define MAZURKA_GUARDS(X) X(resource) X(program) X(loop) X(bound)

// Why POP leaves a program to Optimal (see docs/exploration.md).
#define MAZURKA_OBSTACLES(X)                                                                                           \
    X(choice, "a section makes a choice")                                                                              \
    X(exit_, "the process ends while other threads are alive")                                                         \
    X(own_section, "there is an atomic section")                                                                       \
    X(several_objects, "a section touches several objects")                                                            \
    X(several_places, "a section is more than one guarded access")                                                     \
    X(assumption, "a section assumes something")                                                                       \
    X(commuting, "updates commute")                                                                                    \
    X(unknown_value, "a guard depends on a value that is not known")                                                   \
    X(unordered, "a guard depends on events without an order")                                                         \
    X(held_up, "a step is held up elsewhere in another order")                                                         \
    X(varies, "a step does something else in another order")                                                           \
    X(undecided, "a step may be held up in another order")                                                             \
    X(asleep, "all that can be done is done elsewhere")                                                                \
    X(alike, "threads are alike")

// What a section does to a lock (see instructions.py).
#define MAZURKA_CLAIMS(X) X(acquire) X(release) X(keep) X(try_) X(look)

// `invalid`: no such object.
#define MAZURKA_OBJECT_KINDS(X)                                                                                        \
    X(null) X(function) X(global) X(thread) X(thread_local_, "thread-local") X(stack) X(heap) X(invalid)

// Of a thread. `returned`: it is the first one, and the process ends as soon as nobody else can go on.
#define MAZURKA_STATUSES(X) X(absent) X(ready) X(ended) X(returned) X(stopped) X(failed)

// What a thread did, for traces.
#define MAZURKA_OPERATIONS(X)                                                                                          \
    X(load) X(store) X(update) X(compare_exchange, "compare-exchange") X(allocate) X(free_) X(spawn) X(end) X(exit_)   \
    X(choose) X(output) X(section) X(fence) X(fail) X(stop) X(return_)

// The kinds of bugs that faults are; or it is only a limit, and not the program that goes wrong.
#define MAZURKA_BUG_KINDS(X) X(assertion) X(abort) X(memory) X(sync) X(arithmetic) X(exit_) X(limit)

// What can go wrong in an execution, and which kind of bug that is. The report explains each in words.
#define MAZURKA_FAULTS(X)                                                                                              \
    X(assertion, BugKind::assertion) X(abort, BugKind::abort) X(unreachable, BugKind::abort)                           \
    X(await_outside_section, BugKind::abort)                                                                           \
    X(sync, BugKind::sync) X(section_not_begun, BugKind::sync) X(section_not_ended, BugKind::sync)                     \
    X(arithmetic, BugKind::arithmetic) X(division_by_zero, BugKind::arithmetic)                                        \
    X(division_overflow, BugKind::arithmetic) X(signed_overflow, BugKind::arithmetic)                                  \
    X(shift_out_of_range, BugKind::arithmetic)                                                                         \
    X(memory, BugKind::memory) X(null, BugKind::memory) X(wild, BugKind::memory) X(bounds, BugKind::memory)            \
    X(freed, BugKind::memory) X(returned, BugKind::memory) X(misaligned, BugKind::memory)                              \
    X(read_only, BugKind::memory) X(not_data, BugKind::memory) X(double_free, BugKind::memory)                         \
    X(invalid_free, BugKind::memory) X(leaked, BugKind::memory) X(outside_member, BugKind::memory)                     \
    X(undefined_branch, BugKind::memory) X(undefined_address, BugKind::memory) X(undefined_status, BugKind::memory)    \
    X(bad_call, BugKind::memory) X(exit_status, BugKind::exit_)                                                        \
    X(limit, BugKind::limit) X(too_large, BugKind::limit) X(stack_overflow, BugKind::limit)                            \
    X(too_many_threads, BugKind::limit) X(too_many_choices, BugKind::limit)                                            \
    X(too_many_instructions, BugKind::limit) X(too_many_steps, BugKind::limit)

// How an execution ended that should not end so.
#define MAZURKA_ENDINGS(X) X(failure) X(deadlock) X(livelock) X(race)

#define MAZURKA_ALGORITHMS(X)                                                                                          \
    X(exhaustive) /* every interleaving */                                                                             \
    X(optimal)    /* Optimal-DPOR: one execution of each class, with wakeup trees */                                   \
    X(pop)        /* parsimonious optimal DPOR: the same, in space that does not grow with their number */             \
    X(random)     /* random executions, without end */                                                                \
    X(graphs)     /* TruSt: each consistent execution graph of a memory model, once */

// Memory models (see docs/memory-models.md).
#define MAZURKA_MEMORY_MODELS(X) X(sc) X(tso) X(pso) X(ra) X(c11)

// Which executions are one: those with the same graph, or those in which every read reads from the same write.
#define MAZURKA_EQUIVALENCES(X) X(traces) X(reads_from, "reads-from")

// What a data race is taken for.
#define MAZURKA_RACES(X) X(ignore) X(warn) X(error)

#define MAZURKA_REDUCTIONS(X) X(cpc) X(cycle_detection, "cycle-detection") X(unsound) X(none)

#define MAZURKA_STATE_LIMITS(X) X(none, "") X(memory) X(states) X(growth)

#define MAZURKA_VOCABULARIES(V)                                                                                        \
    V(Op, u16, MAZURKA_OPCODES)                                                                                        \
    V(UpdateOp, u8, MAZURKA_UPDATES)                                                                                   \
    V(Ordering, u8, MAZURKA_ORDERINGS)                                                                                 \
    V(Commuting, u8, MAZURKA_COMMUTING)                                                                                \
    V(Origin, u8, MAZURKA_ORIGINS)                                                                                     \
    V(Guard, u8, MAZURKA_GUARDS)                                                                                       \
    V(Obstacle, u8, MAZURKA_OBSTACLES)                                                                                 \
    V(ClaimKind, u8, MAZURKA_CLAIMS)                                                                                   \
    V(ObjectKind, u8, MAZURKA_OBJECT_KINDS)                                                                            \
    V(Status, u8, MAZURKA_STATUSES)                                                                                    \
    V(OperationKind, u8, MAZURKA_OPERATIONS)                                                                           \
    V(BugKind, u8, MAZURKA_BUG_KINDS)                                                                                  \
    V(Fault, u8, MAZURKA_FAULTS)                                                                                       \
    V(Ending, u8, MAZURKA_ENDINGS)                                                                                     \
    V(Algorithm, u8, MAZURKA_ALGORITHMS)                                                                               \
    V(MemoryModel, u8, MAZURKA_MEMORY_MODELS)                                                                          \
    V(Equivalence, u8, MAZURKA_EQUIVALENCES)                                                                           \
    V(Races, u8, MAZURKA_RACES)                                                                                        \
    V(Reduction, u8, MAZURKA_REDUCTIONS)                                                                               \
    V(StateLimit, u8, MAZURKA_STATE_LIMITS)

// clang-format on

namespace mazurka {

#define MAZURKA_ENUMERATOR(id, ...) id,
#define MAZURKA_ENUM(Name, Type, TABLE) enum class Name : Type { TABLE(MAZURKA_ENUMERATOR) };
MAZURKA_VOCABULARIES(MAZURKA_ENUM)

constexpr std::string_view word_for(std::string_view id) {
    return id.ends_with('_') ? id.substr(0, id.size() - 1) : id;
}
template <class Fact>
constexpr std::string_view word_for(std::string_view id, Fact beside) {
    if constexpr (std::is_enum_v<Fact>)
        return word_for(id);
    else
        return beside;
}

// The words of a vocabulary, in the order of their numbers.
template <class Enum>
inline constexpr std::array<std::string_view, 0> words{};
#define MAZURKA_WORD(id, ...) word_for(#id __VA_OPT__(, ) __VA_ARGS__),
#define MAZURKA_WORDS(Name, Type, TABLE) \
    template <>                          \
    inline constexpr auto words<Name> = std::to_array<std::string_view>({TABLE(MAZURKA_WORD)});
MAZURKA_VOCABULARIES(MAZURKA_WORDS)

template <class Enum>
constexpr std::string_view to_word(Enum value) {
    return words<Enum>[static_cast<std::size_t>(value)];
}

template <class Enum>
constexpr std::optional<Enum> from_word(std::string_view word) {
    const auto found = std::ranges::find(words<Enum>, word);
    if (found == words<Enum>.end()) return {};
    return static_cast<Enum>(found - words<Enum>.begin());
}

#define MAZURKA_FACT(id, fact) fact,
constexpr BugKind kind_of(Fault fault) {
    constexpr BugKind kinds[] = {MAZURKA_FAULTS(MAZURKA_FACT)};
    return kinds[static_cast<std::size_t>(fault)];
}
inline constexpr Commuting commuting_classes[] = {MAZURKA_UPDATES(MAZURKA_FACT)};
constexpr Commuting commuting_class(UpdateOp op) { return commuting_classes[static_cast<std::size_t>(op)]; }

// Whether it is not the program that goes wrong: it needs more room or time than there is.
constexpr bool is_limit(Fault fault) { return kind_of(fault) == BugKind::limit; }

}  // namespace mazurka
