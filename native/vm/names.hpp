// What threads are called: by the path of their creation, and by numbers, as their creations are met.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <span>
#include <stdexcept>
#include <vector>

#include "core/layout.hpp"
#include "core/types.hpp"

namespace mazurka {

// A thread's path of creation: which thread created it, and as its how-manieth.
struct ThreadName {
    Slot parent;
    u32 child;
    bool operator==(const ThreadName&) const = default;
};

// The machines of a search share one, from several threads of it: a number means the same thread to all of them. Only
// grows.
class ThreadNames {
public:
    // `names[i]` becomes thread i + 2, and a parent comes before its children.
    explicit ThreadNames(std::span<const ThreadName> names) {
        if (names.size() > max_slots - 2) throw std::invalid_argument("too many threads");
        std::ranges::copy(names, names_.begin() + 2);
        size_ = static_cast<Slot>(names.size() + 2);
    }

    ThreadName operator[](Slot slot) const { return names_[slot]; }
    Slot size() const { return size_.load(std::memory_order_acquire); }  // one past the last

    // The number of a thread; 0: there is none left.
    Slot find(ThreadName name) {
        if (const Slot known = find_below(size(), name); known != 0) return known;
        const std::scoped_lock lock(adding_);
        const Slot end = size();
        const Slot added = find_below(end, name);
        if (added != 0 || end == max_slots) return added;
        names_[end] = name;
        size_.store(static_cast<Slot>(end + 1), std::memory_order_release);
        return end;
    }

    // An order that does not depend on who was met first: by generations, and in the order of creation.
    bool precedes(Slot one, Slot other) const { return one == 0 || other == 0 ? one < other : path(one) < path(other); }

private:
    Slot find_below(Slot end, ThreadName name) const {
        for (Slot slot = 2; slot < end; ++slot)
            if (names_[slot] == name) return slot;
        return 0;
    }
    std::vector<u32> path(Slot slot) const {  // its length comes first
        std::vector<u32> reversed;
        for (; slot > 1; slot = names_[slot].parent) reversed.push_back(names_[slot].child);
        reversed.push_back(static_cast<u32>(reversed.size()));
        std::ranges::reverse(reversed);
        return reversed;
    }

    std::array<ThreadName, max_slots> names_{};
    std::atomic<Slot> size_ = 2;
    std::mutex adding_;
};

}  // namespace mazurka
