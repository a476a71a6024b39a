// Threads that are alike: what is needed of them beside the order that `Execution` gives to their events.
#pragma once

#include <bit>
#include <limits>
#include <numeric>

#include "explore/subject.hpp"

namespace mazurka {

// One of `count` executions of a group of threads stands for so many, if each thread but the first says whether all
// that it has done is what the one before it has done: then the two can be exchanged, and it is the same execution.
class Weight {
public:
    void add(bool same_as_before) {
        ++members_;
        same_ = same_as_before ? same_ + 1 : 1;
        // The partial products are numbers of orders, too.
        const u64 divisor = std::gcd(members_, same_);
        const u64 rest = same_ / divisor;
        u64 product = 0;
        over_ |= __builtin_mul_overflow(value_ / rest, members_ / divisor, &product);
        value_ = product;
    }
    void begin_group() { members_ = same_ = 1; }
    // The largest number there is, if that is too small.
    u64 value() const { return over_ ? std::numeric_limits<u64>::max() : value_; }

private:
    u64 value_ = 1;
    u64 members_ = 1;
    u64 same_ = 1;
    bool over_ = false;
};

// The threads of the group of one of them.
template <Grouping S>
u64 group_of(const S& subject, Slot thread) {
    Slot first = thread;
    while (subject.alike(first) != 0) first = subject.alike(first);
    u64 found = u64{1} << first;
    for (u64 rest = subject.grouped() & subject.threads(); rest != 0; rest &= rest - 1) {
        const auto other = static_cast<Slot>(std::countr_zero(rest));
        // Whoever is created later has a larger number, or takes the place of a thread that is gone.
        Slot start = other;
        while (subject.alike(start) != 0) start = subject.alike(start);
        if (start == first) found |= u64{1} << other;
    }
    return found;
}

// How many executions one stands for. `is_same(thread)`: it has done all that the thread before it in its group has
// done, and no more.
template <Grouping S, class Same>
u64 weight_of(const S& subject, Same is_same) {
    Weight weight;
    const u64 grouped = subject.grouped() & subject.threads();
    for (u64 heads = grouped; heads != 0; heads &= heads - 1) {
        const auto head = static_cast<Slot>(std::countr_zero(heads));
        if (subject.alike(head) != 0) continue;
        weight.begin_group();
        for (Slot last = head; last != 0;) {
            Slot next = 0;
            for (u64 rest = grouped; rest != 0 && next == 0; rest &= rest - 1) {
                const auto other = static_cast<Slot>(std::countr_zero(rest));
                if (subject.alike(other) == last) next = other;
            }
            if (next != 0) weight.add(is_same(next));
            last = next;
        }
    }
    return weight.value();
}

}  // namespace mazurka
