#include "vm/machine.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace mazurka {

Machine::Machine(const Code& code, MachineOptions options, std::shared_ptr<ThreadNames> names)
    : code_(code),
      options_(options),
      threads_(max_slots),
      spaces_(max_slots),
      names_(std::move(names)),
      recording_(options.record) {
    if (options_.leaks) own_facts_ = std::make_shared<const CodeFacts>(code);
    uses_again_ =
        std::ranges::any_of(code.instructions, [](const auto& in) { return in.op == Op::heap_alloc && in.d != 0; });
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
        std::fill(spaces_[0].undefined.begin() + static_cast<std::ptrdiff_t>(object.at), spaces_[0].undefined.end(),
                  u8{0});
    }
    if (options_.follow_pointers) {
        written_globals_.initial = spaces_[0].bytes;
        written_globals_.known.resize(spaces_[0].bytes.size() / 8);
    }
    start_thread(1, code.entry, {}, {}, {});
    summarise_memory();
}

// ------------------------------------------------------------------------------------------- threads

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
    if (thread.frames.size() == thread.state.frames)
        thread.frames.push_back(frame);
    else
        thread.frames[thread.state.frames] = frame;
    ++thread.state.frames;
}

// The threads that have ended and were joined by `joiner`, or by a thread that was, and so on. All that they did comes
// before what `joiner` does next, so their slots can have other threads: as far as the order of steps goes, the old and
// the new one are one. (Which these are does not depend on anything that others do meanwhile.)
u64 Machine::joined_by(Slot joiner) const {
    const auto who_joined = [&](Slot slot) {
        const bool ended = slot > 1 && status(slot) == Status::ended;
        return ended ? static_cast<Slot>(get(&spaces_[slot].bytes[thread_joined], 4)) : Slot{0};
    };
    u64 joined = 0;
    for (Slot slot = 2; slot < max_slots; ++slot) {
        Slot by = who_joined(slot);
        while (by != joiner && by != 0) by = who_joined(by);
        if (by == joiner) joined |= u64{1} << slot;
    }
    return joined;
}

Machine::Room Machine::room_for_child(Slot parent) {
    // Some are kept as they are, so that whoever uses the handle of a thread that is gone is told.
    constexpr int most_kept = 8;
    const u64 joined = joined_by(parent);
    if (std::popcount(joined) < most_kept)
        if (const Slot slot = names_->find({parent, threads_[parent].state.children + 1}); slot != 0)
            return {slot, false};
    return {joined != 0 ? static_cast<Slot>(std::countr_zero(joined)) : Slot{0}, true};
}

void Machine::make_thread_objects(Slot slot) {
    Space& space = spaces_[slot];
    const Object& block = make_object(slot, thread_block_size, ObjectKind::thread, -1);
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
}

// The control block and the thread-locals of a thread that has ended, as they are at the start of one.
void Machine::renew_thread_objects(Slot slot) {
    Space& space = spaces_[slot];
    for (u32 number = 0; number <= code_.thread_locals.size(); ++number) {
        Object& object = space.objects[number];
        trail_.push(SavedObject{slot, number, object.freed_at, object.alive});
        trail_.push(Record::object_ended);
        object.alive = true;
        const u64 extent = std::max<u64>(object.size, 1);
        if (!object.is_private)
            effect_->accesses.push_back({.address = address_of(slot, number),
                                         .size = extent,
                                         .before = 0,
                                         .reads = false,
                                         .writes = true,
                                         .commuting = Commuting::no,
                                         .ordering = Ordering::lifetime,
                                         .life = Life::begins});
        for (u64 offset = 0; offset < extent; offset += 8) {
            save_bytes(slot, object.at + offset, 8);
            u64 initial = 0;
            if (number != 0) {
                const std::vector<u8>& bytes = code_.thread_locals[number - 1].bytes;
                std::memcpy(&initial, bytes.data() + offset, std::min<u64>(8, bytes.size() - offset));
            }
            put(&space.bytes[object.at + offset], initial, 8);
            put(&space.undefined[object.at + offset], 0, 8);
            if (options_.follow_pointers) space.pointers[(object.at + offset) / 8] = 0;
        }
    }
}

