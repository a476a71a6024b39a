// States without what cannot matter.
//
// Left out: registers that nothing reads again, frames that were left, blocks that were freed or that nothing points
// to, and the numbers of blocks: these are called by the order in which they are met on the way from the globals and
// the threads. A word that holds the address of a block that is no more keeps its name, too, so that equal dangling
// pointers stay equal. The machine knows which words are pointers, and whether the program ever looked at one as at a
// number (`addresses_matter`).
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

// Writes a state. What it fills is a local variable of `canonical`, since all of this is part of it.
class Machine::StateWriter {
public:
    INLINED StateWriter(const Machine& machine, const CodeFacts& facts, bool rename, StateWords& out)
        : m_(machine),
          facts_(facts),
          rename_(rename),
          out_(out),
          next_(out.buffer_.data()),
          end_(next_ + out.buffer_.size()) {
        out.pointers.clear();
        out.undefined.clear();
    }

    INLINED void write() {
        push(m_.world_.threads << 1 | u64{m_.world_.exited});
        write_memory();
        write_threads();
        if (rename_)
            write_blocks_met();
        else
            write_blocks_alive();
        const u64 pointers = out_.pointers.size();
        for (const u64 word : out_.pointers) push(word);
        for (const u64 word : out_.undefined) push(word);
        push(pointers);
        out_.size_ = size();
    }

private:
    // ------------------------------------------------------------------------------------------------ words

    INLINED std::size_t size() const { return static_cast<std::size_t>(next_ - out_.buffer_.data()); }
    INLINED void make_room(std::size_t more) {
        if (static_cast<std::size_t>(end_ - next_) >= more) [[likely]]
            return;
        const std::size_t used = size();
        out_.buffer_.resize(2 * (used + more));
        next_ = out_.buffer_.data() + used;
        end_ = out_.buffer_.data() + out_.buffer_.size();
    }
    INLINED void put(u64 word) { *next_++ = word; }  // there is room
    INLINED void push(u64 word) {
        make_room(1);
        put(word);
    }
    INLINED void put_pointer(Address value) {
        if (!rename_) return put(value);
        const u64 id = object_of(value);
        const Slot owner = owner_of(id);
        const u64 number = number_of(id);
        std::vector<u32>& names = out_.names[owner];
        if (names.size() <= number) names.resize(number + 1, 0);
        if (names[number] == 0) {
            out_.blocks.emplace_back(owner, number);
            names[number] = static_cast<u32>(out_.blocks.size());
        }
        out_.pointers.push_back(size());
        put(u64{names[number]} << (offset_bits + 1) |
            ((value - (id << offset_bits)) & ((u64{1} << (offset_bits + 1)) - 1)));
    }
    INLINED void put_value(u64 value, u64 unknown, bool is_pointer) {
        if (unknown != 0) {
            out_.undefined.push_back(size());
            out_.undefined.push_back(unknown);
        }
        if (is_pointer)
            put_pointer(value);
        else
            put(value);
    }

    // ----------------------------------------------------------------------------------------------- memory

