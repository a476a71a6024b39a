// The steps that can be taken in a state: threads, and the choices that they can make.
#pragma once

#include <bit>
#include <vector>

#include "explore/execution.hpp"
#include "vm/choices.hpp"

namespace mazurka {

inline std::vector<Step> enabled_steps(Machine& machine) {
    std::vector<Step> steps;
    if (machine.exited()) return steps;
    Next next;
    for (u64 rest = machine.threads(); rest != 0; rest &= rest - 1) {
        const Slot thread = static_cast<Slot>(std::countr_zero(rest));
        if (machine.status(thread) != Status::ready) continue;
        std::vector<u32> choices;
        do {
            machine.next(thread, choices, next);
            if (next.enabled) steps.push_back({thread, choices});
        } while (advance(choices, next.ranges));
    }
    return steps;
}

}  // namespace mazurka
