// What can go wrong in an execution.
#pragma once

#include <string_view>
#include <vector>

#include "vm/memory.hpp"

namespace mazurka {

// name, kind of bug. The report explains each in words.
#define MAZURKA_FAULTS(X)                  \
    X(assertion, "assertion")              \
    X(abort, "abort")                      \
    X(memory, "memory")                    \
    X(sync, "sync")                        \
    X(arithmetic, "arithmetic")            \
    X(null, "memory")                      \
    X(wild, "memory")                      \
    X(bounds, "memory")                    \
    X(freed, "memory")                     \
    X(returned, "memory")                  \
    X(misaligned, "memory")                \
    X(read_only, "memory")                 \
    X(not_data, "memory")                  \
    X(double_free, "memory")               \
    X(invalid_free, "memory")              \
    X(too_large, "memory")                 \
    X(undefined_branch, "memory")          \
    X(undefined_address, "memory")         \
    X(bad_call, "memory")                  \
    X(division_by_zero, "arithmetic")      \
    X(division_overflow, "arithmetic")     \
    X(unreachable, "abort")                \
    X(stack_overflow, "memory")            \
    X(too_many_threads, "steps")           \
    X(too_many_choices, "steps")           \
    X(await_outside_section, "abort")      \
    X(section_not_begun, "sync")           \
    X(section_not_ended, "sync")           \
    X(too_many_instructions, "steps")

enum class Fault : u8 {
#define X(name, kind) name,
    MAZURKA_FAULTS(X)
#undef X
};

std::string_view fault_name(Fault fault);
std::string_view fault_kind(Fault fault);

struct Failure {
    Fault fault;
    Slot thread;
    Address address;          // memory faults: what was touched
    u64 size;
    std::vector<u32> frames;  // positions in the code, innermost call first
};

}  // namespace mazurka
