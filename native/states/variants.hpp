// Steps that touch one thing or another, depending on what they read: sections, and compare-exchanges. They can hide
// data races from who looks only at what is about to happen.
//
// Let such a step race with a later, plain access, and let the other thread overwrite, before that access, what the
// step had read. (Not by reading it first, which would order the two.) If the step is put off until they are side by
// side, it reads something else, and may touch something else. But there they stand, side by side, and elsewhere in the
// search the step touched what makes it a race. So this is noted of all such steps, by where they are in the code: what
// they ever touch, and which plain accesses are ever about to happen while they are. If nothing of the former conflicts
// with any of the latter, no such race is missed.
//
// The other way not to be side by side is to see without being synchronised what others have done, as a `trylock` that
// fails does.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/step.hpp"

namespace mazurka {

class Variants {
public:
    // A step was taken.
    void note_step(const Effect& step) {
        if (step.section)
            sees_freely_ |= std::ranges::any_of(
                step.accesses, [](const Access& access) { return access.ordering == Ordering::relaxed; });
        if (!step.varies) return;
        Variant& variant = variants_[step.site];
        for (const Access& access : step.accesses) add(variant.touched, access);
    }

    // While a thread is at this place, before a step that varies, another one is about to make these accesses.
    void note_beside(u64 site, const Accesses& accesses) {
        Variant& variant = variants_[site];
        for (const Access& access : accesses)
            if (access.ordering == Ordering::plain) add(variant.beside, access);
    }

    bool may_miss_races() const {
        return sees_freely_ || std::ranges::any_of(variants_, [](const auto& each) {
                   const auto& [touched, beside] = each.second;
                   if (touched.size() >= most || beside.size() >= most) return !touched.empty() && !beside.empty();
                   return std::ranges::any_of(touched, [&](const Touch& one) {
                       return std::ranges::any_of(beside, [&](const Touch& two) { return conflict(one, two); });
                   });
               });
    }

private:
    using Touch = std::tuple<Address, u64, bool>;  // so many bytes from here on; whether they are written
    struct Variant {
        std::set<Touch> touched;
        std::set<Touch> beside;
    };
    static constexpr std::size_t most = 1000;  // if there are more, it is not known what they are

    static void add(std::set<Touch>& touches, const Access& access) {
        if (access.ordering != Ordering::lifetime && touches.size() < most)
            touches.emplace(access.address, access.size, access.writes);
    }
    static bool conflict(const Touch& one, const Touch& two) {
        const auto& [address, size, writes] = one;
        const auto& [address2, size2, writes2] = two;
        return (writes || writes2) && (address < address2 ? address2 - address < size : address - address2 < size2);
    }

    std::map<u64, Variant> variants_;  // by place in the code
    bool sees_freely_ = false;         // something is seen without synchronisation
};

}  // namespace mazurka
