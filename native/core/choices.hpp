// Going through everything that a step can choose.
#pragma once

#include <vector>

#include "core/types.hpp"

namespace mazurka {

// The choices to try after `choices`, given the ranges that were met: the last that can still grow does. False: no
// more.
inline bool advance(std::vector<u32>& choices, const std::vector<u32>& ranges) {
    choices.resize(ranges.size(), 0);
    while (!choices.empty()) {
        if (++choices.back() < ranges[choices.size() - 1]) return true;
        choices.pop_back();
    }
    return false;
}

}  // namespace mazurka
