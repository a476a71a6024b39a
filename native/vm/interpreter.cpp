// The interpreter: runs a thread until its next event. Instructions are functions here, by concern; all of them are
// part of one loop, in which the position and the registers of the thread are local variables.
#include <algorithm>
#include <functional>
#include <utility>

#include "vm/machine.hpp"
#include "vm/registers.hpp"

#pragma GCC diagnostic error "-Wswitch-enum"

namespace mazurka {

template <bool Shadow, bool Pointers>
class Machine::Interpreter {
public:
    INLINED Interpreter(Machine& machine, Slot slot, bool take)
        : m_(machine),
          thread_(machine.threads_[slot]),
          slot_(slot),
          registers_(machine.code_, machine.addresses_matter_),
          take_(take),
          probing_(machine.probing_ && take),
          budget_(machine.options_.pause_after != 0 ? machine.options_.pause_after
                                                    : machine.options_.instruction_limit),
          spare_(machine.options_.instruction_limit - std::min(budget_, machine.options_.instruction_limit)) {}

    INLINED Stop run() {
        const Instruction* const code = m_.code_.instructions.data();
        enter();
        for (;;) {
            if (taken_ && probing_ && thread_.state.depth == 0) return leave(Stop::event);
            if (budget_ == 0) [[unlikely]] {
                if (m_.options_.pause_after != 0 && thread_.state.depth == 0) {
                    thread_.state.paused = true;
                    return leave(Stop::event);
                }
                if (spare_ == 0) {
                    fail(Fault::too_many_instructions);
                    return leave(Stop::ended);
                }
                budget_ = std::exchange(spare_, 0);
            }
            --budget_;
            switch (execute(code[pc_])) {
                case Flow::next: ++pc_; break;
                case Flow::jumped:
                    if (m_.way_ != nullptr) [[unlikely]]
                        m_.way_->push_back({thread_.state.frames, pc_});
                    break;
                case Flow::event: return leave(Stop::event);
                case Flow::blocked: return leave(Stop::blocked);
                case Flow::ended: return leave(Stop::ended);
            }
        }
    }

private:
    // How it goes on after an instruction; or what stops the thread.
    enum class Flow : u8 { next, jumped, event, blocked, ended };

    struct Place {
        Object* object;
        Slot owner;
        u64 at;
        bool shared;
    };