void Machine::start_thread(Slot slot, u32 function, std::span<const u64> arguments, std::span<const u64> undefined,
                           std::span<const u8> pointers) {
    Thread& thread = threads_[slot];
    for (u32 i = 0; i < thread.state.frames; ++i) save_frame(slot, i, i + 1 < thread.state.frames);
    save_world();
    trail_.push(thread.state);
    trail_.push(thread.held);
    trail_.push(slot);
    trail_.push(Record::thread_made);
    world_.threads |= u64{1} << slot;
    world_.several = slot != 1;
    if (effect_ != nullptr) effect_->created |= u64{1} << slot;
    thread.state = {0, 0, 0, thread.state.children, 0, Status::ready, false, 0};
    thread.held.count = 0;
    thread.saved = epoch_;
    if (spaces_[slot].objects.empty())
        make_thread_objects(slot);
    else
        renew_thread_objects(slot);
    push_frame(slot, function, -1);
    std::ranges::copy(arguments, thread.values.begin());
    std::ranges::copy(undefined, thread.undefined.begin());
    if (options_.follow_pointers) std::ranges::copy(pointers, thread.pointers.begin());
    resume(slot, false);
}

// Threads are alike if one thread has created them in one step, with the same arguments, and has passed no fence in
// between.
void Machine::find_alike(Created created) {
    for (auto other = created_.rbegin(); other != created_.rend(); ++other) {
        if (other->creator != created.creator || other->function != created.function ||
            other->arguments != created.arguments || other->undefined != created.undefined)
            continue;
        threads_[created.slot].state.alike = other->slot;
        world_.grouped |= u64{1} << other->slot | u64{1} << created.slot;
        break;
    }
    created_.push_back(std::move(created));
}

// A thread ends: with the objects that nobody else can keep alive.
void Machine::end_thread(Slot slot, i32 pc) {
    effect_->accesses.push_back(
        {address_of(slot, 0) + thread_done, 4, 0, false, true, Commuting::no, Ordering::seq_cst, true});
    end_stack_objects(slot, 0, pc);
    for (u32 i = 0; i < code_.thread_locals.size(); ++i) {
        if (code_.thread_locals[i].is_private) continue;
        const u64 size = std::max<u64>(code_.thread_locals[i].bytes.size(), 1);
        effect_->accesses.push_back({.address = address_of(slot, 1 + i),
                                     .size = size,
                                     .before = 0,
                                     .reads = false,
                                     .writes = true,
                                     .commuting = Commuting::no,
                                     .ordering = Ordering::lifetime,
                                     .life = Life::ends});
        end_object(slot, 1 + i, pc);
    }
    Space& space = spaces_[slot];
    const bool keeps_what_main_points_to = options_.leaks && slot == 1;
    if (options_.follow_pointers && !keeps_what_main_points_to) {
        // Nobody will see what is left of its thread-locals, but states are compared by what is in memory.
        for (const u64 word : written_locals_.words) {
            if (8 * word < thread_block_size) continue;
            save_bytes(slot, 8 * word, 8);
            put(&space.bytes[8 * word], get(&written_locals_.initial[8 * word], 8), 8);
            put(&space.undefined[8 * word], 0, 8);
            space.pointers[word] = 0;
        }
    }
    const u64 at = space.objects[0].at + thread_done;
    save_bytes(slot, at, 4);
    put(&space.bytes[at], 1, 4);
    threads_[slot].state.status = Status::ended;
    threads_[slot].state.depth = 0;
}

void Machine::claim(Slot slot, Claim claim) {
    effect_->claims.push_back(claim);
    if (!world_.several) return;  // with nobody else there, a lock can be made anew while it is held
    HeldLocks& held = threads_[slot].held;
    const auto end = held.locks.begin() + held.count;
    const bool takes = claim.kind == ClaimKind::acquire || claim.kind == ClaimKind::try_;
    const auto found = std::find(held.locks.begin(), end, claim.lock);
    if (takes ? held.count == held.locks.size() : claim.kind != ClaimKind::release || found == end) return;
    trail_.push(held);
    trail_.push(slot);
    trail_.push(Record::locks);
    if (takes)
        held.locks[held.count++] = claim.lock;
    else
        *found = held.locks[--held.count];
}

