#include "vm/machine.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <utility>

#include "vm/arithmetic.hpp"
#include "vm/inlined.hpp"

namespace mazurka {

namespace {

constexpr u32 max_frames = 4096;
constexpr u32 max_choices = 65536;
constexpr u64 max_space = u64{1} << 30;

// Which updates commute with each other when nobody looks at the old value: adding and subtracting are one class.
constexpr std::array<Commuting, 11> commuting_class = {
    Commuting::no,   Commuting::add, Commuting::add, Commuting::and_, Commuting::or_,  Commuting::xor_,
    Commuting::no,   Commuting::max, Commuting::min, Commuting::umax, Commuting::umin,
};

u64 get(const u8* bytes, u32 size) {
    u64 value = 0;
    switch (size) {
        case 1: return *bytes;
        case 4: { u32 word; std::memcpy(&word, bytes, 4); return word; }
        case 8: std::memcpy(&value, bytes, 8); return value;
        default: std::memcpy(&value, bytes, size); return value;
    }
}

void put(u8* bytes, u64 value, u32 size) {
    switch (size) {
        case 1: *bytes = static_cast<u8>(value); break;
        case 4: { const u32 word = static_cast<u32>(value); std::memcpy(bytes, &word, 4); break; }
        case 8: std::memcpy(bytes, &value, 8); break;
        default: std::memcpy(bytes, &value, size); break;
    }
}

}  // namespace

std::string_view fault_name(Fault fault) {
    static constexpr auto names = std::to_array<std::string_view>({
#define X(name, kind) #name,
        MAZURKA_FAULTS(X)
#undef X
    });
    return names[static_cast<std::size_t>(fault)];
}

std::string_view fault_kind(Fault fault) {
    static constexpr auto kinds = std::to_array<std::string_view>({
#define X(name, kind) kind,
        MAZURKA_FAULTS(X)
#undef X
    });
    return kinds[static_cast<std::size_t>(fault)];
}

Machine::Machine(const Code& code, MachineOptions options, std::span<const ThreadName> names)
    : code_(code), options_(options), threads_(max_slots), spaces_(max_slots), names_{{0, 0}, {0, 0}}, recording_(options.record) {
    if (names.size() > max_slots - 2) throw std::invalid_argument("too many threads");
    names_.insert(names_.end(), names.begin(), names.end());
    // The program's own objects: null, functions, globals. The lowering counts on this order.
    Object& null = make_object(0, 0, ObjectKind::null, -1);
    null.constant = true;
    for (u32 i = 0; i < code.functions.size(); ++i) {
        Object& function = make_object(0, 0, ObjectKind::function, -1);
        function.index = i;
        function.constant = true;
    }
    for (u32 i = 0; i < code.globals.size(); ++i) {
        const GlobalData& global = code.globals[i];
        Object& object = make_object(0, global.bytes.size(), ObjectKind::global, -1);
        object.index = i;
        object.constant = global.constant;
        std::ranges::copy(global.bytes, spaces_[0].bytes.begin() + static_cast<std::ptrdiff_t>(object.at));
        std::fill(spaces_[0].undefined.begin() + static_cast<std::ptrdiff_t>(object.at), spaces_[0].undefined.end(), u8{0});
    }
    if (options_.follow_pointers) {
        written_globals_.initial = spaces_[0].bytes;
        written_globals_.known.resize(spaces_[0].bytes.size() / 8);
    }
    start_thread(1, code.entry, {}, {}, {});
    summarise_memory();
}

// ------------------------------------------------------------------------------------------- undoing

void Machine::save_frame(Slot slot, u32 index, bool in_call) {
    Thread& thread = threads_[slot];
    Frame& frame = thread.frames[index];
    if (facts_ != nullptr) {
        const auto live = in_call ? facts_->live_during_call(frame.pc) : facts_->live(frame.pc);
        u8* room = trail_.extend(live.size() * sizeof(SavedRegister));
        for (const u32 reg : live) {
            const SavedRegister saved{thread.values[frame.base + reg], thread.undefined[frame.base + reg], thread.pointers[frame.base + reg]};
            std::memcpy(room, &saved, sizeof saved);
            room += sizeof saved;
        }
        trail_.push(in_call);
    } else {
        const u32 count = code_.functions[frame.function].registers;
        trail_.push_bytes(thread.values.data() + frame.base, count * sizeof(u64));
        trail_.push_bytes(thread.undefined.data() + frame.base, count * sizeof(u64));
        if (options_.follow_pointers) trail_.push_bytes(thread.pointers.data() + frame.base, count);
    }
    trail_.push(frame);
    trail_.push(index);
    trail_.push(slot);
    trail_.push(Record::frame);
    frame.saved = epoch_;
}

// Before a thread moves: save what its next instructions may change.
void Machine::touch(Slot slot) {
    Thread& thread = threads_[slot];
    if (thread.saved == epoch_) return;
    const u32 top = thread.state.frames - 1;
    if (thread.frames[top].saved != epoch_) save_frame(slot, top, false);
    trail_.push(thread.state);
    trail_.push(slot);
    trail_.push(Record::thread);
    thread.saved = epoch_;
}

void Machine::touch_word(Slot owner, u64 word) {
    Written& written = owner == 0 ? written_globals_ : written_locals_;
    if (word >= written.known.size()) return;
    if (!written.known[word]) {
        written.known[word] = true;
        written.words.insert(std::ranges::lower_bound(written.words, word), word);
    }
    for (const TouchedWord& one : touched_)
        if (one.word == word && one.owner == owner) return;
    touched_.push_back({owner, word, summary_of(owner, word)});
}

void Machine::summarise_memory() {
    trail_.push(memory_);
    trail_.push(Record::memory);
    for (const auto& [owner, word, before] : touched_) {
        const MemorySummary now = summary_of(owner, word);
        memory_ = {memory_.sum + now.sum - before.sum, memory_.pointers + now.pointers - before.pointers};
    }
    touched_.clear();
}

void Machine::save_bytes(Slot owner, u64 at, u32 size) {
    const Space& space = spaces_[owner];
    if (options_.follow_pointers) {
        touch_word(owner, at / 8);
        if ((at + size - 1) / 8 != at / 8) touch_word(owner, at / 8 + 1);
    }
    const u8 pointers = options_.follow_pointers ? static_cast<u8>(space.pointers[at / 8] | space.pointers[(at + size - 1) / 8] << 1) : u8{0};
    trail_.push(SavedBytes{owner, static_cast<u16>(size), pointers, at, get(&space.bytes[at], size), get(&space.undefined[at], size)});
    trail_.push(Record::bytes);
}

void Machine::rewind(Mark mark) {
    ++epoch_;
    while (trail_.size() > mark) {
        switch (trail_.pop<Record>()) {
            case Record::bytes: {
                const auto saved = trail_.pop<SavedBytes>();
                Space& space = spaces_[saved.owner];
                put(&space.bytes[saved.at], saved.old, saved.size);
                put(&space.undefined[saved.at], saved.old_undefined, saved.size);
                if (options_.follow_pointers) {
                    space.pointers[saved.at / 8] = saved.pointers & 1;
                    space.pointers[(saved.at + saved.size - 1) / 8] = saved.pointers >> 1;
                }
                break;
            }
            case Record::frame: {
                const auto slot = trail_.pop<Slot>();
                const auto index = trail_.pop<u32>();
                Thread& thread = threads_[slot];
                thread.frames[index] = trail_.pop<Frame>();
                const Frame& frame = thread.frames[index];
                if (facts_ != nullptr) {
                    const auto live = trail_.pop<bool>() ? facts_->live_during_call(frame.pc) : facts_->live(frame.pc);
                    for (std::size_t i = live.size(); i-- > 0;) {
                        const auto saved = trail_.pop<SavedRegister>();
                        thread.values[frame.base + live[i]] = saved.value;
                        thread.undefined[frame.base + live[i]] = saved.undefined;
                        thread.pointers[frame.base + live[i]] = saved.pointer;
                    }
                    break;
                }
                const u32 count = code_.functions[frame.function].registers;
                if (options_.follow_pointers) trail_.pop_bytes(thread.pointers.data() + frame.base, count);
                trail_.pop_bytes(thread.undefined.data() + frame.base, count * sizeof(u64));
                trail_.pop_bytes(thread.values.data() + frame.base, count * sizeof(u64));
                break;
            }
            case Record::thread: {
                const auto slot = trail_.pop<Slot>();
                threads_[slot].state = trail_.pop<ThreadState>();
                break;
            }
            case Record::locks: {
                const auto slot = trail_.pop<Slot>();
                threads_[slot].held = trail_.pop<HeldLocks>();
                break;
            }
            case Record::memory: memory_ = trail_.pop<MemorySummary>(); break;
            case Record::object_made: {
                Space& space = spaces_[trail_.pop<Slot>()];
                const u64 at = space.objects.back().at;
                space.bytes.resize(at);
                space.undefined.resize(at);
                if (options_.follow_pointers) space.pointers.resize(at / 8);
                space.objects.pop_back();
                break;
            }
            case Record::object_ended: {
                const auto saved = trail_.pop<SavedObject>();
                Object& object = spaces_[saved.owner].objects[saved.number];
                object.alive = saved.alive;
                object.freed_at = saved.freed_at;
                break;
            }
            case Record::thread_made: threads_[trail_.pop<Slot>()].state = ThreadState{}; break;
            case Record::world: world_ = trail_.pop<World>(); break;
        }
    }
}

// ------------------------------------------------------------------------------------------- objects

Object& Machine::make_object(Slot owner, u64 size, ObjectKind kind, i32 site) {
    Space& space = spaces_[owner];
    const u64 at = space.bytes.size();
    const u64 padded = (std::max<u64>(size, 1) + 7) & ~u64{7};
    space.bytes.resize(at + padded, 0);
    space.undefined.resize(at + padded, 0xff);
    if (options_.follow_pointers) space.pointers.resize((at + padded) / 8, 0);
    space.objects.push_back({at, static_cast<u32>(size), 0, 0, site, -1, kind, true, false, false});
    trail_.push(owner);
    trail_.push(Record::object_made);
    return space.objects.back();
}

void Machine::end_object(Slot owner, u64 number, i32 pc) {
    Object& object = spaces_[owner].objects[number];
    trail_.push(SavedObject{owner, number, object.freed_at, object.alive});
    trail_.push(Record::object_ended);
    object.alive = false;
    object.freed_at = pc;
}

bool Machine::leaves_shared_objects(const Thread& thread, u32 down_to) const {
    if (thread.state.stack == down_to) return false;
    const Space& space = spaces_[static_cast<std::size_t>(&thread - threads_.data())];
    for (u32 number = thread.state.stack; number != down_to; number = space.objects[number].below)
        if (!space.objects[number].is_private) return true;
    return false;
}

// A function's local variables die when it returns. Private ones cannot be reached any more: nothing to do.
void Machine::end_stack_objects(Slot slot, u32 down_to, i32 pc) {
    Thread& thread = threads_[slot];
    for (u32 number = thread.state.stack; number != down_to;) {
        const Object& object = spaces_[slot].objects[number];
        if (!object.is_private) {
            if (world_.several)
                accesses_.push_back({address_of(slot, number), std::max<u64>(object.size, 1), 0, false, true, Commuting::no, Ordering::lifetime});
            end_object(slot, number, pc);
        }
        number = object.below;
    }
    thread.state.stack = down_to;
}

const Object* Machine::object(Address address) const {
    const u64 object = object_of(address);
    const Space& space = spaces_[owner_of(object)];
    return number_of(object) < space.objects.size() ? &space.objects[number_of(object)] : nullptr;
}

void Machine::poke(Address address, u32 size, u64 value) {
    const Object* found = object(address);
    const u64 id = object_of(address);
    const u64 at = found->at + (address - (id << offset_bits));
    save_bytes(owner_of(id), at, size);
    put(&spaces_[owner_of(id)].bytes[at], value, size);
    put(&spaces_[owner_of(id)].undefined[at], 0, size);
}

bool Machine::read(Address address, std::span<u8> into) const {
    const Object* found = object(address);
    const u64 id = object_of(address);
    const u64 offset = address - (id << offset_bits);
    if (found == nullptr || offset > found->size || into.size() > found->size - offset) return false;
    std::copy_n(spaces_[owner_of(id)].bytes.begin() + static_cast<std::ptrdiff_t>(found->at + offset), into.size(), into.begin());
    return true;
}

std::optional<u64> Machine::defined_value(Address address, u64 size) const {
    const Object* found = object(address);
    const u64 id = object_of(address);
    const u64 offset = address - (id << offset_bits);
    if (found == nullptr || size > 8 || offset > found->size || size > found->size - offset) return {};
    const Space& space = spaces_[owner_of(id)];
    u64 value = 0, undefined = 0;
    std::memcpy(&value, &space.bytes[found->at + offset], size);
    std::memcpy(&undefined, &space.undefined[found->at + offset], size);
    return undefined == 0 || !options_.uninitialised ? std::optional(value) : std::nullopt;
}

// ------------------------------------------------------------------------------------------- threads

Slot Machine::find_name(Slot parent, u32 child) {
    for (Slot slot = 2; slot < names_.size(); ++slot)
        if (names_[slot].parent == parent && names_[slot].child == child) return slot;
    if (names_.size() == max_slots) return 0;
    names_.push_back({parent, child});
    return static_cast<Slot>(names_.size() - 1);
}

void Machine::push_frame(Slot slot, u32 function, i32 result) {
    Thread& thread = threads_[slot];
    const FunctionCode& callee = code_.functions[function];
    const u32 base = thread.state.top;
    thread.state.top += callee.registers;
    if (thread.values.size() < thread.state.top) {
        thread.values.resize(std::max<std::size_t>(2 * thread.values.size(), thread.state.top));
        thread.undefined.resize(thread.values.size());
        if (options_.follow_pointers) thread.pointers.resize(thread.values.size());
    }
    const Frame frame{epoch_, function, callee.entry, base, result, thread.state.stack};
    if (thread.frames.size() == thread.state.frames) thread.frames.push_back(frame);
    else thread.frames[thread.state.frames] = frame;
    ++thread.state.frames;
}

void Machine::start_thread(Slot slot, u32 function, std::span<const u64> arguments, std::span<const u64> undefined, std::span<const u8> pointers) {
    save_world();
    trail_.push(slot);
    trail_.push(Record::thread_made);
    world_.threads |= u64{1} << slot;
    world_.several = slot != 1;
    Thread& thread = threads_[slot];
    thread.state = {0, 0, 0, 0, 0, Status::ready, false};
    thread.held.count = 0;
    thread.saved = epoch_;
    Space& space = spaces_[slot];
    const Object& block = make_object(slot, code_.thread_block_size, ObjectKind::thread, -1);
    std::fill(space.undefined.begin() + static_cast<std::ptrdiff_t>(block.at), space.undefined.end(), u8{0});
    for (u32 i = 0; i < code_.thread_locals.size(); ++i) {
        const ThreadLocalData& data = code_.thread_locals[i];
        Object& object = make_object(slot, data.bytes.size(), ObjectKind::thread_local_, -1);
        object.index = i;
        object.is_private = data.is_private;
        std::ranges::copy(data.bytes, space.bytes.begin() + static_cast<std::ptrdiff_t>(object.at));
        std::fill(space.undefined.begin() + static_cast<std::ptrdiff_t>(object.at), space.undefined.end(), u8{0});
    }
    if (slot == 1 && options_.follow_pointers) {
        written_locals_.initial = space.bytes;
        written_locals_.known.resize(space.bytes.size() / 8);
    }
    push_frame(slot, function, -1);
    std::ranges::copy(arguments, thread.values.begin());
    std::ranges::copy(undefined, thread.undefined.begin());
    if (options_.follow_pointers) std::ranges::copy(pointers, thread.pointers.begin());
    resume(slot, false);
}

void Machine::claim(Slot slot, Claim claim) {
    claims_.push_back(claim);
    if (!world_.several) return;  // with nobody else there, a lock can be made anew while it is held
    HeldLocks& held = threads_[slot].held;
    const auto end = held.locks.begin() + held.count;
    const bool takes = claim.kind == ClaimKind::acquire || claim.kind == ClaimKind::try_;
    const auto found = std::find(held.locks.begin(), end, claim.lock);
    if (takes ? held.count == held.locks.size() : claim.kind != ClaimKind::release || found == end) return;
    trail_.push(held);
    trail_.push(slot);
    trail_.push(Record::locks);
    if (takes) held.locks[held.count++] = claim.lock;
    else *found = held.locks[--held.count];
}

void Machine::fail(Slot slot, Fault fault, Address address, u64 size) {
    threads_[slot].state.status = Status::failed;
    if (recording_) record({OperationKind::fail, slot, {}, address, size, {}, {}, false});
    if (world_.failed) return;
    save_world();
    world_.failed = true;
    failure_ = {fault, slot, address, size, frames(slot)};
}

void Machine::note(u32 pc, Operation operation) {
    Thread& thread = threads_[operation.thread];
    thread.frames[thread.state.frames - 1].pc = pc;
    record(std::move(operation));
}

void Machine::record(Operation operation) {
    operation.frames = frames(operation.thread);
    operations_.push_back(std::move(operation));
    if (operations_.size() < forget_at_) return;
    // A long local computation is no part of a trace: of accesses that nobody else can see, only the latest are kept.
    const auto half = operations_.begin() + static_cast<std::ptrdiff_t>(operations_.size() / 2);
    const auto kept = std::remove_if(operations_.begin(), half, [](const Operation& old) {
        return !old.visible && (old.kind == OperationKind::load || old.kind == OperationKind::store);
    });
    operations_.erase(kept, half);
    forget_at_ = std::max(most_recorded, 2 * operations_.size());
}

std::vector<u32> Machine::frames(Slot slot) const {
    std::vector<u32> positions;
    const Thread& thread = threads_[slot];
    for (u32 i = thread.state.frames; i-- > 0;) positions.push_back(thread.frames[i].pc);
    return positions;
}

// ------------------------------------------------------------------------------------------- stepping

Machine::Outcome Machine::step(Slot slot, std::span<const u32> choices) {
    accesses_.clear();
    ranges_.clear();
    claims_.clear();
    guard_accesses_ = 0;
    assumes_ = false;
    const Op op = code_.instructions[position(slot)].op;
    section_ = op == Op::atomic_begin;
    own_section_ = section_ && !code_.functions[threads_[slot].frames[threads_[slot].state.frames - 1].function].library;
    varies_ = section_ || op == Op::compare_exchange;
    choices_ = choices;
    touch(slot);
    const bool paused = std::exchange(threads_[slot].state.paused, false);
    const Outcome outcome = resume(slot, !paused) == Stop::blocked ? Outcome::blocked : Outcome::done;
    if (!touched_.empty()) summarise_memory();
    // Even an event that touches nothing needs the process to be alive, which `exit` ends.
    if (accesses_.empty()) accesses_.push_back({address_of(slot, 0) + code_.thread_block_size - 1, 1, 0, true, false, Commuting::no, Ordering::seq_cst});
    return outcome;
}

void Machine::next(Slot slot, std::span<const u32> choices, Next& next) {
    next.accesses.clear();
    next.ranges.clear();
    next.waiting.reset();
    next.enabled = false;
    if (status(slot) != Status::ready || world_.exited) return;
    // Take the event, look, and go back.
    const Mark before = mark();
    const bool recording = std::exchange(recording_, false);
    probing_ = true;
    const Outcome outcome = step(slot, choices);
    probing_ = false;
    recording_ = recording;
    next.enabled = outcome == Outcome::done;
    std::swap(next.accesses, accesses_);
    std::swap(next.ranges, ranges_);
    if (!next.enabled) next.waiting = waiting_;
    rewind(before);
}

// The interpreter. Runs thread `slot` until its next event; with `take`, it first executes the event that the thread stands
// before. In an atomic section every access belongs to the event that the section is.
template <bool Shadow, bool Pointers>
Machine::Stop Machine::run(Slot slot, bool take) {
    Thread& thread = threads_[slot];
    const Instruction* const code = code_.instructions.data();
    const Constant* const constants = code_.constants.data();
    u32 pc = 0;
    u64* values = nullptr;
    u64* undefined = nullptr;
    u8* pointers = nullptr;
    u64 budget = options_.pause_after != 0 ? options_.pause_after : options_.instruction_limit;
    u64 spare = options_.instruction_limit - std::min(budget, options_.instruction_limit);
    const bool probing = probing_ && take;
    bool taken = false;  // the event is over; what follows is local

    const auto enter = [&]() INLINED {  // the top frame has changed
        const Frame& frame = thread.frames[thread.state.frames - 1];
        pc = frame.pc;
        values = thread.values.data() + frame.base;
        undefined = thread.undefined.data() + frame.base;
        if constexpr (Pointers) pointers = thread.pointers.data() + frame.base;
    };
    const auto value = [&](i32 operand) INLINED { return operand >= 0 ? values[operand] : constants[~operand].value; };
    const auto undef = [&](i32 operand) INLINED -> u64 {
        if constexpr (!Shadow) return 0;
        return operand >= 0 ? undefined[operand] : constants[~operand].undefined;
    };
    const auto set = [&](i32 dst, u64 result, u64 unknown) INLINED {
        if (dst < 0) return;
        values[dst] = result;
        if constexpr (Shadow) undefined[dst] = unknown;
        if constexpr (Pointers) pointers[dst] = 0;
    };
    // Which registers are pointers to blocks: the address of a new block is one, and what is copied or moved within its block stays
    // one. Whoever makes anything else of it than following it or comparing it for equality can tell blocks apart by their addresses.
    const auto pointer = [&](i32 operand) INLINED -> bool {
        if constexpr (!Pointers) return false;
        return operand >= 0 && pointers[operand] != 0;
    };
    const auto set_pointer = [&](i32 dst, bool is_pointer) INLINED {
        if constexpr (Pointers)
            if (dst >= 0) pointers[dst] = is_pointer;
    };
    // A number that could be the address of a block, but was made up.
    const auto guessed = [&](u64 address) INLINED {
        const u64 id = object_of(address);
        return owner_of(id) != 0 && number_of(id) > code_.thread_locals.size();
    };
    const auto compare_pointers = [&](i32 a, i32 b) INLINED {
        if constexpr (Pointers)
            if (pointer(a) != pointer(b) && guessed(value(pointer(a) ? b : a))) addresses_matter_ = true;
    };
    const auto look_at = [&](auto... operands) INLINED {
        if constexpr (Pointers)
            if ((pointer(operands) || ...)) addresses_matter_ = true;
    };
    // The lowest bits of an address say where in its block it points, which is the same whatever the block is called. Whether such an
    // operation with a number changes only those.
    constexpr u64 low = (u64{1} << offset_bits) - 1;
    const auto changes_low_bits = [](bool is_and, u64 number) INLINED { return is_and ? (number | low) == ~u64{0} : number <= low; };
    // Whether the result of a bitwise operation is a pointer: one that was marked or rounded. Looking at its lowest bits gives a number.
    const auto marked_pointer = [&](const Instruction& in, u64 a, u64 b, u64 result) INLINED {
        if (!pointer(in.a) && !pointer(in.b)) return false;
        if (pointer(in.a) != pointer(in.b)) {
            const u64 number = pointer(in.a) ? b : a;
            if (in.op == Op::and_ && number <= low) return false;
            if (changes_low_bits(in.op == Op::and_, number) && object_of(result) == object_of(pointer(in.a) ? a : b)) return true;
        }
        addresses_matter_ = true;
        return false;
    };
    // Whether the result of arithmetic is a pointer into the same block as one of the operands; how far two lie apart in one is a number.
    const auto moved_pointer = [&](const Instruction& in, u64 a, u64 b, u64 result) INLINED {
        if (!pointer(in.a) && !pointer(in.b)) return false;
        const u64 block = object_of(pointer(in.a) ? a : b);
        if (pointer(in.a) && pointer(in.b)) {
            if (in.op == Op::sub && object_of(b) == block) return false;
        } else if ((in.op == Op::add || (in.op == Op::sub && pointer(in.a))) && object_of(result) == block) {
            return true;
        }
        addresses_matter_ = true;
        return false;
    };
    const auto leave = [&](Stop stop) INLINED {
        thread.frames[thread.state.frames - 1].pc = pc;
        executed_ += options_.instruction_limit - spare - budget;
        return stop;
    };
    const auto failing = [&](Fault fault, Address address = 0, u64 size = 0) INLINED {
        thread.frames[thread.state.frames - 1].pc = pc;
        fail(slot, fault, address, size);
        return leave(Stop::ended);
    };
    // Whether an event may happen here and now; if not, the thread stops before it.
    const auto may_take = [&]() INLINED {
        if (thread.state.depth != 0) return true;
        if (!take) return false;
        take = false;
        taken = true;
        return true;
    };

    // An access to `size` bytes at `address`: finds the bytes, or says what is wrong.
    struct Place {
        Object* object;
        Slot owner;
        u64 at;
        bool shared;
    };
    const auto locate = [&](Address address, u64 size, u64 align, bool writing, Place& place) -> std::optional<Fault> {
        const u64 id = object_of(address);
        place.owner = owner_of(id);
        Space& space = spaces_[place.owner];
        if (number_of(id) >= space.objects.size()) return Fault::wild;
        Object& object = space.objects[number_of(id)];
        place.object = &object;
        const u64 offset = address - (id << offset_bits);
        if (offset > object.size || size > object.size - offset) [[unlikely]] {
            if (object.kind == ObjectKind::null) return Fault::null;
            if (object.kind == ObjectKind::function) return Fault::not_data;
            return Fault::bounds;
        }
        if ((address & (align - 1)) != 0) [[unlikely]] return Fault::misaligned;
        if (writing && object.constant) [[unlikely]] return Fault::read_only;
        // Only a made-up address gets here: nobody else was ever told where it is.
        if (object.is_private && place.owner != slot) [[unlikely]] return Fault::wild;
        place.at = object.at + offset;
        place.shared = world_.several && !object.is_private && !object.constant;
        return std::nullopt;
    };
    const auto dead = [](const Object& object) { return object.kind == ObjectKind::heap ? Fault::freed : Fault::returned; };

    const auto integer_binary = [&](const Instruction& in, auto function) INLINED {
        const u64 a = value(in.a), b = value(in.b), unknown = undef(in.a) | undef(in.b);
        const u64 result = function(a, b) & mask(in.bits);
        const bool is_pointer = moved_pointer(in, a, b, result);
        set(in.dst, result, spoil_left(unknown, in.bits));
        set_pointer(in.dst, is_pointer);
    };
    const auto float_binary = [&](const Instruction& in, auto function) INLINED {
        look_at(in.a, in.b);
        set(in.dst, in_float(value(in.a), value(in.b), in.bits, function), spoil_all(undef(in.a) | undef(in.b), in.bits));
    };
    const auto compare = [&](const Instruction& in, bool result) INLINED {
        if (pointer(in.a) != pointer(in.b) || (pointer(in.a) && object_of(value(in.a)) != object_of(value(in.b)))) look_at(in.a, in.b);
        set(in.dst, result ? 1 : 0, (undef(in.a) | undef(in.b)) != 0 ? 1 : 0);
    };
    const auto compare_signed = [&](const Instruction& in, auto function) INLINED {
        compare(in, function(as_signed(value(in.a), in.bits), as_signed(value(in.b), in.bits)));
    };
    const auto compare_float = [&](const Instruction& in, auto function) INLINED {
        compare(in, function(as_double(value(in.a), in.bits), as_double(value(in.b), in.bits)));
    };
    const auto float_unary = [&](const Instruction& in, auto function) INLINED {
        look_at(in.a);
        set(in.dst, in_float(value(in.a), 0, in.bits, [&](auto x, auto) { return function(x); }), spoil_all(undef(in.a), in.bits));
    };
    const auto unordered = [](double x, double y) { return std::isnan(x) || std::isnan(y); };

    enter();
    for (;;) {
        if (taken && probing && thread.state.depth == 0) return leave(Stop::event);
        const Instruction& in = code[pc];
        if (budget == 0) [[unlikely]] {
            if (options_.pause_after != 0 && thread.state.depth == 0) {
                thread.state.paused = true;
                return leave(Stop::event);
            }
            if (spare == 0) return failing(Fault::too_many_instructions);
            budget = std::exchange(spare, 0);
        }
        --budget;
        switch (in.op) {
            case Op::move: {
                const bool is_pointer = pointer(in.a);
                set(in.dst, value(in.a), undef(in.a));
                set_pointer(in.dst, is_pointer);
                break;
            }
            case Op::add: integer_binary(in, [](u64 a, u64 b) { return a + b; }); break;
            case Op::sub: integer_binary(in, [](u64 a, u64 b) { return a - b; }); break;
            case Op::mul: integer_binary(in, [](u64 a, u64 b) { return a * b; }); break;
            case Op::udiv:
            case Op::urem:
            case Op::sdiv:
            case Op::srem: {
                const u64 a = value(in.a), b = value(in.b);
                if (pointer(in.b) || in.op != Op::urem || !std::has_single_bit(b) || b > low + 1) look_at(in.a, in.b);
                if (b == 0) return failing(Fault::division_by_zero);
                const i64 x = as_signed(a, in.bits), y = as_signed(b, in.bits);
                u64 result = 0;
                if (in.op == Op::udiv) result = a / b;
                else if (in.op == Op::urem) result = a % b;
                else if (y == -1 && a == u64{1} << (in.bits - 1)) return failing(Fault::division_overflow);
                else result = static_cast<u64>(in.op == Op::sdiv ? x / y : x % y) & mask(in.bits);
                set(in.dst, result, spoil_all(undef(in.a) | undef(in.b), in.bits));
                break;
            }
            case Op::and_: {
                const u64 a = value(in.a), b = value(in.b);
                const bool is_pointer = marked_pointer(in, a, b, a & b);
                set(in.dst, a & b, undefined_and(a, undef(in.a), b, undef(in.b)));
                set_pointer(in.dst, is_pointer);
                break;
            }
            case Op::or_: {
                const u64 a = value(in.a), b = value(in.b);
                const bool is_pointer = marked_pointer(in, a, b, a | b);
                set(in.dst, a | b, undefined_or(a, undef(in.a), b, undef(in.b)));
                set_pointer(in.dst, is_pointer);
                break;
            }
            case Op::xor_: {
                const u64 a = value(in.a), b = value(in.b);
                const bool is_pointer = marked_pointer(in, a, b, a ^ b);
                set(in.dst, a ^ b, undef(in.a) | undef(in.b));
                set_pointer(in.dst, is_pointer);
                break;
            }
            case Op::shl:
            case Op::lshr:
            case Op::ashr: {
                const u64 a = value(in.a), by = std::min<u64>(value(in.b), in.bits);
                look_at(in.a, in.b);
                const auto shifted = [&](u64 x, bool sign) -> u64 {
                    if (in.op == Op::shl) return by == 64 ? 0 : (x << by) & mask(in.bits);
                    if (in.op == Op::lshr || !sign) return by == 64 ? 0 : x >> by;
                    return static_cast<u64>(as_signed(x, in.bits) >> std::min<u64>(by, 63)) & mask(in.bits);
                };
                const u64 unknown = undef(in.b) != 0 ? mask(in.bits) : shifted(undef(in.a), true);
                set(in.dst, shifted(a, true), unknown);
                break;
            }
            case Op::fadd: float_binary(in, [](auto x, auto y) { return x + y; }); break;
            case Op::fsub: float_binary(in, [](auto x, auto y) { return x - y; }); break;
            case Op::fmul: float_binary(in, [](auto x, auto y) { return x * y; }); break;
            case Op::fdiv: float_binary(in, [](auto x, auto y) { return x / y; }); break;
            case Op::frem: float_binary(in, [](auto x, auto y) { return std::fmod(x, y); }); break;
            case Op::eq: {
                const u64 a = value(in.a), b = value(in.b);
                compare_pointers(in.a, in.b);
                set(in.dst, a == b ? 1 : 0, undefined_equal(a, undef(in.a), b, undef(in.b)));
                break;
            }
            case Op::ne: {
                const u64 a = value(in.a), b = value(in.b);
                compare_pointers(in.a, in.b);
                set(in.dst, a != b ? 1 : 0, undefined_equal(a, undef(in.a), b, undef(in.b)));
                break;
            }
            case Op::ult: compare(in, value(in.a) < value(in.b)); break;
            case Op::ule: compare(in, value(in.a) <= value(in.b)); break;
            case Op::ugt: compare(in, value(in.a) > value(in.b)); break;
            case Op::uge: compare(in, value(in.a) >= value(in.b)); break;
            case Op::slt: compare_signed(in, [](i64 a, i64 b) { return a < b; }); break;
            case Op::sle: compare_signed(in, [](i64 a, i64 b) { return a <= b; }); break;
            case Op::sgt: compare_signed(in, [](i64 a, i64 b) { return a > b; }); break;
            case Op::sge: compare_signed(in, [](i64 a, i64 b) { return a >= b; }); break;
            case Op::foeq: compare_float(in, [](double x, double y) { return x == y; }); break;
            case Op::fone: compare_float(in, [&](double x, double y) { return !unordered(x, y) && x != y; }); break;
            case Op::folt: compare_float(in, [](double x, double y) { return x < y; }); break;
            case Op::fole: compare_float(in, [](double x, double y) { return x <= y; }); break;
            case Op::fogt: compare_float(in, [](double x, double y) { return x > y; }); break;
            case Op::foge: compare_float(in, [](double x, double y) { return x >= y; }); break;
            case Op::ford: compare_float(in, [&](double x, double y) { return !unordered(x, y); }); break;
            case Op::fueq: compare_float(in, [&](double x, double y) { return unordered(x, y) || x == y; }); break;
            case Op::fune: compare_float(in, [](double x, double y) { return x != y; }); break;
            case Op::fult: compare_float(in, [](double x, double y) { return !(x >= y); }); break;
            case Op::fule: compare_float(in, [](double x, double y) { return !(x > y); }); break;
            case Op::fugt: compare_float(in, [](double x, double y) { return !(x <= y); }); break;
            case Op::fuge: compare_float(in, [](double x, double y) { return !(x < y); }); break;
            case Op::funo: compare_float(in, [&](double x, double y) { return unordered(x, y); }); break;
            case Op::trunc:
                look_at(in.a);
                set(in.dst, value(in.a) & mask(in.bits), undef(in.a) & mask(in.bits));
                break;
            case Op::sext: {
                look_at(in.a);
                const u32 from = static_cast<u32>(in.imm);
                const auto extend = [&](u64 x) { return static_cast<u64>(as_signed(x, from)) & mask(in.bits); };
                set(in.dst, extend(value(in.a)), extend(undef(in.a)));
                break;
            }
            case Op::fptosi:
            case Op::fptoui: {
                look_at(in.a);
                const double x = as_double(value(in.a), static_cast<u32>(in.imm));
                set(in.dst, to_integer(x, in.op == Op::fptosi) & mask(in.bits), spoil_all(undef(in.a), in.bits));
                break;
            }
            case Op::sitofp:
            case Op::uitofp: {
                const u64 a = value(in.a);
                look_at(in.a);
                const i64 x = as_signed(a, static_cast<u32>(in.imm));
                u64 result = 0;
                if (in.bits == 32) result = std::bit_cast<u32>(in.op == Op::sitofp ? static_cast<float>(x) : static_cast<float>(a));
                else result = std::bit_cast<u64>(in.op == Op::sitofp ? static_cast<double>(x) : static_cast<double>(a));
                set(in.dst, result, spoil_all(undef(in.a), in.bits));
                break;
            }
            case Op::fpext:
            case Op::fptrunc: {
                look_at(in.a);
                const double x = as_double(value(in.a), static_cast<u32>(in.imm));
                set(in.dst, from_double(x, in.bits), spoil_all(undef(in.a), in.bits));
                break;
            }
            case Op::fneg:
                look_at(in.a);
                set(in.dst, value(in.a) ^ u64{1} << (in.bits - 1), undef(in.a));
                break;
            case Op::fabs: float_unary(in, [](auto x) { return std::fabs(x); }); break;
            case Op::fsqrt: float_unary(in, [](auto x) { return std::sqrt(x); }); break;
            case Op::ffloor: float_unary(in, [](auto x) { return std::floor(x); }); break;
            case Op::fceil: float_unary(in, [](auto x) { return std::ceil(x); }); break;
            case Op::ftrunc: float_unary(in, [](auto x) { return std::trunc(x); }); break;
            case Op::fround: float_unary(in, [](auto x) { return std::round(x); }); break;
            case Op::ctpop:
                look_at(in.a);
                set(in.dst, static_cast<u64>(std::popcount(value(in.a))), spoil_all(undef(in.a), in.bits));
                break;
            case Op::ctlz: {
                look_at(in.a);
                const u64 zeros = static_cast<u64>(std::countl_zero(value(in.a))) - (64u - in.bits);
                set(in.dst, zeros, spoil_all(undef(in.a), in.bits));
                break;
            }
            case Op::cttz: {
                look_at(in.a);
                const u64 zeros = std::min<u64>(static_cast<u64>(std::countr_zero(value(in.a))), in.bits);
                set(in.dst, zeros, spoil_all(undef(in.a), in.bits));
                break;
            }
            case Op::bswap:
                look_at(in.a);
                set(in.dst, byte_swap(value(in.a), in.bits), byte_swap(undef(in.a), in.bits));
                break;
            case Op::bitreverse:
                look_at(in.a);
                set(in.dst, bit_reverse(value(in.a), in.bits), bit_reverse(undef(in.a), in.bits));
                break;
            case Op::select: {
                const bool condition = value(in.a) != 0;
                const i32 chosen = condition ? in.b : in.c;
                const bool is_pointer = pointer(chosen);
                set(in.dst, value(chosen), undef(in.a) != 0 ? mask(in.bits) : undef(chosen));
                set_pointer(in.dst, is_pointer);
                break;
            }
            case Op::offset: {
                const u64 base = value(in.a);
                u64 result = base + value(in.b) * static_cast<u64>(i64{in.d}) + in.imm;
                // A pointer never becomes one to another object, however far it strays.
                if (object_of(result) != object_of(base)) [[unlikely]] {
                    result |= u64{1} << 63;
                    look_at(in.a);
                }
                look_at(in.b);
                const bool is_pointer = pointer(in.a) && object_of(result) == object_of(base);
                set(in.dst, result, spoil_left(undef(in.a) | undef(in.b), 64));
                set_pointer(in.dst, is_pointer);
                break;
            }

            case Op::load:
            case Op::store:
            case Op::update:
            case Op::compare_exchange: {
                const Address address = value(in.a);
                const bool storing = in.op == Op::store;
                if (Shadow && undef(in.a) != 0) return failing(Fault::undefined_address, address, in.size);
                if (Pointers && !pointer(in.a) && guessed(address)) addresses_matter_ = true;
                Place place{};
                if (const auto fault = locate(address, in.size, in.imm, in.op != Op::load, place)) return failing(*fault, address, in.size);
                Space& space = spaces_[place.owner];
                u8* const bytes = &space.bytes[place.at];
                u8* const unknown = &space.undefined[place.at];
                if (place.shared) {
                    if (!may_take()) return leave(Stop::event);
                    bool writes = in.op != Op::load;
                    if (in.op == Op::compare_exchange) writes = (get(bytes, in.size) & mask(in.bits)) == value(in.b);
                    const auto commuting = in.op == Op::update && in.dst < 0 ? commuting_class[static_cast<std::size_t>(in.d)] : Commuting::no;
                    const auto ordering = thread.state.depth != 0 && !guarded_ ? Ordering::seq_cst : static_cast<Ordering>(in.c);
                    const bool known = writes && (!Shadow || get(unknown, in.size) == 0);
                    accesses_.push_back({address, in.size, writes ? get(bytes, in.size) : 0, !storing, writes, commuting, ordering, known, in.op == Op::compare_exchange});
                }
                if (!place.object->alive) [[unlikely]] return failing(dead(*place.object), address, in.size);
                // A pointer fills a word; whoever sees or writes part of one takes it for bytes.
                const bool whole = in.bits == 64 && place.at % 8 == 0;
                bool holds_pointer = false;
                if constexpr (Pointers) {
                    holds_pointer = (space.pointers[place.at / 8] | space.pointers[(place.at + in.size - 1) / 8]) != 0;
                    const i32 written = storing || in.op == Op::update ? in.b : in.op == Op::load ? -1 : code_.operands[static_cast<std::size_t>(in.d)];
                    if (!whole && (holds_pointer || pointer(written))) addresses_matter_ = true;
                }
                const auto put_pointer = [&](bool is_pointer) {
                    if constexpr (Pointers) space.pointers[place.at / 8] = space.pointers[(place.at + in.size - 1) / 8] = whole && is_pointer;
                };
                if (in.op == Op::load) {
                    const u64 loaded = get(bytes, in.size) & mask(in.bits);
                    set(in.dst, loaded, Shadow ? get(unknown, in.size) & mask(in.bits) : 0);
                    set_pointer(in.dst, whole && holds_pointer);
                    if (recording_) note(pc, {OperationKind::load, slot, {}, address, in.size, loaded, {}, place.shared});
                    break;
                }
                save_bytes(place.owner, place.at, in.size);
                if (storing) {
                    put(bytes, value(in.b), in.size);
                    if constexpr (Shadow) put(unknown, undef(in.b), in.size);
                    put_pointer(pointer(in.b));
                    if (recording_) note(pc, {OperationKind::store, slot, {}, address, in.size, {}, value(in.b), place.shared});
                    break;
                }
                const u64 old = get(bytes, in.size) & mask(in.bits);
                const u64 old_unknown = Shadow ? get(unknown, in.size) & mask(in.bits) : 0;
                if (in.op == Op::update) {
                    const auto op = static_cast<UpdateOp>(in.d);
                    const u64 operand = value(in.b), operand_unknown = undef(in.b);
                    const u64 result = updated(op, old, operand, in.bits);
                    put(bytes, result, in.size);
                    if constexpr (Shadow) put(unknown, undefined_updated(op, old, old_unknown, operand, operand_unknown, in.bits), in.size);
                    if (op == UpdateOp::exchange) {
                        put_pointer(pointer(in.b));
                    } else if (holds_pointer || pointer(in.b)) {
                        const bool moves = op == UpdateOp::add || op == UpdateOp::sub;
                        const bool marks = (op == UpdateOp::and_ || op == UpdateOp::or_ || op == UpdateOp::xor_) && changes_low_bits(op == UpdateOp::and_, operand);
                        if (pointer(in.b) || !(moves || marks) || object_of(result) != object_of(old)) addresses_matter_ = true;
                    }
                    set(in.dst, old, old_unknown);
                    set_pointer(in.dst, holds_pointer);
                    if (recording_) note(pc, {OperationKind::update, slot, {}, address, in.size, old, result, place.shared});
                    break;
                }
                const u64 expected = expected_ = value(in.b);
                if (Pointers && holds_pointer != pointer(in.b) && guessed(holds_pointer ? expected : old)) addresses_matter_ = true;
                const i32 desired = code_.operands[static_cast<std::size_t>(in.d)];
                const i32 success = code_.operands[static_cast<std::size_t>(in.d) + 1];
                const bool swaps = old == expected;
                const u64 doubt = undefined_equal(old, old_unknown, expected, undef(in.b));
                const u64 written = value(desired), written_unknown = undef(desired);
                if (swaps) {
                    put(bytes, written, in.size);
                    if constexpr (Shadow) put(unknown, written_unknown, in.size);
                    put_pointer(pointer(desired));
                }
                set(in.dst, old, old_unknown);
                set_pointer(in.dst, holds_pointer);
                set(success, swaps ? 1 : 0, doubt);
                if (recording_) {
                    Operation done{OperationKind::compare_exchange, slot, {}, address, in.size, old, {}, place.shared};
                    if (swaps) done.written = written;
                    note(pc, std::move(done));
                }
                break;
            }

            case Op::stack_alloc:
            case Op::heap_alloc: {
                const u64 size = value(in.a);
                if (Shadow && undef(in.a) != 0) return failing(Fault::undefined_address, 0, size);
                if (size > max_object_size || spaces_[slot].bytes.size() + size > max_space) return failing(Fault::too_large, 0, size);
                const bool on_stack = in.op == Op::stack_alloc;
                Object& object = make_object(slot, size, on_stack ? ObjectKind::stack : ObjectKind::heap, static_cast<i32>(pc));
                const u64 number = spaces_[slot].objects.size() - 1;
                if (on_stack) {
                    object.is_private = in.c != 0;
                    object.below = thread.state.stack;
                    thread.state.stack = static_cast<u32>(number);
                } else if (in.c != 0) {
                    auto& unknown = spaces_[slot].undefined;
                    std::fill(unknown.begin() + static_cast<std::ptrdiff_t>(object.at), unknown.end(), u8{0});
                }
                set(in.dst, address_of(slot, number), 0);
                set_pointer(in.dst, true);
                if (recording_ && !on_stack) note(pc, {OperationKind::allocate, slot, {}, address_of(slot, number), size, {}, size, false});
                break;
            }
            case Op::free_: {
                const Address address = value(in.a);
                if (Shadow && undef(in.a) != 0) return failing(Fault::undefined_address, address, 0);
                if (address == 0) break;
                if (Pointers && !pointer(in.a)) addresses_matter_ = true;
                Place place{};
                if (const auto fault = locate(address, 0, 1, false, place))
                    return failing(*fault == Fault::wild ? Fault::wild : Fault::invalid_free, address, 0);
                if (place.object->kind != ObjectKind::heap || place.at != place.object->at) return failing(Fault::invalid_free, address, 0);
                const u64 extent = std::max<u64>(place.object->size, 1);
                if (place.shared) {
                    if (!may_take()) return leave(Stop::event);
                    accesses_.push_back({address, extent, 0, false, true, Commuting::no, Ordering::plain});
                }
                if (!place.object->alive) return failing(Fault::double_free, address, place.object->size);
                end_object(place.owner, number_of(object_of(address)), static_cast<i32>(pc));
                if (recording_) note(pc, {OperationKind::free_, slot, {}, address, place.object->size, {}, {}, place.shared});
                break;
            }
            case Op::block_size: {
                const Address address = value(in.a);
                if (Shadow && undef(in.a) != 0) return failing(Fault::undefined_address, address, 0);
                if (Pointers && !pointer(in.a) && guessed(address)) addresses_matter_ = true;
                Place place{};
                if (const auto fault = locate(address, 0, 1, false, place)) return failing(*fault, address, 0);
                if (place.object->kind != ObjectKind::heap || place.at != place.object->at) return failing(Fault::invalid_free, address, 0);
                if (place.shared) {
                    if (!may_take()) return leave(Stop::event);
                    accesses_.push_back({address, 1, 0, true, false, Commuting::no, Ordering::lifetime});
                }
                if (!place.object->alive) return failing(Fault::freed, address, place.object->size);
                set(in.dst, place.object->size, 0);
                break;
            }
            case Op::thread_local_address: set(in.dst, address_of(slot, 1 + in.imm), 0); break;

            case Op::call:
            case Op::call_pointer: {
                u32 function = static_cast<u32>(in.imm);
                if (in.op == Op::call_pointer) {
                    const Address address = value(in.a);
                    if (Shadow && undef(in.a) != 0) return failing(Fault::undefined_address, address, 0);
                    const Object* target = object(address);
                    if (target == nullptr || target->kind != ObjectKind::function || (address & mask(offset_bits)) != 0)
                        return failing(address == 0 ? Fault::null : Fault::bad_call, address, 0);
                    function = target->index;
                    // C programs give arguments to functions that take none; the other way round is a mistake.
                    if (code_.functions[function].parameters > static_cast<u32>(in.d)) return failing(Fault::bad_call, address, 0);
                }
                if (thread.state.frames == max_frames) return failing(Fault::stack_overflow);
                const u32 caller = thread.frames[thread.state.frames - 1].base;
                thread.frames[thread.state.frames - 1].pc = pc;
                push_frame(slot, function, in.dst);
                values = thread.values.data() + caller;
                undefined = thread.undefined.data() + caller;
                if constexpr (Pointers) pointers = thread.pointers.data() + caller;
                const u32 callee = thread.frames[thread.state.frames - 1].base;
                for (u32 i = 0; i < code_.functions[function].parameters; ++i) {
                    const i32 argument = code_.operands[static_cast<u32>(in.c) + i];
                    thread.values[callee + i] = value(argument);
                    if constexpr (Shadow) thread.undefined[callee + i] = undef(argument);
                    if constexpr (Pointers) thread.pointers[callee + i] = pointer(argument);
                }
                enter();
                continue;
            }
            case Op::return_: {
                const u32 top = thread.state.frames - 1;
                if (top == 0) goto end_thread;
                const u32 down_to = thread.frames[top].stack;
                if (thread.state.stack != down_to) {
                    if (world_.several && leaves_shared_objects(thread, down_to) && !may_take()) return leave(Stop::event);
                    end_stack_objects(slot, down_to, static_cast<i32>(pc));
                }
                const bool has_value = in.b != 0;
                const u64 result = has_value ? value(in.a) : 0;
                const u64 unknown = has_value ? undef(in.a) : ~u64{0};
                const bool is_pointer = has_value && pointer(in.a);
                const i32 dst = thread.frames[top].result;
                thread.state.top = thread.frames[top].base;
                --thread.state.frames;
                if (thread.frames[top - 1].saved != epoch_) save_frame(slot, top - 1, true);
                ++thread.frames[top - 1].pc;
                enter();
                set(dst, result, unknown);
                set_pointer(dst, is_pointer);
                continue;
            }
            end_thread:
            case Op::end_thread: {
                // Models of library functions end threads in a section of their own.
                if (thread.state.depth > 1) return failing(Fault::section_not_ended);
                if (!may_take()) return leave(Stop::event);
                const Address block = address_of(slot, 0);
                accesses_.push_back({block, 4, 0, false, true, Commuting::no, Ordering::seq_cst, true});
                end_stack_objects(slot, 0, static_cast<i32>(pc));
                for (u32 i = 0; i < code_.thread_locals.size(); ++i) {
                    if (code_.thread_locals[i].is_private) continue;
                    const u64 size = std::max<u64>(code_.thread_locals[i].bytes.size(), 1);
                    accesses_.push_back({address_of(slot, 1 + i), size, 0, false, true, Commuting::no, Ordering::lifetime});
                    end_object(slot, 1 + i, static_cast<i32>(pc));
                }
                if constexpr (Pointers) {
                    // Nobody will see what is left of its thread-locals, but states are compared by what is in memory.
                    for (const u64 word : written_locals_.words) {
                        if (8 * word < code_.thread_block_size) continue;
                        save_bytes(slot, 8 * word, 8);
                        put(&spaces_[slot].bytes[8 * word], get(&written_locals_.initial[8 * word], 8), 8);
                        put(&spaces_[slot].undefined[8 * word], 0, 8);
                        spaces_[slot].pointers[word] = 0;
                    }
                }
                const u64 at = spaces_[slot].objects[0].at;
                save_bytes(slot, at, 4);
                put(&spaces_[slot].bytes[at], 1, 4);
                thread.state.status = Status::ended;
                thread.state.depth = 0;
                if (recording_) note(pc, {OperationKind::end, slot, {}, block, 4, {}, {}, true});
                return leave(Stop::ended);
            }
            case Op::spawn: {
                const Address address = value(in.a);
                const Object* target = object(address);
                if (target == nullptr || target->kind != ObjectKind::function || (address & mask(offset_bits)) != 0)
                    return failing(Fault::bad_call, address, 0);
                const u32 function = target->index;
                if (code_.functions[function].parameters > static_cast<u32>(in.d)) return failing(Fault::bad_call, address, 0);
                const Slot child = find_name(slot, ++thread.state.children);
                if (child == 0) return failing(Fault::too_many_threads);
                std::vector<u64> arguments, unknown;
                std::vector<u8> are_pointers;
                for (u32 i = 0; i < code_.functions[function].parameters; ++i) {
                    const i32 argument = code_.operands[static_cast<u32>(in.c) + i];
                    arguments.push_back(value(argument));
                    unknown.push_back(undef(argument));
                    are_pointers.push_back(pointer(argument));
                }
                if (recording_) note(pc, {OperationKind::spawn, slot, {}, address_of(child, 0), 0, {}, {}, true});
                start_thread(child, function, arguments, unknown, are_pointers);
                set(in.dst, address_of(child, 0), 0);
                break;
            }
            case Op::self: set(in.dst, address_of(slot, 0), 0); break;

            case Op::choose: {
                if (!may_take()) return leave(Stop::event);
                const u32 count = static_cast<u32>(value(in.a));
                if (Shadow && undef(in.a) != 0) return failing(Fault::undefined_branch);
                if (count > max_choices) return failing(Fault::too_many_choices, 0, count);
                if (count == 0) {
                    waiting_ = {pc, 0, 0};
                    return leave(Stop::blocked);
                }
                const u32 choice = ranges_.size() < choices_.size() ? choices_[ranges_.size()] : 0;
                if (choice >= count) {
                    waiting_ = {pc, 0, 0};
                    return leave(Stop::blocked);
                }
                ranges_.push_back(count);
                set(in.dst, choice, 0);
                if (recording_) note(pc, {OperationKind::choose, slot, {}, 0, 0, choice, count, true});
                break;
            }
            case Op::assume:
                // A section is one step, however long: were a bound its guard, it could be taken later as if nothing were missing.
                // And rounds that are made only to see whether a loop ever ends do not count.
                if (static_cast<Origin>(in.c) == Origin::bound && (ignoring_loops_ || thread.state.depth != 0)) {
                    if (ignoring_loops_) set(in.a, 0, 0);
                    break;
                }
                if (thread.state.depth != 0) {
                    guard_accesses_ = static_cast<u32>(accesses_.size());
                    assumes_ = true;
                }
                if (static_cast<Origin>(in.c) == Origin::loop) {
                    passed_ += pc == watched_ ? 1 : 0;
                    if (ignoring_loops_ || (Shadow && undef(in.a) != 0)) break;
                } else if (Shadow && undef(in.a) != 0) {
                    return failing(Fault::undefined_branch);
                }
                if (value(in.a) != 0) break;
                if (thread.state.depth != 0) {
                    waiting_ = {pc, 0, 0};
                    return leave(Stop::blocked);
                }
                thread.state.status = Status::stopped;
                if (recording_) note(pc, {OperationKind::stop, slot, {}, 0, 0, {}, {}, false});
                return leave(Stop::ended);
            case Op::await:
                if (thread.state.depth == 0) return failing(Fault::await_outside_section);
                guard_accesses_ = static_cast<u32>(accesses_.size());
                if (Shadow && undef(in.a) != 0) return failing(Fault::undefined_branch);
                if (value(in.a) != 0) break;
                waiting_ = {pc, value(in.b), value(in.c)};
                return leave(Stop::blocked);
            case Op::claim:
                // What else happens in a section around the lock's own is not known.
                if (options_.follow_locks && thread.state.depth == 1) claim(slot, {static_cast<ClaimKind>(in.c), value(in.a)});
                break;
            case Op::atomic_begin:
                if (!may_take()) return leave(Stop::event);
                if (recording_ && thread.state.depth == 0) note(pc, {OperationKind::section, slot, {}, 0, 0, {}, {}, true});
                if (thread.state.depth++ == 0) guarded_ = in.c != 0;
                break;
            case Op::atomic_end:
                if (thread.state.depth == 0) return failing(Fault::section_not_begun);
                --thread.state.depth;
                break;
            case Op::output:
                if (recording_) note(pc, {OperationKind::output, slot, {}, 0, 0, {}, value(in.a) & 0xff, false});
                break;

            case Op::jump: pc = static_cast<u32>(in.imm); continue;
            case Op::branch:
                if (Shadow && undef(in.a) != 0) return failing(Fault::undefined_branch);
                pc = value(in.a) != 0 ? static_cast<u32>(in.imm) : static_cast<u32>(in.d);
                continue;
            case Op::switch_: {
                if (Shadow && undef(in.a) != 0) return failing(Fault::undefined_branch);
                look_at(in.a);
                const u64 key = value(in.a);
                u32 target = static_cast<u32>(in.imm);
                for (i32 i = 0; i < in.d; ++i) {
                    const i32* entry = &code_.operands[static_cast<std::size_t>(in.c + 2 * i)];
                    if (value(entry[0]) == key) {
                        target = static_cast<u32>(entry[1]);
                        break;
                    }
                }
                pc = target;
                continue;
            }
            case Op::exit_:
                if (!may_take()) return leave(Stop::event);
                accesses_.push_back({0, everything, 0, false, true, Commuting::no, Ordering::lifetime});
                save_world();
                world_.exited = true;
                thread.state.status = Status::ended;
                thread.state.depth = 0;
                if (recording_) note(pc, {OperationKind::exit_, slot, {}, 0, 0, {}, value(in.a), true});
                return leave(Stop::ended);
            case Op::fail: return failing(static_cast<Fault>(in.c));
            case Op::unreachable: return failing(Fault::unreachable);
        }
        ++pc;
    }
}

// ------------------------------------------------------------------------------------------- looking

std::vector<u8> Machine::state() const {
    std::vector<u8> out;
    const auto put_bytes = [&](const void* data, std::size_t size) {
        const std::size_t at = out.size();
        out.resize(at + size);
        if (size != 0) std::memcpy(out.data() + at, data, size);
    };
    const auto put_word = [&](u64 word) { put_bytes(&word, sizeof word); };
    put_word(world_.threads);
    put_word(u64{world_.several} | u64{world_.exited} << 1 | u64{world_.failed} << 2);
    for (Slot slot = 0; slot < max_slots; ++slot) {
        if (slot != 0 && status(slot) == Status::absent) continue;
        const Thread& thread = threads_[slot];
        const ThreadState& state = thread.state;
        for (const u64 word : {u64{state.frames}, u64{state.top}, u64{state.depth}, u64{state.children}, u64{state.stack}, u64{static_cast<u8>(state.status)}})
            put_word(word);
        for (u32 i = 0; i < state.frames; ++i) {
            const Frame& frame = thread.frames[i];
            for (const u64 word : {u64{frame.function}, u64{frame.pc}, u64{frame.base}, static_cast<u64>(i64{frame.result}), u64{frame.stack}})
                put_word(word);
        }
        put_bytes(thread.values.data(), state.top * sizeof(u64));
        put_bytes(thread.undefined.data(), state.top * sizeof(u64));
        const Space& space = spaces_[slot];
        for (const Object& object : space.objects) {
            for (const u64 word : {object.at, u64{object.size}, u64{object.index}, u64{object.below}, static_cast<u64>(i64{object.site}),
                                   static_cast<u64>(i64{object.freed_at}), u64{static_cast<u8>(object.kind)},
                                   u64{object.alive} | u64{object.is_private} << 1 | u64{object.constant} << 2})
                put_word(word);
        }
        put_bytes(space.bytes.data(), space.bytes.size());
        put_bytes(space.undefined.data(), space.undefined.size());
    }
    return out;
}

}  // namespace mazurka