    INLINED Flow execute(const Instruction& in) {
        auto& r = registers_;
        switch (in.op) {
            case Op::move: r.move(in); break;
            case Op::add: r.add_up(in, std::plus{}); break;
            case Op::sub: r.add_up(in, std::minus{}); break;
            case Op::mul: r.add_up(in, std::multiplies{}); break;
            case Op::udiv:
            case Op::urem:
            case Op::sdiv:
            case Op::srem:
                if (const auto fault = r.divide(in)) return fail(*fault);
                break;
            case Op::and_: r.combine_bits(in, std::bit_and{}, undefined_and); break;
            case Op::or_: r.combine_bits(in, std::bit_or{}, undefined_or); break;
            case Op::xor_: r.combine_bits(in, std::bit_xor{}, [](u64, u64 a, u64, u64 b) { return a | b; }); break;
            case Op::shl:
            case Op::lshr:
            case Op::ashr: r.shift(in); break;
            case Op::checked_add:
                if (r.overflows(in, [](i64 a, i64 b, i64* sum) { return __builtin_add_overflow(a, b, sum); }))
                    return fail(Fault::signed_overflow, r.value(in.a), r.value(in.b));
                r.add_up(in, std::plus{});
                break;
            case Op::checked_sub:
                if (r.overflows(in, [](i64 a, i64 b, i64* rest) { return __builtin_sub_overflow(a, b, rest); }))
                    return fail(Fault::signed_overflow, r.value(in.a), r.value(in.b));
                r.add_up(in, std::minus{});
                break;
            case Op::checked_mul:
                if (r.overflows(in, [](i64 a, i64 b, i64* product) { return __builtin_mul_overflow(a, b, product); }))
                    return fail(Fault::signed_overflow, r.value(in.a), r.value(in.b));
                r.add_up(in, std::multiplies{});
                break;
            case Op::checked_shl:
            case Op::checked_lshr:
            case Op::checked_ashr:
                if (r.value(in.b) >= in.bits && r.undefined(in.b) == 0)
                    return fail(Fault::shift_out_of_range, r.value(in.a), r.value(in.b));
                r.shift(in);
                break;
            case Op::fadd: r.combine_floats(in, std::plus{}); break;
            case Op::fsub: r.combine_floats(in, std::minus{}); break;
            case Op::fmul: r.combine_floats(in, std::multiplies{}); break;
            case Op::fdiv: r.combine_floats(in, std::divides{}); break;
            case Op::frem: r.combine_floats(in, [](auto x, auto y) { return std::fmod(x, y); }); break;
            case Op::fpow: r.combine_floats(in, [](auto x, auto y) { return std::pow(x, y); }); break;
            case Op::fatan2: r.combine_floats(in, [](auto y, auto x) { return std::atan2(y, x); }); break;
            case Op::fhypot: r.combine_floats(in, [](auto x, auto y) { return std::hypot(x, y); }); break;
            case Op::fremainder: r.combine_floats(in, [](auto x, auto y) { return std::remainder(x, y); }); break;
            case Op::fnextafter: r.combine_floats(in, [](auto x, auto y) { return std::nextafter(x, y); }); break;
            case Op::eq: r.equal(in, true); break;
            case Op::ne: r.equal(in, false); break;
            case Op::ult: r.compare_unsigned(in, std::less{}); break;
            case Op::ule: r.compare_unsigned(in, std::less_equal{}); break;
            case Op::ugt: r.compare_unsigned(in, std::greater{}); break;
            case Op::uge: r.compare_unsigned(in, std::greater_equal{}); break;
            case Op::slt: r.compare_signed(in, std::less{}); break;
            case Op::sle: r.compare_signed(in, std::less_equal{}); break;
            case Op::sgt: r.compare_signed(in, std::greater{}); break;
            case Op::sge: r.compare_signed(in, std::greater_equal{}); break;
            case Op::foeq: r.compare_floats(in, false, std::equal_to{}); break;
            case Op::fone: r.compare_floats(in, false, std::not_equal_to{}); break;
            case Op::folt: r.compare_floats(in, false, std::less{}); break;
            case Op::fole: r.compare_floats(in, false, std::less_equal{}); break;
            case Op::fogt: r.compare_floats(in, false, std::greater{}); break;
            case Op::foge: r.compare_floats(in, false, std::greater_equal{}); break;
            case Op::ford: r.compare_floats(in, false, [](double, double) { return true; }); break;
            case Op::fueq: r.compare_floats(in, true, std::equal_to{}); break;
            case Op::fune: r.compare_floats(in, true, std::not_equal_to{}); break;
            case Op::fult: r.compare_floats(in, true, std::less{}); break;
            case Op::fule: r.compare_floats(in, true, std::less_equal{}); break;
            case Op::fugt: r.compare_floats(in, true, std::greater{}); break;
            case Op::fuge: r.compare_floats(in, true, std::greater_equal{}); break;
            case Op::funo: r.compare_floats(in, true, [](double, double) { return false; }); break;
            case Op::trunc: r.truncate(in); break;
            case Op::sext: r.extend_sign(in); break;
            case Op::fptosi:
            case Op::fptoui: r.float_to_integer(in); break;
            case Op::sitofp:
            case Op::uitofp: r.integer_to_float(in); break;
            case Op::fpext:
            case Op::fptrunc: r.float_to_float(in); break;
            case Op::fneg: r.negate_float(in); break;
            case Op::fabs: r.map_float(in, [](auto x) { return std::fabs(x); }); break;
            case Op::fsqrt: r.map_float(in, [](auto x) { return std::sqrt(x); }); break;
            case Op::ffloor: r.map_float(in, [](auto x) { return std::floor(x); }); break;
            case Op::fceil: r.map_float(in, [](auto x) { return std::ceil(x); }); break;
            case Op::ftrunc: r.map_float(in, [](auto x) { return std::trunc(x); }); break;
            case Op::fround: r.map_float(in, [](auto x) { return std::round(x); }); break;
            case Op::frint: r.map_float(in, [](auto x) { return std::rint(x); }); break;
            case Op::fsin: r.map_float(in, [](auto x) { return std::sin(x); }); break;
            case Op::fcos: r.map_float(in, [](auto x) { return std::cos(x); }); break;
            case Op::ftan: r.map_float(in, [](auto x) { return std::tan(x); }); break;
            case Op::fasin: r.map_float(in, [](auto x) { return std::asin(x); }); break;
            case Op::facos: r.map_float(in, [](auto x) { return std::acos(x); }); break;
            case Op::fatan: r.map_float(in, [](auto x) { return std::atan(x); }); break;
            case Op::fsinh: r.map_float(in, [](auto x) { return std::sinh(x); }); break;
            case Op::fcosh: r.map_float(in, [](auto x) { return std::cosh(x); }); break;
            case Op::ftanh: r.map_float(in, [](auto x) { return std::tanh(x); }); break;
            case Op::fasinh: r.map_float(in, [](auto x) { return std::asinh(x); }); break;
            case Op::facosh: r.map_float(in, [](auto x) { return std::acosh(x); }); break;
            case Op::fatanh: r.map_float(in, [](auto x) { return std::atanh(x); }); break;
            case Op::fexp: r.map_float(in, [](auto x) { return std::exp(x); }); break;
            case Op::fexp2: r.map_float(in, [](auto x) { return std::exp2(x); }); break;
            case Op::fexpm1: r.map_float(in, [](auto x) { return std::expm1(x); }); break;
            case Op::flog: r.map_float(in, [](auto x) { return std::log(x); }); break;
            case Op::flog2: r.map_float(in, [](auto x) { return std::log2(x); }); break;
            case Op::flog10: r.map_float(in, [](auto x) { return std::log10(x); }); break;
            case Op::flog1p: r.map_float(in, [](auto x) { return std::log1p(x); }); break;
            case Op::fcbrt: r.map_float(in, [](auto x) { return std::cbrt(x); }); break;
            case Op::ferf: r.map_float(in, [](auto x) { return std::erf(x); }); break;
            case Op::ferfc: r.map_float(in, [](auto x) { return std::erfc(x); }); break;
            case Op::ftgamma: r.map_float(in, [](auto x) { return std::tgamma(x); }); break;
            case Op::flgamma: r.map_float(in, [](auto x) { return std::lgamma(x); }); break;
            case Op::fma: r.multiply_add(in); break;
            case Op::ctpop: r.count_bits(in, [](u64 x) { return std::popcount(x); }); break;
            case Op::ctlz: r.count_bits(in, [&](u64 x) { return std::countl_zero(x) - (64 - in.bits); }); break;
            case Op::cttz: r.count_bits(in, [&](u64 x) { return std::min<int>(std::countr_zero(x), in.bits); }); break;
            case Op::bswap: r.permute_bits(in, byte_swap); break;
            case Op::bitreverse: r.permute_bits(in, bit_reverse); break;
            case Op::defined: r.define(in); break;
            case Op::select: r.select(in); break;
            case Op::checked_offset:
                if (r.value(in.b) >= static_cast<u64>(in.c) && r.undefined(in.b) == 0)
                    return fail(Fault::outside_member, r.value(in.a), r.value(in.b));
                r.offset(in);
                break;
            case Op::offset: r.offset(in); break;

            case Op::load:
            case Op::store:
            case Op::update:
            case Op::compare_exchange: return access(in);
            case Op::stack_alloc:
            case Op::heap_alloc: return allocate(in);
            case Op::free_: return free_block(in);
            case Op::block_size: return block_size(in);
            case Op::thread_local_address: r.set(in.dst, address_of(slot_, 1 + in.imm), 0); break;

            case Op::call:
            case Op::call_pointer: return call(in);
            case Op::return_: return return_(in);
            case Op::landing: r.set(in.dst, 0, 0); break;
            case Op::long_jump: return long_jump(in);
            case Op::end_thread: return in.b != 0 ? return_from_main(in) : end_thread();
            case Op::spawn: return spawn(in);
            case Op::self: r.set(in.dst, address_of(slot_, 0), 0); break;

            case Op::choose: return choose(in);
            case Op::assume: return assume(in);
            case Op::await: return await(in);
            case Op::claim:
                // What else happens in a section around the lock's own is not known.
                if (m_.options_.follow_locks && thread_.state.depth == 1)
                    m_.claim(slot_, {static_cast<ClaimKind>(in.c), r.value(in.a)});
                break;
            case Op::atomic_begin:
                if (!may_take()) return Flow::event;
                if (thread_.state.depth == 0) tell(OperationKind::section, 0, 0, {}, {}, true);
                if (thread_.state.depth++ == 0) m_.guarded_ = in.c != 0;
                break;
            case Op::atomic_end:
                if (thread_.state.depth == 0) return fail(Fault::section_not_begun);
                --thread_.state.depth;
                break;
            case Op::fence: return fence(in);
            case Op::relax:
                if (thread_.state.depth == 1 && m_.effect_ != nullptr)
                    for (Access& access : m_.effect_->accesses) access.ordering = Ordering::relaxed;
                break;
            case Op::output: tell(OperationKind::output, 0, 0, {}, r.value(in.a) & 0xff, false); break;

            case Op::jump: pc_ = static_cast<u32>(in.imm); return Flow::jumped;
            case Op::branch:
                if (r.undefined(in.a) != 0) return fail(Fault::undefined_branch);
                pc_ = r.value(in.a) != 0 ? static_cast<u32>(in.imm) : static_cast<u32>(in.d);
                return Flow::jumped;
            case Op::switch_: return switch_(in);
            case Op::exit_: return exit(in);
            case Op::fail: return fail(static_cast<Fault>(in.c), registers_.value(in.a), registers_.value(in.b));
            case Op::unreachable: return fail(Fault::unreachable);
            default: __builtin_unreachable();  // there are no others: that need not be looked at each time
        }
        return Flow::next;
    }

