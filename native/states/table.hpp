// The states that were met: a hash table without pointers, of 16 bytes an entry.
//
// An entry is a fingerprint of 124 bits, or, if the states themselves are kept, 64 bits of it and where in one long
// array the state lies. Three bits are the search's own. Entries lie in the order of their hashes, but for collisions,
// so that the table can grow by any factor: between a half and three quarters of it are in use, which makes 21 to 32
// bytes a state.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "vm/state.hpp"

namespace mazurka {

class StateTable {
public:
    static constexpr u64 completed = 1;  // the search will leave, or has left, the transaction from here (CPC)
    static constexpr u64 on_stack = 2;
    static constexpr u64 moves_on = 4;  // something can still happen from here (livelocks)

    explicit StateTable(bool exact) : exact_(exact) { clear(); }

    struct Found {
        std::size_t index;
        bool added;
    };
    // Finds a state, or adds it. Indices hold until the table grows.
    Found add(const Fingerprint& fingerprint, std::span<const u64> words) {
        for (std::size_t i = home(fingerprint.low, capacity_);; i = i + 1 == capacity_ ? 0 : i + 1) {
            Entry& entry = entries_[i];
            if (entry.second == 0) {
                entry = {fingerprint.low, exact_ ? (words_.size() + 1) << 3 : upper(fingerprint)};
                if (exact_) {
                    words_.push_back(words.size());
                    words_.insert(words_.end(), words.begin(), words.end());
                }
                ++size_;
                return {i, true};
            }
            if (entry.first == fingerprint.low && same(entry, fingerprint, words)) return {i, false};
        }
    }

    // How deep in the search a state was met, if that is kept.
    void keep_depths() { depths_.assign(capacity_, 0); }
    bool keeps_depths() const { return !depths_.empty(); }
    u32& depth(std::size_t index) { return depths_[index]; }

    u64 flags(std::size_t index) const { return entries_[index].second & own; }
    void set(std::size_t index, u64 flag) { entries_[index].second |= flag; }
    void clear(std::size_t index, u64 flag) { entries_[index].second &= ~flag; }

    std::size_t size() const { return size_; }
    bool full() const { return size_ * 4 >= capacity_ * 3; }
    std::size_t bytes() const { return capacity_ * sizeof(Entry) + words_.capacity() * sizeof(u64); }
    // What has to be allocated, while all that is there is kept, before a state of so many words can be added.
    std::size_t bytes_to_add(std::size_t words) const {
        const bool extends = exact_ && words_.size() + words + 1 > words_.capacity();
        return (full() ? larger() * sizeof(Entry) : 0) + (extends ? 2 * (words_.capacity() + words) * sizeof(u64) : 0);
    }
    // `moved(from, to)` is called for each entry that the search has on its stack, in the order of `from`.
    template <class Moved>
    void grow(Moved moved) {
        const std::size_t capacity = larger();
        Entries entries = allocate(capacity);
        std::vector<u32> depths(depths_.empty() ? 0 : capacity);
        for (std::size_t from = 0; from < capacity_; ++from) {
            const Entry& entry = entries_[from];
            if (entry.second == 0) continue;
            std::size_t i = home(entry.first, capacity);
            while (entries[i].second != 0) i = i + 1 == capacity ? 0 : i + 1;
            entries[i] = entry;
            if (!depths.empty()) depths[i] = depths_[from];
            if ((entry.second & on_stack) != 0) moved(from, i);
        }
        entries_ = std::move(entries);
        depths_ = std::move(depths);
        capacity_ = capacity;
    }
    void clear() {
        capacity_ = 4096;
        entries_ = allocate(capacity_);
        words_.clear();
        depths_.clear();
        size_ = 0;
    }

private:
    static constexpr u64 own = 7;  // the bits that are the search's
    struct Entry {
        u64 first;
        u64 second;  // never 0 in use
    };
    struct Free {
        void operator()(Entry* entries) const { std::free(entries); }
    };
    using Entries = std::unique_ptr<Entry[], Free>;

    // Zeros; what is not in use needs no memory. Large pages, because every look is at another place.
    static Entries allocate(std::size_t capacity) {
        Entries entries(static_cast<Entry*>(std::calloc(capacity, sizeof(Entry))));
        if (entries == nullptr) throw std::bad_alloc();
#ifdef __linux__
        constexpr std::size_t page = 1 << 21;
        const std::size_t begin = (reinterpret_cast<std::size_t>(entries.get()) + page - 1) & ~(page - 1);
        const std::size_t end = (reinterpret_cast<std::size_t>(entries.get()) + capacity * sizeof(Entry)) & ~(page - 1);
        if (begin < end)
            madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // only faster: it may fail
#endif
        return entries;
    }
    static std::size_t home(u64 hash, std::size_t capacity) {
        return static_cast<std::size_t>(static_cast<u128>(hash) * capacity >> 64);
    }
    static u64 upper(const Fingerprint& fingerprint) { return (fingerprint.high | (own + 1)) & ~own; }
    std::size_t larger() const { return capacity_ + capacity_ / 2; }
    bool same(const Entry& entry, const Fingerprint& fingerprint, std::span<const u64> words) const {
        if (!exact_) return (entry.second & ~own) == upper(fingerprint);
        const u64* kept = &words_[(entry.second >> 3) - 1];
        return kept[0] == words.size() && std::memcmp(kept + 1, words.data(), words.size_bytes()) == 0;
    }

    bool exact_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
    Entries entries_;
    std::vector<u64> words_;  // of the states themselves, each after its length
    std::vector<u32> depths_;
};

}  // namespace mazurka
