// Going back: before anything changes, what it was goes to the trail.
#include <algorithm>

#include "vm/machine.hpp"

namespace mazurka {

void Machine::save_frame(Slot slot, u32 index, bool in_call) {
    Thread& thread = threads_[slot];
    Frame& frame = thread.frames[index];
    if (facts_ != nullptr) {
        const auto live = in_call ? facts_->live_during_call(frame.pc) : facts_->live(frame.pc);
        u8* room = trail_.extend(live.size() * sizeof(SavedRegister));
        for (const u32 reg : live) {
            const SavedRegister saved{thread.values[frame.base + reg], thread.undefined[frame.base + reg],
                                      thread.pointers[frame.base + reg]};
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
    const u8 pointers = options_.follow_pointers
                            ? static_cast<u8>(space.pointers[at / 8] | space.pointers[(at + size - 1) / 8] << 1)
                            : u8{0};
    trail_.push(SavedBytes{owner, static_cast<u16>(size), pointers, at, get(&space.bytes[at], size),
                           get(&space.undefined[at], size)});
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
            case Record::object_used_again: {
                const auto id = trail_.pop<u64>();
                spaces_[owner_of(id)].objects[number_of(id)] = trail_.pop<Object>();
                break;
            }
            case Record::thread_made: {
                Thread& thread = threads_[trail_.pop<Slot>()];
                thread.held = trail_.pop<HeldLocks>();
                thread.state = trail_.pop<ThreadState>();
                break;
            }
            case Record::world: world_ = trail_.pop<World>(); break;
        }
    }
}

}  // namespace mazurka