    // ---------------------------------------------------------------------------------------------- pieces

    INLINED void enter() {  // the top frame has changed
        const Frame& frame = thread_.frames[thread_.state.frames - 1];
        pc_ = frame.pc;
        show(frame.base);
    }
    INLINED void show(u32 base) {
        registers_.show(thread_.values.data() + base, thread_.undefined.data() + base,
                        Pointers ? thread_.pointers.data() + base : nullptr);
    }
    INLINED Stop leave(Stop stop) {
        thread_.frames[thread_.state.frames - 1].pc = pc_;
        m_.executed_ += m_.options_.instruction_limit - spare_ - budget_;
        return stop;
    }
    INLINED Flow fail(Fault fault, Address address = 0, u64 size = 0) {
        thread_.frames[thread_.state.frames - 1].pc = pc_;
        m_.fail(slot_, fault, address, size);
        return Flow::ended;
    }
    INLINED Flow block(const Instruction& at, Address object = 0, Address holder = 0) {
        m_.effect_->waiting = {pc_, guard_at(at), object, holder};
        return Flow::blocked;
    }
    // Whether an event may happen here and now; if not, the thread stops before it.
    INLINED bool may_take() {
        if (thread_.state.depth != 0) return true;
        if (!take_) return false;
        take_ = false;
        taken_ = true;
        return true;
    }
    INLINED void tell(OperationKind kind, Address address, u64 size, std::optional<u64> read,
                      std::optional<u64> written, bool visible) {
        if (m_.recording_) [[unlikely]]
            m_.note(pc_, {kind, slot_, {}, address, size, read, written, visible});
    }

