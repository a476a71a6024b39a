// States without what cannot matter.
//
// Left out: registers that nothing reads again, frames that were left, blocks that were freed or that nothing points to, and the
// numbers of blocks: these are called by the order in which they are met on the way from the globals and the threads. A word that
// holds the address of a block that is no more keeps its name, too, so that equal dangling pointers stay equal. The machine knows
// which words are pointers, and whether the program ever looked at one as at a number (`addresses_matter`).
//
// Without renaming (for programs that did), blocks keep their addresses, and all that are alive count.
#include <array>
#include <bit>
#include <cstring>

#include "vm/inlined.hpp"
#include "vm/machine.hpp"

namespace mazurka {

// One word of what is always there: nothing, if it is as at the start.
Machine::MemorySummary Machine::summary_of(Slot owner, u64 word) const {
    const Space& space = spaces_[owner];
    const Written& written = owner == 0 ? written_globals_ : written_locals_;
    if (space.pointers[word] != 0) return {{}, 1};
    u64 value = 0, initial = 0, unknown = 0;
    std::memcpy(&value, &space.bytes[8 * word], 8);
    std::memcpy(&initial, &written.initial[8 * word], 8);
    std::memcpy(&unknown, &space.undefined[8 * word], 8);
    if (value == initial && unknown == 0) return {};
    const std::array<u64, 3> words{u64{owner} << 56 | word, value, unknown};
    return {fingerprint(words), 0};
}

void Machine::canonical(const CodeFacts& facts, bool rename, StateWords& out) const {
    u64* next = out.buffer_.data();
    u64* end = next + out.buffer_.size();
    const auto size = [&]() INLINED { return static_cast<std::size_t>(next - out.buffer_.data()); };
    const auto make_room = [&](std::size_t more) INLINED {
        if (static_cast<std::size_t>(end - next) >= more) [[likely]] return;
        const std::size_t used = size();
        out.buffer_.resize(2 * (used + more));
        next = out.buffer_.data() + used;
        end = out.buffer_.data() + out.buffer_.size();
    };
    const auto put = [&](u64 word) INLINED { *next++ = word; };  // there is room
    const auto push = [&](u64 word) INLINED {
        make_room(1);
        put(word);
    };
    out.pointers.clear();
    out.undefined.clear();
    const u64 fixed = 1 + code_.thread_locals.size();  // blocks that every thread has from the start

    const auto put_pointer = [&](Address value) INLINED {
        if (!rename) return put(value);
        const u64 id = object_of(value);
        const Slot owner = owner_of(id);
        const u64 number = number_of(id);
        std::vector<u32>& names = out.names[owner];
        if (names.size() <= number) names.resize(number + 1, 0);
        if (names[number] == 0) {
            out.blocks.emplace_back(owner, number);
            names[number] = static_cast<u32>(out.blocks.size());
        }
        out.pointers.push_back(size());
        put(u64{names[number]} << (offset_bits + 1) | ((value - (id << offset_bits)) & ((u64{1} << (offset_bits + 1)) - 1)));
    };
    const auto put_value = [&](u64 value, u64 unknown, bool is_pointer) INLINED {
        if (unknown != 0) {
            out.undefined.push_back(size());
            out.undefined.push_back(unknown);
        }
        if (is_pointer) put_pointer(value);
        else put(value);
    };
    const auto put_block = [&](const Space& space, const Object& object) INLINED {
        make_room(object.size / 8 + 1);
        for (u64 at = object.at; at < object.at + object.size; at += 8) {
            u64 value = 0, unknown = 0;
            std::memcpy(&value, &space.bytes[at], 8);
            std::memcpy(&unknown, &space.undefined[at], 8);
            if (at + 8 > object.at + object.size) unknown &= (u64{1} << 8 * (object.at + object.size - at)) - 1;  // the rest is padding
            put_value(value, unknown, space.pointers[at / 8] != 0);
        }
    };

    const auto put_lock = [&](Address lock) INLINED {
        make_room(1);
        const ObjectKind kind = object(lock)->kind;
        if (kind == ObjectKind::stack || kind == ObjectKind::heap) put_pointer(lock);
        else put(lock);
    };

    // Of what is always there, only the words that have changed.
    const auto put_changes = [&](Slot owner, const Written& written) INLINED {
        const Space& space = spaces_[owner];
        make_room(2 * written.words.size());
        for (const u64 word : written.words) {
            if (out.summarise && space.pointers[word] == 0) continue;
            u64 value = 0, initial = 0, unknown = 0;
            std::memcpy(&value, &space.bytes[8 * word], 8);
            std::memcpy(&initial, &written.initial[8 * word], 8);
            std::memcpy(&unknown, &space.undefined[8 * word], 8);
            if (value == initial && unknown == 0) continue;
            put(u64{owner} << 56 | word);
            put_value(value, unknown, space.pointers[word] != 0);
        }
    };

    push(world_.threads << 1 | u64{world_.exited});
    if (out.summarise) {
        push(memory_.sum.low);
        push(memory_.sum.high);
    }
    if (!out.summarise || memory_.pointers != 0) {
        put_changes(0, written_globals_);
        for (u64 rest = world_.threads; rest != 0; rest &= rest - 1) put_changes(static_cast<Slot>(std::countr_zero(rest)), written_locals_);
        push(~u64{0});
    }
    Fingerprint sum{};
    for (u64 rest = world_.threads; rest != 0; rest &= rest - 1) {
        const Slot slot = static_cast<Slot>(std::countr_zero(rest));
        Fingerprint& summary = out.threads[slot];
        if (out.summarise && summary != Fingerprint{}) {
            sum = sum + summary;
            continue;
        }
        const std::size_t begin = size(), pointers = out.pointers.size(), undefined = out.undefined.size();
        const Thread& thread = threads_[slot];
        const ThreadState& state = thread.state;
        const bool runs = state.status == Status::ready;
        push(u64{slot} << 56 | u64{state.children} << 32 | u64{runs ? state.frames : 0} << 8 | u64{state.paused} << 4 | static_cast<u64>(state.status));
        if (runs) {
            for (u32 i = 0; i < state.frames; ++i) {
                const Frame& frame = thread.frames[i];
                const auto live = i + 1 < state.frames ? facts.live_during_call(frame.pc) : facts.live(frame.pc);
                make_room(live.size() + 2);
                put(u64{frame.pc});
                if (frame.stack != 0) put_pointer(address_of(slot, frame.stack));
                else put(0);
                for (const u32 reg : live)
                    put_value(thread.values[frame.base + reg], options_.uninitialised ? thread.undefined[frame.base + reg] : 0, thread.pointers[frame.base + reg] != 0);
            }
            for (u32 number = state.stack; number != 0; number = spaces_[slot].objects[number].below) {
                make_room(1);
                put_pointer(address_of(slot, number));
            }
            push(0);
            // Which locks are known to be held follows from memory, unless there were too many to know.
            if (thread.held.count == thread.held.locks.size())
                for (const Address lock : thread.held.locks) put_lock(lock);
        }
        // A thread that knows no blocks looks the same until it moves.
        if (!out.summarise || out.pointers.size() != pointers || out.undefined.size() != undefined) continue;
        summary = fingerprint({out.buffer_.data() + begin, next});
        next = out.buffer_.data() + begin;
        sum = sum + summary;
    }
    push(sum.low);
    push(sum.high);
    if (rename) {
        for (std::size_t i = 0; i < out.blocks.size(); ++i) {  // more are met on the way
            const auto [owner, number] = out.blocks[i];
            const Object& object = spaces_[owner].objects[number];
            push(u64{object.size} << 24 | u64{object.is_private} << 17 | u64{object.alive} << 16 | static_cast<u64>(object.kind) << 8 | owner);
            if (!object.alive) continue;
            push(static_cast<u64>(i64{object.site}));
            put_block(spaces_[owner], object);
        }
        for (const auto& [owner, number] : out.blocks) out.names[owner][number] = 0;
        out.blocks.clear();
    } else {
        for (u64 rest = world_.threads; rest != 0; rest &= rest - 1) {
            const Slot slot = static_cast<Slot>(std::countr_zero(rest));
            const Space& space = spaces_[slot];
            for (u64 number = fixed; number < space.objects.size(); ++number) {
                const Object& object = space.objects[number];
                if (!object.alive) continue;
                push(number);
                push(u64{object.size} << 24 | u64{object.is_private} << 17 | static_cast<u64>(object.kind) << 8 | slot);
                push(static_cast<u64>(i64{object.site}));
                put_block(space, object);
            }
            push(space.objects.size());  // what the next one will be called
        }
    }
    const u64 pointers = out.pointers.size();
    for (const u64 word : out.pointers) push(word);
    for (const u64 word : out.undefined) push(word);
    push(pointers);
    out.size_ = size();
}

}  // namespace mazurka