    // What is always there.
    INLINED void write_memory() {
        if (out_.summarise) {
            push(m_.memory_.sum.low);
            push(m_.memory_.sum.high);
            if (m_.memory_.pointers == 0) return;
        }
        write_changes(0, m_.written_globals_);
        for (u64 rest = m_.world_.threads; rest != 0; rest &= rest - 1)
            write_changes(static_cast<Slot>(std::countr_zero(rest)), m_.written_locals_);
        push(~u64{0});
    }
    // Only the words that have changed.
    INLINED void write_changes(Slot owner, const Written& written) {
        const Space& space = m_.spaces_[owner];
        make_room(2 * written.words.size());
        for (const u64 word : written.words) {
            if (out_.summarise && space.pointers[word] == 0) continue;
            u64 value = 0, initial = 0, unknown = 0;
            std::memcpy(&value, &space.bytes[8 * word], 8);
            std::memcpy(&initial, &written.initial[8 * word], 8);
            std::memcpy(&unknown, &space.undefined[8 * word], 8);
            if (value == initial && unknown == 0) continue;
            put(u64{owner} << 56 | word);
            put_value(value, unknown, space.pointers[word] != 0);
        }
    }
    INLINED void write_block(const Space& space, const Object& object) {
        push(static_cast<u64>(i64{object.site}));
        make_room(object.size / 8 + 1);
        for (u64 at = object.at; at < object.at + object.size; at += 8) {
            u64 value = 0, unknown = 0;
            std::memcpy(&value, &space.bytes[at], 8);
            std::memcpy(&unknown, &space.undefined[at], 8);
            if (at + 8 > object.at + object.size)
                unknown &= (u64{1} << 8 * (object.at + object.size - at)) - 1;  // the rest is padding
            put_value(value, unknown, space.pointers[at / 8] != 0);
        }
    }
    // Who may use a block again that was freed. (One that nothing points to may as well be a new one.)
    INLINED Slot freed_by(const Object& object) const {
        return m_.uses_again_ && !object.alive && object.kind == ObjectKind::heap ? object.freed_by : Slot{0};
    }
    // Whether there are blocks that nobody can find any more. What they are is the same to whatever comes.
    bool loses_blocks() const {
        std::size_t all = 0, met = 0;
        for (u64 rest = m_.world_.threads; rest != 0; rest &= rest - 1)
            for (const Object& object : m_.spaces_[static_cast<Slot>(std::countr_zero(rest))].objects)
                all += object.kind == ObjectKind::heap && object.alive ? 1 : 0;
        for (const auto& [owner, number] : out_.blocks) {
            const Object& object = m_.spaces_[owner].objects[number];
            met += object.kind == ObjectKind::heap && object.alive ? 1 : 0;
        }
        return all != met;
    }
    INLINED void write_blocks_met() {
        for (std::size_t i = 0; i < out_.blocks.size(); ++i) {  // more are met on the way
            const auto [owner, number] = out_.blocks[i];
            const Object& object = m_.spaces_[owner].objects[number];
            push(u64{object.size} << 24 | u64{freed_by(object)} << 18 | u64{object.is_private} << 17 |
                 u64{object.alive} << 16 | static_cast<u64>(object.kind) << 8 | owner);
            if (object.alive) write_block(m_.spaces_[owner], object);
        }
        if (m_.options_.leaks) push(loses_blocks());
        for (const auto& [owner, number] : out_.blocks) out_.names[owner][number] = 0;
        out_.blocks.clear();
    }
    INLINED void write_blocks_alive() {
        for (u64 rest = m_.world_.threads; rest != 0; rest &= rest - 1) {
            const Slot slot = static_cast<Slot>(std::countr_zero(rest));
            const Space& space = m_.spaces_[slot];
            // The first ones every thread has from the start.
            for (u64 number = 1 + m_.code_.thread_locals.size(); number < space.objects.size(); ++number) {
                const Object& object = space.objects[number];
                if (freed_by(object) != 0) push(number << 8 | freed_by(object));
                if (!object.alive) continue;
                push(number);
                push(u64{object.size} << 24 | u64{object.is_private} << 17 | static_cast<u64>(object.kind) << 8 | slot);
                write_block(space, object);
            }
            push(space.objects.size());  // what the next one will be called
        }
    }

    // ---------------------------------------------------------------------------------------------- threads