    // ---------------------------------------------------------------------------------------------- memory

    // An access to `size` bytes at `address`: finds the bytes, or says what is wrong.
    INLINED std::optional<Fault> locate(Address address, u64 size, u64 align, bool writing, Place& place) {
        const u64 id = object_of(address);
        place.owner = owner_of(id);
        Space& space = m_.spaces_[place.owner];
        if (number_of(id) >= space.objects.size()) return Fault::wild;
        Object& object = space.objects[number_of(id)];
        place.object = &object;
        const u64 offset = address - (id << offset_bits);
        if (offset > object.size || size > object.size - offset) [[unlikely]] {
            if (object.kind == ObjectKind::null) return Fault::null;
            if (object.kind == ObjectKind::function) return Fault::not_data;
            return Fault::bounds;
        }
        if ((address & (align - 1)) != 0) [[unlikely]]
            return Fault::misaligned;
        if (writing && object.constant) [[unlikely]]
            return Fault::read_only;
        // Only a made-up address gets here: nobody else was ever told where it is.
        if (object.is_private && place.owner != slot_) [[unlikely]]
            return Fault::wild;
        place.at = object.at + offset;
        place.shared = m_.world_.several && !object.is_private && !object.constant;
        return std::nullopt;
    }

    INLINED Flow access(const Instruction& in) {
        auto& r = registers_;
        const Address address = r.value(in.a);
        if (r.undefined(in.a) != 0) return fail(Fault::undefined_address, address, in.size);
        if (Pointers && !r.pointer(in.a) && r.guessed(address)) m_.addresses_matter_ = true;
        Place place{};
        if (const auto fault = locate(address, in.size, in.imm, in.op != Op::load, place))
            return fail(*fault, address, in.size);
        Space& space = m_.spaces_[place.owner];
        u8* const bytes = &space.bytes[place.at];
        u8* const unknown = &space.undefined[place.at];
        if (place.shared) {
            if (!may_take()) return Flow::event;
            note_access(in, address, bytes, unknown);
        }
        if (!place.object->alive) [[unlikely]]
            return fail(place.object->kind == ObjectKind::heap ? Fault::freed : Fault::returned, address, in.size);
        // A pointer fills a word; whoever sees or writes part of one takes it for bytes.
        const bool whole = in.bits == 64 && place.at % 8 == 0;
        bool holds_pointer = false;
        if constexpr (Pointers) {
            holds_pointer = (space.pointers[place.at / 8] | space.pointers[(place.at + in.size - 1) / 8]) != 0;
            const i32 written = in.op == Op::store || in.op == Op::update ? in.b
                                : in.op == Op::load                       ? -1
                                                                          : m_.code_.operands[static_cast<u32>(in.d)];
            if (!whole && (holds_pointer || r.pointer(written))) m_.addresses_matter_ = true;
        }
        if (in.op == Op::load) {
            const u64 loaded = get(bytes, in.size) & mask(in.bits);
            r.set(in.dst, loaded, Shadow ? get(unknown, in.size) & mask(in.bits) : 0, whole && holds_pointer);
            tell(OperationKind::load, address, in.size, loaded, {}, place.shared);
            return Flow::next;
        }
        m_.save_bytes(place.owner, place.at, in.size);
        const auto write = [&](u64 value, u64 undefined) INLINED {
            put(bytes, value, in.size);
            if constexpr (Shadow) put(unknown, undefined, in.size);
        };
        const auto write_pointer = [&](bool is_pointer) INLINED {
            if constexpr (Pointers)
                space.pointers[place.at / 8] = space.pointers[(place.at + in.size - 1) / 8] = whole && is_pointer;
        };
        if (in.op == Op::store) {
            write(r.value(in.b), r.undefined(in.b));
            write_pointer(r.pointer(in.b));
            tell(OperationKind::store, address, in.size, {}, r.value(in.b), place.shared);
            return Flow::next;
        }
        const u64 old = get(bytes, in.size) & mask(in.bits);
        const u64 old_unknown = Shadow ? get(unknown, in.size) & mask(in.bits) : 0;
        if (in.op == Op::update) {
            const auto op = static_cast<UpdateOp>(in.d);
            const u64 operand = r.value(in.b), result = updated(op, old, operand, in.bits);
            write(result, undefined_updated(op, old, old_unknown, operand, r.undefined(in.b), in.bits));
            if (op == UpdateOp::exchange) {
                write_pointer(r.pointer(in.b));
            } else if (holds_pointer || r.pointer(in.b)) {
                const bool moves = op == UpdateOp::add || op == UpdateOp::sub;
                const bool marks = (op == UpdateOp::and_ || op == UpdateOp::or_ || op == UpdateOp::xor_) &&
                                   r.changes_low_bits(op == UpdateOp::and_, operand);
                if (r.pointer(in.b) || !(moves || marks) || object_of(result) != object_of(old))
                    m_.addresses_matter_ = true;
            }
            r.set(in.dst, old, old_unknown, holds_pointer);
            tell(OperationKind::update, address, in.size, old, result, place.shared);
            return Flow::next;
        }
        const u64 expected = r.value(in.b);
        if (Pointers && holds_pointer != r.pointer(in.b) && r.guessed(holds_pointer ? expected : old))
            m_.addresses_matter_ = true;
        const i32 desired = m_.code_.operands[static_cast<u32>(in.d)];
        const i32 success = m_.code_.operands[static_cast<u32>(in.d) + 1];
        const bool swaps = old == expected;
        const u64 doubt = undefined_equal(old, old_unknown, expected, r.undefined(in.b)), written = r.value(desired);
        if (swaps) {
            write(written, r.undefined(desired));
            write_pointer(r.pointer(desired));
        }
        r.set(in.dst, old, old_unknown, holds_pointer);
        r.set(success, swaps ? 1 : 0, doubt);
        tell(OperationKind::compare_exchange, address, in.size, old, swaps ? std::optional(written) : std::nullopt,
             place.shared);
        return Flow::next;
    }

