// What went wrong in an execution, and where.
#pragma once

#include <vector>

#include "core/layout.hpp"
#include "core/vocabulary.hpp"

namespace mazurka {

struct Failure {
    Fault fault;
    Slot thread;
    Address address;  // memory faults: what was touched
    u64 size;
    std::vector<u32> frames;  // positions in the code, innermost call first
};

}  // namespace mazurka
