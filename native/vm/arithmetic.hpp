// Arithmetic on values of 1 to 64 bits kept zero-extended, and on their undefined bits.
#pragma once

#include <bit>
#include <cmath>
#include <type_traits>

#include "core/vocabulary.hpp"

namespace mazurka {

constexpr u64 mask(u32 bits) { return ~u64{0} >> (64 - bits); }
constexpr i64 as_signed(u64 value, u32 bits) { return static_cast<i64>(value << (64 - bits)) >> (64 - bits); }

inline double as_double(u64 value, u32 bits) {
    return bits == 32 ? static_cast<double>(std::bit_cast<float>(static_cast<u32>(value)))
                      : std::bit_cast<double>(value);
}
inline u64 from_double(double value, u32 bits) {
    return bits == 32 ? std::bit_cast<u32>(static_cast<float>(value)) : std::bit_cast<u64>(value);
}

// A double as an integer; what does not fit becomes the smallest integer, as on x86.
inline u64 to_integer(double value, bool is_signed) {
    constexpr double two63 = 9223372036854775808.0;
    if (is_signed) return value >= -two63 && value < two63 ? static_cast<u64>(static_cast<i64>(value)) : u64{1} << 63;
    if (value > -1.0 && value < two63) return static_cast<u64>(static_cast<i64>(value));
    return value >= two63 && value < 2 * two63 ? static_cast<u64>(value) : u64{1} << 63;
}

// Single precision is computed in single precision: rounding twice may differ.
template <class Function>
u64 in_float(u64 a, u64 b, u32 bits, Function function) {
    if (bits == 32) {
        const float x = std::bit_cast<float>(static_cast<u32>(a)), y = std::bit_cast<float>(static_cast<u32>(b));
        return std::bit_cast<u32>(static_cast<float>(function(x, y)));
    }
    return std::bit_cast<u64>(static_cast<double>(function(std::bit_cast<double>(a), std::bit_cast<double>(b))));
}

// Undefined bits of a result, given those of its operands. A carry spoils everything to the left.
constexpr u64 spoil_left(u64 undefined, u32 bits) { return (undefined | (~undefined + 1)) & mask(bits); }
constexpr u64 spoil_all(u64 undefined, u32 bits) { return undefined != 0 ? mask(bits) : 0; }
constexpr u64 undefined_and(u64 a, u64 ua, u64 b, u64 ub) { return (ua | ub) & (a | ua) & (b | ub); }
constexpr u64 undefined_or(u64 a, u64 ua, u64 b, u64 ub) { return (ua | ub) & (~a | ua) & (~b | ub); }
// Equality is known as soon as two defined bits differ.
constexpr u64 undefined_equal(u64 a, u64 ua, u64 b, u64 ub) {
    const u64 unknown = ua | ub;
    return unknown != 0 && ((a ^ b) & ~unknown) == 0 ? 1 : 0;
}

constexpr u64 byte_swap(u64 value, u32 bits) {
    u64 result = 0;
    for (u32 i = 0; i < bits; i += 8) result = result << 8 | (value >> i & 0xff);
    return result;
}
constexpr u64 bit_reverse(u64 value, u32 bits) {
    u64 result = 0;
    for (u32 i = 0; i < bits; ++i) result = result << 1 | (value >> i & 1);
    return result;
}

constexpr u64 updated(UpdateOp op, u64 old, u64 value, u32 bits) {
    switch (op) {
        case UpdateOp::exchange: return value;
        case UpdateOp::add: return (old + value) & mask(bits);
        case UpdateOp::sub: return (old - value) & mask(bits);
        case UpdateOp::and_: return old & value;
        case UpdateOp::or_: return old | value;
        case UpdateOp::xor_: return old ^ value;
        case UpdateOp::nand: return ~(old & value) & mask(bits);
        case UpdateOp::max: return as_signed(old, bits) >= as_signed(value, bits) ? old : value;
        case UpdateOp::min: return as_signed(old, bits) <= as_signed(value, bits) ? old : value;
        case UpdateOp::umax: return old >= value ? old : value;
        case UpdateOp::umin: return old <= value ? old : value;
    }
    return 0;
}

constexpr u64 undefined_updated(UpdateOp op, u64 old, u64 undefined_old, u64 value, u64 undefined_value, u32 bits) {
    const u64 either = undefined_old | undefined_value;
    switch (op) {
        case UpdateOp::exchange: return undefined_value;
        case UpdateOp::add:
        case UpdateOp::sub: return spoil_left(either, bits);
        case UpdateOp::and_:
        case UpdateOp::nand: return undefined_and(old, undefined_old, value, undefined_value);
        case UpdateOp::or_: return undefined_or(old, undefined_old, value, undefined_value);
        case UpdateOp::xor_: return either;
        default: return spoil_all(either, bits);
    }
}

}  // namespace mazurka