    // What an access does to memory that others can reach.
    INLINED void note_access(const Instruction& in, Address address, const u8* bytes, const u8* unknown) {
        bool writes = in.op != Op::load;
        if (in.op == Op::compare_exchange) {
            m_.effect_->expected = registers_.value(in.b);
            m_.effect_->compared = mask(in.bits);
            writes = (get(bytes, in.size) & mask(in.bits)) == registers_.value(in.b);
        }
        const auto commuting =
            in.op == Op::update && in.dst < 0 ? commuting_class(static_cast<UpdateOp>(in.d)) : Commuting::no;
        const bool alone = thread_.state.depth == 0 || m_.guarded_;
        auto ordering = alone ? static_cast<Ordering>(in.c) : Ordering::seq_cst, otherwise = ordering;
        if (alone && in.op == Op::compare_exchange) {
            otherwise = static_cast<Ordering>(m_.code_.operands[static_cast<u32>(in.d) + 2]);
            if (!writes) std::swap(ordering, otherwise);
        }
        const bool known = writes && (!Shadow || get(unknown, in.size) == 0);
        m_.effect_->accesses.push_back({address, in.size, writes ? get(bytes, in.size) : 0, in.op != Op::store, writes,
                                        commuting, ordering, known, in.op == Op::compare_exchange, otherwise});
    }

    INLINED Flow allocate(const Instruction& in) {
        const u64 size = registers_.value(in.a);
        if (registers_.undefined(in.a) != 0) return fail(Fault::undefined_address, 0, size);
        if (size > max_object_size || m_.spaces_[slot_].bytes.size() + size > max_space)
            return fail(Fault::too_large, 0, size);
        const bool on_stack = in.op == Op::stack_alloc;
        if (!on_stack && in.d != 0) {
            // What a thread has freed itself depends on nobody else. To use it again is a write to all of it: whoever
            // still has the address may come before or after.
            if (const std::vector<u64> freed = m_.freed_blocks(slot_, size); !freed.empty()) {
                if (!may_take()) return Flow::event;
                const std::optional<u32> choice = decide(static_cast<u32>(freed.size()) + 1);
                if (!choice) return block(in);
                if (*choice != 0) return use_again(in, freed[*choice - 1]);
            }
        }
        Object& object =
            m_.make_object(slot_, size, on_stack ? ObjectKind::stack : ObjectKind::heap, static_cast<i32>(pc_));
        const u64 number = m_.spaces_[slot_].objects.size() - 1;
        if (on_stack) {
            object.is_private = in.c != 0;
            object.below = thread_.state.stack;
            thread_.state.stack = static_cast<u32>(number);
        } else if (in.c != 0) {
            auto& unknown = m_.spaces_[slot_].undefined;
            std::fill(unknown.begin() + static_cast<std::ptrdiff_t>(object.at), unknown.end(), u8{0});
        }
        registers_.set(in.dst, address_of(slot_, number), 0, true);
        if (!on_stack) tell(OperationKind::allocate, address_of(slot_, number), size, {}, size, false);
        return Flow::next;
    }

    INLINED Flow use_again(const Instruction& in, u64 id) {
        m_.use_again(id, static_cast<i32>(pc_));
        Space& space = m_.spaces_[owner_of(id)];
        const Object& object = space.objects[number_of(id)];
        const Address address = id << offset_bits;
        if (in.c != 0)
            std::fill_n(space.undefined.begin() + static_cast<std::ptrdiff_t>(object.at), object.size, u8{0});
        if (m_.world_.several)
            m_.effect_->accesses.push_back({.address = address,
                                            .size = std::max<u64>(object.size, 1),
                                            .before = 0,
                                            .reads = false,
                                            .writes = true,
                                            .commuting = Commuting::no,
                                            .ordering = Ordering::lifetime,
                                            .life = Life::begins});
        registers_.set(in.dst, address, 0, true);
        tell(OperationKind::allocate, address, object.size, {}, object.size, m_.world_.several);
        return Flow::next;
    }

