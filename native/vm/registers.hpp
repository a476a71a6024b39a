// The registers of the frame that a thread is in, and the instructions that touch nothing else.
//
// `Shadow`: undefined bits are followed. `Pointers`: it is known which registers are pointers to blocks: the address of
// a new block is one, and what is copied or moved within its block stays one. Whoever makes anything else of it than
// following it or comparing it for equality can tell blocks apart by their addresses, so that these matter.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "core/layout.hpp"
#include "vm/arithmetic.hpp"
#include "vm/code.hpp"
#include "vm/inlined.hpp"

namespace mazurka {

template <bool Shadow, bool Pointers>
class Registers {
public:
    Registers(const Code& code, bool& addresses_matter)
        : constants_(code.constants.data()),
          last_fixed_block_(code.thread_locals.size()),
          addresses_matter_(addresses_matter) {}

    INLINED void show(u64* values, u64* undefined, u8* pointers) {
        values_ = values;
        undefined_ = undefined;
        if constexpr (Pointers) pointers_ = pointers;
    }

    INLINED u64 value(i32 operand) const { return operand >= 0 ? values_[operand] : constants_[~operand].value; }
    INLINED u64 undefined(i32 operand) const {
        if constexpr (!Shadow) return 0;
        return operand >= 0 ? undefined_[operand] : constants_[~operand].undefined;
    }
    INLINED bool pointer(i32 operand) const {
        if constexpr (!Pointers) return false;
        return operand >= 0 && pointers_[operand] != 0;
    }
    INLINED void set(i32 dst, u64 result, u64 unknown, bool is_pointer = false) {
        if (dst < 0) return;
        values_[dst] = result;
        if constexpr (Shadow) undefined_[dst] = unknown;
        if constexpr (Pointers) pointers_[dst] = is_pointer;
    }

    // ------------------------------------------------------------------------------------ pointers as numbers

    INLINED void look_at(auto... operands) {
        if constexpr (Pointers)
            if ((pointer(operands) || ...)) addresses_matter_ = true;
    }
    // A number that could be the address of a block, but was made up.
    INLINED bool guessed(u64 address) const {
        const u64 id = object_of(address);
        return owner_of(id) != 0 && number_of(id) > last_fixed_block_;
    }
    // The lowest bits of an address say where in its block it points, which is the same whatever the block is called.
    // Whether such an operation with a number changes only those.
    static constexpr u64 low = (u64{1} << offset_bits) - 1;
    static INLINED bool changes_low_bits(bool is_and, u64 number) {
        return is_and ? (number | low) == ~u64{0} : number <= low;
    }

    // -------------------------------------------------------------------------------------------- computing