    INLINED void write_threads() {
        Fingerprint sum{};
        for (u64 rest = m_.world_.threads; rest != 0; rest &= rest - 1) {
            const Slot slot = static_cast<Slot>(std::countr_zero(rest));
            Fingerprint& summary = out_.threads[slot];
            if (!out_.summarise || summary == Fingerprint{}) {
                const std::size_t begin = size(), pointers = out_.pointers.size(), undefined = out_.undefined.size();
                write_thread(slot);
                // A thread that knows no blocks looks the same until it moves.
                if (!out_.summarise || out_.pointers.size() != pointers || out_.undefined.size() != undefined) continue;
                summary = fingerprint({out_.buffer_.data() + begin, next_});
                next_ = out_.buffer_.data() + begin;
            }
            sum = sum + summary;
        }
        push(sum.low);
        push(sum.high);
    }
    INLINED void write_thread(Slot slot) {
        const Thread& thread = m_.threads_[slot];
        const ThreadState& state = thread.state;
        const bool runs = state.status == Status::ready;
        push(u64{slot} << 56 | u64{state.children} << 32 | u64{runs ? state.frames : 0} << 8 | u64{state.paused} << 4 |
             static_cast<u64>(state.status));
        if (!runs) return;
        for (u32 i = 0; i < state.frames; ++i) {
            const Frame& frame = thread.frames[i];
            const auto live = i + 1 < state.frames ? facts_.live_during_call(frame.pc) : facts_.live(frame.pc);
            make_room(live.size() + 2);
            put(u64{frame.pc});
            if (frame.stack != 0)
                put_pointer(address_of(slot, frame.stack));
            else
                put(0);
            for (const u32 reg : live)
                put_value(thread.values[frame.base + reg],
                          m_.options_.uninitialised ? thread.undefined[frame.base + reg] : 0,
                          thread.pointers[frame.base + reg] != 0);
        }
        for (u32 number = state.stack; number != 0; number = m_.spaces_[slot].objects[number].below) {
            make_room(1);
            put_pointer(address_of(slot, number));
        }
        push(0);
        // Which locks are known to be held follows from memory, unless there were too many to know.
        if (thread.held.count == thread.held.locks.size())
            for (const Address lock : thread.held.locks) write_lock(lock);
    }
    INLINED void write_lock(Address lock) {
        make_room(1);
        const ObjectKind kind = m_.object(lock)->kind;
        if (kind == ObjectKind::stack || kind == ObjectKind::heap)
            put_pointer(lock);
        else
            put(lock);
    }

    const Machine& m_;
    const CodeFacts& facts_;
    const bool rename_;
    StateWords& out_;
    u64* next_;  // where the next word goes, ...
    u64* end_;   // ... if there is room for it
};

void Machine::canonical(const CodeFacts& facts, bool rename, StateWords& out) const {
    StateWriter(*this, facts, rename, out).write();
}

std::vector<u8> Machine::state() const {
    std::vector<u8> out;
    const auto put_bytes = [&](const void* data, std::size_t size) {
        const std::size_t at = out.size();
        out.resize(at + size);
        if (size != 0) std::memcpy(out.data() + at, data, size);
    };
    const auto put_word = [&](u64 word) { put_bytes(&word, sizeof word); };
    put_word(world_.threads);
    put_word(u64{world_.several} | u64{world_.exited} << 1 | u64{world_.failed} << 2 | u64{world_.limited} << 3);
    for (Slot slot = 0; slot < max_slots; ++slot) {
        if (slot != 0 && status(slot) == Status::absent) continue;
        const Thread& thread = threads_[slot];
        const ThreadState& state = thread.state;
        for (const u64 word : {u64{state.frames}, u64{state.top}, u64{state.depth}, u64{state.children},
                               u64{state.stack}, u64{static_cast<u8>(state.status)}})
            put_word(word);
        for (u32 i = 0; i < state.frames; ++i) {
            const Frame& frame = thread.frames[i];
            for (const u64 word : {u64{frame.function}, u64{frame.pc}, u64{frame.base},
                                   static_cast<u64>(i64{frame.result}), u64{frame.stack}})
                put_word(word);
        }
        put_bytes(thread.values.data(), state.top * sizeof(u64));
        put_bytes(thread.undefined.data(), state.top * sizeof(u64));
        const Space& space = spaces_[slot];
        for (const Object& object : space.objects) {
            for (const u64 word :
                 {object.at, u64{object.size}, u64{object.index}, u64{object.below}, static_cast<u64>(i64{object.site}),
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