    INLINED Flow free_block(const Instruction& in) {
        const Address address = registers_.value(in.a);
        if (registers_.undefined(in.a) != 0) return fail(Fault::undefined_address, address, 0);
        if (address == 0) return Flow::next;
        if (Pointers && !registers_.pointer(in.a)) m_.addresses_matter_ = true;
        Place place{};
        if (const auto fault = locate(address, 0, 1, false, place))
            return fail(*fault == Fault::wild ? Fault::wild : Fault::invalid_free, address, 0);
        if (place.object->kind != ObjectKind::heap || place.at != place.object->at)
            return fail(Fault::invalid_free, address, 0);
        const u64 extent = std::max<u64>(place.object->size, 1);
        if (place.shared) {
            if (!may_take()) return Flow::event;
            m_.effect_->accesses.push_back({.address = address,
                                            .size = extent,
                                            .before = 0,
                                            .reads = false,
                                            .writes = true,
                                            .commuting = Commuting::no,
                                            .ordering = Ordering::plain,
                                            .life = Life::ends});
        }
        if (!place.object->alive) return fail(Fault::double_free, address, place.object->size);
        m_.end_object(place.owner, number_of(object_of(address)), static_cast<i32>(pc_));
        place.object->freed_by = slot_;
        tell(OperationKind::free_, address, place.object->size, {}, {}, place.shared);
        return Flow::next;
    }

    INLINED Flow block_size(const Instruction& in) {
        const Address address = registers_.value(in.a);
        if (registers_.undefined(in.a) != 0) return fail(Fault::undefined_address, address, 0);
        if (Pointers && !registers_.pointer(in.a) && registers_.guessed(address)) m_.addresses_matter_ = true;
        Place place{};
        if (const auto fault = locate(address, 0, 1, false, place)) return fail(*fault, address, 0);
        if (place.object->kind != ObjectKind::heap || place.at != place.object->at)
            return fail(Fault::invalid_free, address, 0);
        if (place.shared) {
            if (!may_take()) return Flow::event;
            m_.effect_->accesses.push_back({address, 1, 0, true, false, Commuting::no, Ordering::lifetime});
        }
        if (!place.object->alive) return fail(Fault::freed, address, place.object->size);
        registers_.set(in.dst, place.object->size, 0);
        return Flow::next;
    }

    // ---------------------------------------------------------------------------------- functions and threads

    // The function at an address, if it can be called with so many arguments.
    INLINED const Object* callee(Address address, i32 arguments) const {
        const Object* target = m_.object(address);
        if (target == nullptr || target->kind != ObjectKind::function || (address & mask(offset_bits)) != 0)
            return nullptr;
        // C programs give arguments to functions that take none; the other way round is a mistake.
        return m_.code_.functions[target->index].parameters > static_cast<u32>(arguments) ? nullptr : target;
    }

    INLINED Flow call(const Instruction& in) {
        u32 function = static_cast<u32>(in.imm);
        if (in.op == Op::call_pointer) {
            const Address address = registers_.value(in.a);
            if (registers_.undefined(in.a) != 0) return fail(Fault::undefined_address, address, 0);
            const Object* target = callee(address, in.d);
            if (target == nullptr) return fail(address == 0 ? Fault::null : Fault::bad_call, address, 0);
            function = target->index;
        }
        if (thread_.state.frames == max_frames) return fail(Fault::stack_overflow);
        const u32 caller = thread_.frames[thread_.state.frames - 1].base;
        thread_.frames[thread_.state.frames - 1].pc = pc_;
        m_.push_frame(slot_, function, in.dst);
        show(caller);
        const u32 base = thread_.frames[thread_.state.frames - 1].base;
        for (u32 i = 0; i < m_.code_.functions[function].parameters; ++i) {
            const i32 argument = m_.code_.operands[static_cast<u32>(in.c) + i];
            thread_.values[base + i] = registers_.value(argument);
            if constexpr (Shadow) thread_.undefined[base + i] = registers_.undefined(argument);
            if constexpr (Pointers) thread_.pointers[base + i] = registers_.pointer(argument);
        }
        enter();
        return Flow::jumped;
    }

    INLINED Flow return_(const Instruction& in) {
        const u32 top = thread_.state.frames - 1;
        if (top == 0) return end_thread();
        const u32 down_to = thread_.frames[top].stack;
        if (thread_.state.stack != down_to) {
            if (m_.world_.several && m_.leaves_shared_objects(thread_, down_to) && !may_take()) return Flow::event;
            m_.end_stack_objects(slot_, down_to, static_cast<i32>(pc_));
        }
        const bool has_value = in.b != 0;
        const u64 result = has_value ? registers_.value(in.a) : 0;
        const u64 unknown = has_value ? registers_.undefined(in.a) : ~u64{0};
        const bool is_pointer = has_value && registers_.pointer(in.a);
        const i32 dst = thread_.frames[top].result;
        if (m_.recording_ && slot_ == 1 && top == 1 && dst >= 0 && status_of(result) != 0) [[unlikely]]
            tell(OperationKind::return_, 0, 0, {}, result, false);
        thread_.state.top = thread_.frames[top].base;
        --thread_.state.frames;
        if (thread_.frames[top - 1].saved != m_.epoch_) m_.save_frame(slot_, top - 1, true);
        ++thread_.frames[top - 1].pc;
        enter();
        registers_.set(dst, result, unknown, is_pointer);
        return Flow::jumped;
    }