void Machine::fail(Slot slot, Fault fault, Address address, u64 size) {
    threads_[slot].state.status = Status::failed;
    if (recording_) record({OperationKind::fail, slot, {}, address, size, {}, {}, false});
    if (failures_.size() <= slot) failures_.resize(slot + 1);
    failures_[slot] = {fault, slot, address, size, frames(slot)};
    // Who only meets a limit stays there, and the others go on: one of them may fail.
    const bool bug = !is_limit(fault);
    if (bug ? world_.failed : world_.limited) return;
    save_world();
    (bug ? world_.failed : world_.limited) = true;
    (bug ? failure_ : limit_) = failures_[slot];
}

void Machine::note(u32 pc, Operation operation) {
    Thread& thread = threads_[operation.thread];
    thread.frames[thread.state.frames - 1].pc = pc;
    record(std::move(operation));
}

void Machine::record(Operation operation) {
    // Of calls that nest very deep, the innermost and the outermost say where a thread is.
    constexpr u32 inner = 48, outer = 16;
    const Thread& thread = threads_[operation.thread];
    for (u32 i = thread.state.frames; i-- > 0;)
        if (i < outer || i + inner >= thread.state.frames) operation.frames.push_back(thread.frames[i].pc);
    for (const std::optional<u64>& value : {operation.read, operation.written})
        if (value && operation.size == 8 && is_access(operation.kind))
            if (const Object* block = object(*value);
                block != nullptr && block->kind == ObjectKind::heap && *value == object_of(*value) << offset_bits)
                recorded_.add_pointer(operation.address, *value);
    if (const Object* block = is_access(operation.kind) ? object(operation.address) : nullptr;
        block != nullptr && block->kind == ObjectKind::heap)
        recorded_.add_use(operation.frames.front(), object_of(operation.address), operation.address);
    recorded_.add(std::move(operation));
}

std::vector<u32> Machine::frames(Slot slot) const {
    std::vector<u32> positions;
    const Thread& thread = threads_[slot];
    for (u32 i = thread.state.frames; i-- > 0;) positions.push_back(thread.frames[i].pc);
    return positions;
}

// ------------------------------------------------------------------------------------------- stepping

bool Machine::take(Slot slot, std::span<const u32> choices, Effect& effect) {
    effect.clear();
    created_.clear();
    effect_ = &effect;
    choices_ = choices;
    const Op op = code_.instructions[position(slot)].op;
    effect.site = site(slot);
    effect.section = op == Op::atomic_begin;
    effect.own_section =
        effect.section && !code_.functions[threads_[slot].frames[threads_[slot].state.frames - 1].function].library;
    effect.varies = effect.section || op == Op::compare_exchange;
    if (recording_) recorded_.begin_step();
    touch(slot);
    const bool paused = std::exchange(threads_[slot].state.paused, false);
    effect.enabled = resume(slot, !paused) != Stop::blocked;
    effect.guarded = effect.section && guarded_;
    if (!touched_.empty()) summarise_memory();
    // Even an event that touches nothing needs the process to be alive, which `exit` ends.
    if (effect.accesses.empty())
        effect.accesses.push_back({process_byte(slot), 1, 0, true, false, Commuting::no, Ordering::seq_cst});
    return effect.enabled;
}

bool Machine::take(Slot slot, std::span<const u32> choices, std::span<const Reading> reads, Effect& effect) {
    std::vector<Content> before;
    for (const Reading& read : reads) {
        before.push_back(content(read.address, read.size));
        poke(read.address, read.size, read.value, read.undefined);
    }
    const bool taken = take(slot, choices, effect);
    // What it did not write is as it was.
    for (std::size_t i = 0; i < reads.size(); ++i) {
        const Access read{reads[i].address, reads[i].size, 0, true, false, Commuting::no, Ordering::relaxed};
        const bool written = std::ranges::any_of(
            effect.accesses, [&](const Access& access) { return access.writes && overlap(access, read); });
        if (!written) poke(read.address, reads[i].size, before[i].value, before[i].undefined);
    }
    return taken;
}

void Machine::announce(Slot slot, std::span<const u32> choices, Effect& effect) {
    if (status(slot) != Status::ready || world_.exited) return effect.clear();
    // Take the event, look, and go back.
    const Mark before = mark();
    const bool recording = std::exchange(recording_, false);
    probing_ = true;
    take(slot, choices, effect);
    probing_ = false;
    recording_ = recording;
    rewind(before);
}

}  // namespace mazurka