    INLINED void move(const Instruction& in) { set(in.dst, value(in.a), undefined(in.a), pointer(in.a)); }
    INLINED void define(const Instruction& in) {
        set(in.dst, value(in.a) & ~undefined(in.a), 0, pointer(in.a) && undefined(in.a) == 0);
    }
    INLINED void add_up(const Instruction& in, auto function) {
        const u64 a = value(in.a), b = value(in.b), unknown = undefined(in.a) | undefined(in.b);
        const u64 result = function(a, b) & mask(in.bits);
        set(in.dst, result, spoil_left(unknown, in.bits), moved_pointer(in, a, b, result));
    }
    // Whether the result of an operation, which `function` says of 64 bits, does not fit as a signed number. Of what
    // nobody wrote, nothing is known.
    INLINED bool overflows(const Instruction& in, auto function) const {
        if ((undefined(in.a) | undefined(in.b)) != 0) return false;
        i64 result = 0;
        if (function(as_signed(value(in.a), in.bits), as_signed(value(in.b), in.bits), &result)) return true;
        return result != as_signed(static_cast<u64>(result) & mask(in.bits), in.bits);
    }
    INLINED std::optional<Fault> divide(const Instruction& in) {
        const u64 a = value(in.a), b = value(in.b);
        if (pointer(in.b) || in.op != Op::urem || !std::has_single_bit(b) || b > low + 1) look_at(in.a, in.b);
        if (b == 0) return Fault::division_by_zero;
        const i64 x = as_signed(a, in.bits), y = as_signed(b, in.bits);
        u64 result = 0;
        if (in.op == Op::udiv)
            result = a / b;
        else if (in.op == Op::urem)
            result = a % b;
        else if (y == -1 && a == u64{1} << (in.bits - 1))
            return Fault::division_overflow;
        else
            result = static_cast<u64>(in.op == Op::sdiv ? x / y : x % y) & mask(in.bits);
        set(in.dst, result, spoil_all(undefined(in.a) | undefined(in.b), in.bits));
        return std::nullopt;
    }
    INLINED void combine_bits(const Instruction& in, auto function, auto unknown) {
        const u64 a = value(in.a), b = value(in.b), result = function(a, b);
        set(in.dst, result, unknown(a, undefined(in.a), b, undefined(in.b)), marked_pointer(in, a, b, result));
    }
    INLINED void shift(const Instruction& in) {
        const u64 a = value(in.a), by = std::min<u64>(value(in.b), in.bits);
        look_at(in.a, in.b);
        const auto shifted = [&](u64 x) -> u64 {
            if (in.op == Op::shl || in.op == Op::checked_shl) return by == 64 ? 0 : (x << by) & mask(in.bits);
            if (in.op == Op::lshr || in.op == Op::checked_lshr) return by == 64 ? 0 : x >> by;
            return static_cast<u64>(as_signed(x, in.bits) >> std::min<u64>(by, 63)) & mask(in.bits);
        };
        set(in.dst, shifted(a), undefined(in.b) != 0 ? mask(in.bits) : shifted(undefined(in.a)));
    }
    INLINED void combine_floats(const Instruction& in, auto function) {
        look_at(in.a, in.b);
        set(in.dst, in_float(value(in.a), value(in.b), in.bits, function),
            spoil_all(undefined(in.a) | undefined(in.b), in.bits));
    }
    INLINED void equal(const Instruction& in, bool wanted) {
        const u64 a = value(in.a), b = value(in.b);
        if constexpr (Pointers)
            if (pointer(in.a) != pointer(in.b) && guessed(pointer(in.a) ? b : a)) addresses_matter_ = true;
        set(in.dst, (a == b) == wanted ? 1 : 0, undefined_equal(a, undefined(in.a), b, undefined(in.b)));
    }
    INLINED void compare(const Instruction& in, bool result) {
        if (pointer(in.a) != pointer(in.b) || (pointer(in.a) && object_of(value(in.a)) != object_of(value(in.b))))
            look_at(in.a, in.b);
        set(in.dst, result ? 1 : 0, (undefined(in.a) | undefined(in.b)) != 0 ? 1 : 0);
    }
    INLINED void compare_unsigned(const Instruction& in, auto function) {
        compare(in, function(value(in.a), value(in.b)));
    }
    INLINED void compare_signed(const Instruction& in, auto function) {
        compare(in, function(as_signed(value(in.a), in.bits), as_signed(value(in.b), in.bits)));
    }
    // `unordered` is the result where an operand is not a number.
    INLINED void compare_floats(const Instruction& in, bool unordered, auto function) {
        const double x = as_double(value(in.a), in.bits), y = as_double(value(in.b), in.bits);
        compare(in, std::isnan(x) || std::isnan(y) ? unordered : function(x, y));
    }
    INLINED void truncate(const Instruction& in) {
        look_at(in.a);
        set(in.dst, value(in.a) & mask(in.bits), undefined(in.a) & mask(in.bits));
    }
    INLINED void extend_sign(const Instruction& in) {
        look_at(in.a);
        const u32 from = static_cast<u32>(in.imm);
        const auto extend = [&](u64 x) { return static_cast<u64>(as_signed(x, from)) & mask(in.bits); };
        set(in.dst, extend(value(in.a)), extend(undefined(in.a)));
    }
    INLINED void float_to_integer(const Instruction& in) {
        look_at(in.a);
        const double x = as_double(value(in.a), static_cast<u32>(in.imm));
        set(in.dst, to_integer(x, in.op == Op::fptosi) & mask(in.bits), spoil_all(undefined(in.a), in.bits));
    }
    INLINED void integer_to_float(const Instruction& in) {
        const u64 a = value(in.a);
        look_at(in.a);
        const i64 x = as_signed(a, static_cast<u32>(in.imm));
        u64 result = 0;
        if (in.bits == 32)
            result = std::bit_cast<u32>(in.op == Op::sitofp ? static_cast<float>(x) : static_cast<float>(a));
        else
            result = std::bit_cast<u64>(in.op == Op::sitofp ? static_cast<double>(x) : static_cast<double>(a));
        set(in.dst, result, spoil_all(undefined(in.a), in.bits));
    }
    INLINED void float_to_float(const Instruction& in) {
        look_at(in.a);
        const double x = as_double(value(in.a), static_cast<u32>(in.imm));
        set(in.dst, from_double(x, in.bits), spoil_all(undefined(in.a), in.bits));
    }
    INLINED void negate_float(const Instruction& in) {
        look_at(in.a);
        set(in.dst, value(in.a) ^ u64{1} << (in.bits - 1), undefined(in.a));
    }
    INLINED void map_float(const Instruction& in, auto function) {
        look_at(in.a);
        set(in.dst, in_float(value(in.a), 0, in.bits, [&](auto x, auto) { return function(x); }),
            spoil_all(undefined(in.a), in.bits));
    }
    INLINED void multiply_add(const Instruction& in) {
        look_at(in.a, in.b, in.c);
        const u64 addend = value(in.c);
        const u64 result = in_float(value(in.a), value(in.b), in.bits, [&]<class T>(T x, T y) {
            if constexpr (sizeof(T) == 4)
                return std::fma(x, y, std::bit_cast<float>(static_cast<u32>(addend)));
            else
                return std::fma(x, y, std::bit_cast<double>(addend));
        });
        set(in.dst, result, spoil_all(undefined(in.a) | undefined(in.b) | undefined(in.c), in.bits));
    }
    INLINED void count_bits(const Instruction& in, auto function) {
        look_at(in.a);
        set(in.dst, static_cast<u64>(function(value(in.a))), spoil_all(undefined(in.a), in.bits));
    }
    INLINED void permute_bits(const Instruction& in, auto function) {
        look_at(in.a);
        set(in.dst, function(value(in.a), in.bits), function(undefined(in.a), in.bits));
    }
    INLINED void select(const Instruction& in) {
        const i32 chosen = value(in.a) != 0 ? in.b : in.c;
        set(in.dst, value(chosen), undefined(in.a) != 0 ? mask(in.bits) : undefined(chosen), pointer(chosen));
    }
    INLINED void offset(const Instruction& in) {
        const u64 base = value(in.a);
        u64 result = base + value(in.b) * static_cast<u64>(i64{in.d}) + in.imm;
        // A pointer never becomes one to another object, however far it strays.
        if (object_of(result) != object_of(base)) [[unlikely]] {
            result |= u64{1} << 63;
            look_at(in.a);
        }
        look_at(in.b);
        set(in.dst, result, spoil_left(undefined(in.a) | undefined(in.b), 64),
            pointer(in.a) && object_of(result) == object_of(base));
    }

private:
    // Whether the result of a bitwise operation is a pointer: one that was marked or rounded. Looking at its lowest
    // bits gives a number.
    INLINED bool marked_pointer(const Instruction& in, u64 a, u64 b, u64 result) {
        if (!pointer(in.a) && !pointer(in.b)) return false;
        if (pointer(in.a) != pointer(in.b)) {
            const u64 number = pointer(in.a) ? b : a;
            if (in.op == Op::and_ && number <= low) return false;
            if (changes_low_bits(in.op == Op::and_, number) && object_of(result) == object_of(pointer(in.a) ? a : b))
                return true;
        }
        addresses_matter_ = true;
        return false;
    }
    // Whether the result of arithmetic is a pointer into the same block as one of the operands; how far two lie apart
    // in one is a number.
    INLINED bool moved_pointer(const Instruction& in, u64 a, u64 b, u64 result) {
        if (!pointer(in.a) && !pointer(in.b)) return false;
        const u64 block = object_of(pointer(in.a) ? a : b);
        const bool adds = in.op == Op::add || in.op == Op::checked_add;
        const bool subtracts = in.op == Op::sub || in.op == Op::checked_sub;
        if (pointer(in.a) && pointer(in.b)) {
            if (subtracts && object_of(b) == block) return false;
        } else if ((adds || (subtracts && pointer(in.a))) && object_of(result) == block) {
            return true;
        }
        addresses_matter_ = true;
        return false;
    }

    const Constant* constants_;
    u64 last_fixed_block_;  // every thread has them from the start
    bool& addresses_matter_;
    u64* values_ = nullptr;
    u64* undefined_ = nullptr;
    u8* pointers_ = nullptr;
};

}  // namespace mazurka