    // Back to a call that is still under way: the one to which a stack object belongs. Its registers are as the calls
    // that end here have found them, so all of these frames are saved.
    Flow long_jump(const Instruction& in) {
        const Address object = registers_.value(in.a);
        const u64 id = object_of(object), landing = registers_.value(in.b), result = registers_.value(in.c);
        const u64 unknown = registers_.undefined(in.c);
        if ((registers_.undefined(in.a) | registers_.undefined(in.b)) != 0)
            return fail(Fault::undefined_address, object, 0);
        Place place{};
        if (const auto fault = locate(object, 1, 1, false, place)) return fail(*fault, object, 1);
        if (!place.object->alive) return fail(Fault::returned, object, 1);
        if (place.object->kind != ObjectKind::stack || place.owner != slot_) return fail(Fault::wild, object, 1);
        u32 below = thread_.state.stack;
        while (below > number_of(id)) below = m_.spaces_[slot_].objects[below].below;
        if (below != number_of(id)) return fail(Fault::returned, object, 1);
        u32 target = thread_.state.frames - 1;
        while (thread_.frames[target].stack >= number_of(id)) --target;
        u32 at = m_.code_.functions[thread_.frames[target].function].entry;
        while (m_.code_.instructions[at].op != Op::landing || m_.code_.instructions[at].imm != landing)
            if (++at == m_.code_.instructions.size()) return fail(Fault::wild, object, 1);
        if (target + 1 < thread_.state.frames) {
            const u32 down_to = thread_.frames[target + 1].stack;
            if (thread_.state.stack != down_to) {
                if (m_.world_.several && m_.leaves_shared_objects(thread_, down_to) && !may_take()) return Flow::event;
                m_.end_stack_objects(slot_, down_to, static_cast<i32>(pc_));
            }
        }
        while (thread_.state.frames - 1 > target) {
            const u32 top = thread_.state.frames - 1;
            thread_.state.top = thread_.frames[top].base;
            --thread_.state.frames;
            if (thread_.frames[top - 1].saved != m_.epoch_) m_.save_frame(slot_, top - 1, true);
        }
        thread_.frames[target].pc = at + 1;
        enter();
        registers_.set(m_.code_.instructions[at].dst, result, unknown);
        return Flow::jumped;
    }

    INLINED Flow end_thread() {
        // Models of library functions end threads in a section of their own.
        if (thread_.state.depth > 1) return fail(Fault::section_not_ended);
        if (!may_take()) return Flow::event;
        if (m_.options_.leaks && m_.ends_last(slot_))
            if (const auto leak = m_.find_leak(slot_)) return fail(Fault::leaked, leak->block, leak->count);
        m_.end_thread(slot_, static_cast<i32>(pc_));
        tell(OperationKind::end, address_of(slot_, 0), 4, {}, {}, true);
        return Flow::ended;
    }

    // The process ends with this thread. What others could still do before that is done first, and then they stay where
    // they are: that this thread has ended, they cannot get to know.
    INLINED Flow return_from_main(const Instruction& in) {
        if (thread_.state.depth > 1) return fail(Fault::section_not_ended);
        if (!may_take()) return Flow::event;
        if (m_.options_.leaks && m_.ends_last(slot_))
            if (const auto leak = m_.find_leak(slot_)) return fail(Fault::leaked, leak->block, leak->count);
        thread_.state.status = Status::returned;
        thread_.state.depth = 0;
        tell(OperationKind::end, address_of(slot_, 0), 4, {}, {}, true);
        return end_with(in.a);
    }

    // As much of a status as whoever waits for the process gets to see.
    static INLINED u64 status_of(u64 value) { return value & 0xff; }
    INLINED Flow end_with(i32 status) {
        if (m_.options_.any_status) return Flow::ended;
        if (status_of(registers_.undefined(status)) != 0) return fail(Fault::undefined_status);
        if (status_of(registers_.value(status)) == 0) return Flow::ended;
        return fail(Fault::exit_status, 0, registers_.value(status));
    }

    INLINED Flow spawn(const Instruction& in) {
        const Address address = registers_.value(in.a);
        const Object* target = callee(address, in.d);
        if (target == nullptr) return fail(Fault::bad_call, address, 0);
        const u32 function = target->index;
        const auto [child, reused] = m_.room_for_child(slot_);
        if (child == 0) return fail(Fault::too_many_threads);
        if (reused && !may_take()) return Flow::event;  // somebody may still know the old thread
        ++thread_.state.children;
        std::vector<u64> arguments, unknown;
        std::vector<u8> are_pointers;
        for (u32 i = 0; i < m_.code_.functions[function].parameters; ++i) {
            const i32 argument = m_.code_.operands[static_cast<u32>(in.c) + i];
            arguments.push_back(registers_.value(argument));
            unknown.push_back(registers_.undefined(argument));
            are_pointers.push_back(registers_.pointer(argument));
        }
        tell(OperationKind::spawn, address_of(child, 0), 0, {}, {}, true);
        if (m_.effect_ != nullptr) m_.effect_->acts.push_back({slot_, child, {}, thread_.state.depth != 0});
        m_.start_thread(child, function, arguments, unknown, are_pointers);
        m_.find_alike({slot_, child, function, std::move(arguments), std::move(unknown)});
        registers_.set(in.dst, address_of(child, 0), 0);
        return Flow::next;
    }

    // All accesses are sequentially consistent: there is nothing to order. But it counts for what happens before what.
    INLINED Flow fence(const Instruction& in) {
        tell(OperationKind::fence, 0, 0, {}, {}, false);
        std::erase_if(m_.created_, [&](const auto& created) { return created.creator == slot_; });
        if (m_.effect_ != nullptr)
            m_.effect_->acts.push_back({slot_, 0, static_cast<Ordering>(in.c), thread_.state.depth != 0});
        return Flow::next;
    }

