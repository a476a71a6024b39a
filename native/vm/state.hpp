// A state of the machine as a sequence of words: equal sequences, equal futures.
#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "vm/memory.hpp"

namespace mazurka {

__extension__ typedef unsigned __int128 u128;

struct Fingerprint {
    u64 low = 0;
    u64 high = 0;
    bool operator==(const Fingerprint&) const = default;
};

// Two independent chains of multiplications to 128 bits, folded.
inline Fingerprint fingerprint(std::span<const u64> words) {
    const auto fold = [](u64 a, u64 b) {
        const auto product = static_cast<u128>(a) * b;
        return static_cast<u64>(product) ^ static_cast<u64>(product >> 64);
    };
    u64 x = 0x9e3779b97f4a7c15, y = 0xd1b54a32d192ed03;
    std::size_t i = 0;
    for (; i + 1 < words.size(); i += 2) {
        const u64 one = words[i], two = words[i + 1];
        x = fold(x ^ one, two ^ 0xa0761d6478bd642f) + y;
        y = fold(y ^ two, one ^ 0xe7037ed1a0b428db) ^ one;
    }
    if (i < words.size()) {
        x = fold(x ^ words[i], 0x8ebc6af09c88c6e3) + y;
        y = fold(y ^ words[i], 0x589965cc75374cc3);
    }
    const u64 size = words.size();
    return {fold(x ^ size, 0x1d8e4e27c47d124f ^ y), fold(y ^ size, 0xeb44accab455d165 ^ x)};
}

// Sums of fingerprints do not depend on the order, and can be kept up to date.
inline Fingerprint operator+(const Fingerprint& x, const Fingerprint& y) { return {x.low + y.low, x.high + y.high}; }
inline Fingerprint operator-(const Fingerprint& x, const Fingerprint& y) { return {x.low - y.low, x.high - y.high}; }

// Filled by `Machine::canonical`, again and again.
class StateWords {
public:
    std::span<const u64> words() const { return {buffer_.data(), size_}; }
    void push(u64 word) {
        if (size_ == buffer_.size()) buffer_.resize(2 * size_);
        buffer_[size_++] = word;
    }
    // With `summarise`, sums of fingerprints stand for memory that is always there and for threads, as far as they do
    // not depend on what blocks are called. Those of threads are kept for as long as the caller does not reset them,
    // who knows which have moved.
    bool summarise = false;
    std::array<Fingerprint, max_slots> threads{};

private:
    friend class Machine;
    std::vector<u64> buffer_ = std::vector<u64>(256);
    std::size_t size_ = 0;
    // Blocks that were met, in the order in which they were met: that is what they are called.
    std::vector<std::pair<Slot, u64>> blocks;
    std::array<std::vector<u32>, max_slots> names;  // by owner and number; 0: not met yet
    std::vector<u64> pointers;                      // which words stand for addresses of blocks
    std::vector<u64> undefined;                     // which words have bits that nobody wrote, and which bits
};

}  // namespace mazurka
