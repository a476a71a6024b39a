// What threads do to each other, and when it matters: the one dependence function.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "core/layout.hpp"
#include "core/vocabulary.hpp"

namespace mazurka {

// What an access means for the life of the object that it is about: nothing, or it is its end, or its beginning anew.
enum class Life : u8 { goes_on, ends, begins };

struct Access {
    Address address;
    u64 size;
    u64 before;  // what a write overwrites, if that is `known`: at most 8 bytes that were written before
    bool reads;
    bool writes;
    Commuting commuting;
    Ordering ordering;
    bool known = false;
    bool conditional = false;              // a compare-exchange: `writes` says whether it did, ...
    Ordering otherwise = Ordering::plain;  // ... and this is its order if it had gone the other way
    Life life = Life::goes_on;
};

inline constexpr u64 everything = std::numeric_limits<u64>::max();

inline bool overlap(const Access& x, const Access& y) {
    return x.address < y.address ? y.address - x.address < x.size : x.address - y.address < y.size;
}

inline bool conflict(const Access& x, const Access& y, bool commute) {
    if (!overlap(x, y) || !(x.writes || y.writes)) return false;
    const bool both_commute = commute && x.commuting != Commuting::no && x.commuting == y.commuting &&
                              x.address == y.address && x.size == y.size;
    return !both_commute;
}

// Whether two accesses are in a data race if nothing orders them.
inline bool is_data_race(const Access& x, const Access& y) {
    return (x.ordering == Ordering::plain || y.ordering == Ordering::plain) && conflict(x, y, false);
}

using Accesses = std::vector<Access>;

// Whether the order of two events of different threads matters.
inline bool dependent(std::span<const Access> x, std::span<const Access> y, bool commute) {
    for (const Access& one : x)
        for (const Access& other : y)
            if (conflict(one, other, commute)) return true;
    return false;
}

}  // namespace mazurka