    INLINED Flow exit(const Instruction& in) {
        if (!may_take()) return Flow::event;
        m_.effect_->accesses.push_back({0, everything, 0, false, true, Commuting::no, Ordering::lifetime});
        if (m_.options_.leaks)
            if (const auto leak = m_.find_leak(slot_)) return fail(Fault::leaked, leak->block, leak->count);
        m_.save_world();
        m_.world_.exited = true;
        thread_.state.status = Status::ended;
        thread_.state.depth = 0;
        tell(OperationKind::exit_, 0, 0, {}, registers_.value(in.a), true);
        return end_with(in.a);
    }

    INLINED Flow switch_(const Instruction& in) {
        if (registers_.undefined(in.a) != 0) return fail(Fault::undefined_branch);
        registers_.look_at(in.a);
        const u64 key = registers_.value(in.a);
        pc_ = static_cast<u32>(in.imm);
        for (i32 i = 0; i < in.d; ++i) {
            const i32* entry = &m_.code_.operands[static_cast<std::size_t>(in.c + 2 * i)];
            if (registers_.value(entry[0]) == key) {
                pc_ = static_cast<u32>(entry[1]);
                break;
            }
        }
        return Flow::jumped;
    }

    // ----------------------------------------------------------------------------------- choices and guards

    INLINED Flow choose(const Instruction& in) {
        if (!may_take()) return Flow::event;
        const u32 count = static_cast<u32>(registers_.value(in.a));
        if (registers_.undefined(in.a) != 0) return fail(Fault::undefined_branch);
        if (count > max_choices) return fail(Fault::too_many_choices, 0, count);
        const std::optional<u32> choice = decide(count);
        if (!choice) return block(in);
        registers_.set(in.dst, *choice, 0);
        tell(OperationKind::choose, 0, 0, *choice, count, true);
        return Flow::next;
    }
    // The next choice of this step; none if that is not among so many.
    INLINED std::optional<u32> decide(u32 count) {
        std::vector<u32>& ranges = m_.effect_->ranges;
        const u32 choice = ranges.size() < m_.choices_.size() ? m_.choices_[ranges.size()] : 0;
        if (choice >= count) return std::nullopt;
        ranges.push_back(count);
        m_.effect_->chosen_after.push_back(static_cast<u32>(m_.effect_->accesses.size()));
        return choice;
    }

    INLINED Flow assume(const Instruction& in) {
        const auto origin = static_cast<Origin>(in.c);
        // A section is one step, however long: were a bound its guard, it could be taken later as if nothing were
        // missing. And rounds that are made only to see whether a loop ever ends do not count.
        if (origin == Origin::bound && (m_.ignoring_loops_ || thread_.state.depth != 0)) {
            if (m_.ignoring_loops_) registers_.set(in.a, 0, 0);
            return Flow::next;
        }
        if (thread_.state.depth != 0) {
            m_.effect_->guard_accesses = static_cast<u32>(m_.effect_->accesses.size());
            m_.effect_->assumes = true;
        }
        if (origin == Origin::loop) {
            m_.passed_ += pc_ == m_.watched_ ? 1 : 0;
            if (m_.ignoring_loops_ || registers_.undefined(in.a) != 0) return Flow::next;
        } else if (registers_.undefined(in.a) != 0) {
            return fail(Fault::undefined_branch);
        }
        if (registers_.value(in.a) != 0) return Flow::next;
        if (thread_.state.depth != 0) return block(in);
        thread_.state.status = Status::stopped;
        tell(OperationKind::stop, 0, 0, {}, {}, false);
        return Flow::ended;
    }

    INLINED Flow await(const Instruction& in) {
        if (thread_.state.depth == 0) return fail(Fault::await_outside_section);
        m_.effect_->guard_accesses = static_cast<u32>(m_.effect_->accesses.size());
        if (registers_.undefined(in.a) != 0) return fail(Fault::undefined_branch);
        if (registers_.value(in.a) != 0) return Flow::next;
        return block(in, registers_.value(in.b), registers_.value(in.c));
    }

    Machine& m_;
    Thread& thread_;
    const Slot slot_;
    Registers<Shadow, Pointers> registers_;
    u32 pc_ = 0;
    bool take_;  // the event that the thread stands before may be taken
    const bool probing_;
    bool taken_ = false;  // it is over; what follows is local
    u64 budget_;          // of instructions, until a pause, ...
    u64 spare_;           // ... and after it
};

template <bool Shadow, bool Pointers>
Machine::Stop Machine::run(Slot slot, bool take) {
    return Interpreter<Shadow, Pointers>(*this, slot, take).run();
}

// Runs a thread until its next event; with `take`, it first executes the event that the thread stands before. In an
// atomic section every access belongs to the event that the section is.
Machine::Stop Machine::resume(Slot slot, bool take) {
    if (options_.follow_pointers)
        return options_.uninitialised ? run<true, true>(slot, take) : run<false, true>(slot, take);
    return options_.uninitialised ? run<true, false>(slot, take) : run<false, false>(slot, take);
}

}  // namespace mazurka
