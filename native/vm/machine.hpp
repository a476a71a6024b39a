// The virtual machine: executes one program, one event at a time, and can return to any marked point.
//
// A thread runs locally until its next event. A step is that event and everything local after it, so between steps
// every thread stands before an event (or has ended, stopped or failed).
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/failure.hpp"
#include "core/step.hpp"
#include "vm/facts.hpp"
#include "vm/names.hpp"
#include "vm/recording.hpp"
#include "vm/state.hpp"
#include "vm/trail.hpp"

namespace mazurka {

struct MachineOptions {
    bool uninitialised = true;                 // report branches and addresses that depend on what nobody wrote
    bool record = false;                       // keep a list of operations, for traces
    u64 instruction_limit = max_instructions;  // in one step
    u64 pause_after = 0;        // instructions after which a local computation goes on in a step of its own; 0: never
    bool follow_locks = false;  // know which locks each thread holds
    bool follow_pointers =
        false;                // know which words are addresses of blocks that can be called otherwise: for `canonical`
    bool leaks = false;       // report blocks that are lost when the process ends
    bool any_status = false;  // a process may end with another status than 0
};

// The locks that a thread holds, as far as there is room for them.
struct HeldLocks {
    std::array<Address, 4> locks;
    u32 count;
};

// Where a thread came by: how many calls it was in, and the position in the innermost.
struct Passage {
    u32 depth;
    u32 position;
    auto operator<=>(const Passage&) const = default;
};

class Machine {
public:
    using Mark = std::size_t;

    // Threads are numbered as their creations are met; `names` fixes this beforehand: `names[i]` becomes thread i + 2,
    // and a parent comes before its children. Whoever has joined many threads uses their numbers again.
    Machine(const Code& code, MachineOptions options, std::span<const ThreadName> names = {})
        : Machine(code, options, std::make_shared<ThreadNames>(names)) {}

    // Save only what matters when a thread moves; registers that nothing reads again are then anything after `rewind`.
    void save_only_live(const CodeFacts& facts) { facts_ = &facts; }
    const Code& code() const { return code_; }
    const MachineOptions& options() const { return options_; }
    u64 threads() const { return world_.threads; }  // bit mask of the slots in use
    Status status(Slot thread) const { return threads_[thread].state.status; }
    ThreadName name(Slot thread) const { return (*names_)[thread]; }
    // Number threads as another machine does that runs the same program and has met more of them.
    void share_names(const Machine& other) {
        if (names_->size() < other.names_->size()) names_ = other.names_;
    }
    // The thread that was created before this one, in one go, to do the same: 0 if there is none. `grouped`: the
    // threads that are alike, or have been once, as a bit mask.
    Slot alike(Slot thread) const { return threads_[thread].state.alike; }
    u64 grouped() const { return world_.grouped; }
    Slot named_threads() const { return names_->size(); }  // one past the last
    // An order of threads that does not depend on which was met first.
    bool precedes(Slot one, Slot other) const { return names_->precedes(one, other); }

    Machine again() const {  // another one, at the start, that numbers threads in the same way, whoever meets them
        return Machine(code_, options_, names_);
    }

    // What a step would do, which is nothing at all if the thread has ended.
    void announce(Slot thread, std::span<const u32> choices, Effect& effect);
    // Take a step, which must be enabled. False: it was not, and the state is in the middle of it: rewind.
    bool take(Slot thread, std::span<const u32> choices, Effect& effect);
    // The same, and where the thread comes by: where it begins, where it jumps to, and where it stops.
    bool take(Slot thread, std::span<const u32> choices, Effect& effect, std::vector<Passage>& way) {
        way.assign(1, passage(thread));
        way_ = &way;
        const bool taken = take(thread, choices, effect);
        way_ = nullptr;
        if (taken && status(thread) == Status::ready) way.push_back(passage(thread));
        return taken;
    }
    Passage passage(Slot thread) const { return {threads_[thread].state.frames, position(thread)}; }
    std::span<const Address> held(Slot thread) const {
        return std::span(threads_[thread].held.locks).first(threads_[thread].held.count);
    }
    u32 position(Slot thread) const { return threads_[thread].frames[threads_[thread].state.frames - 1].pc; }
    bool paused(Slot thread) const { return threads_[thread].state.paused; }
    std::size_t trail_bytes() const { return trail_.size(); }
    std::size_t memory_bytes() const {  // of the program, and what is known about them
        std::size_t bytes = 0;
        for (const Space& space : spaces_) bytes += space.bytes.size() + space.undefined.size() + space.pointers.size();
        return bytes;
    }

    // Whether a thread that stays at a loop's guard would go round that loop for ever if nobody else did anything:
    // whatever it chooses, it comes back to where it was, in every register, and has not changed memory. `on_the_way`
    // is for what it touches in one round.
    bool spins(Slot thread, Accesses* on_the_way = nullptr);

    // What a thread that has stopped stays at.
    Guard stopped_at(Slot thread) const { return guard_at(code_.instructions[position(thread)]); }
    // Whether a thread stands before one access and its guards.
    bool at_guarded_access(Slot thread) const {
        const Thread& of = threads_[thread];
        if (of.state.status != Status::ready) return false;
        const Instruction& next = code_.instructions[position(thread)];
        return next.op == Op::atomic_begin && next.c != 0;
    }
    // Take the step that a thread would take if the guards of its loops let it pass.
    void go_round(Slot thread) {
        Effect effect;
        ignoring_loops_ = true;
        take(thread, {}, effect);
        ignoring_loops_ = false;
    }

    // Whether the program has ever looked at the address of a block as at a number, so that what blocks are called
    // matters.
    bool addresses_matter() const { return addresses_matter_; }

    bool has_fences() const {
        return std::ranges::any_of(code_.instructions, [](const Instruction& in) { return in.op == Op::fence; });
    }
    bool exited() const { return world_.exited; }
    bool failed() const { return world_.failed; }
    bool limited() const { return world_.limited; }  // a thread has met a limit and stays there
    const Failure& failure() const { return world_.failed ? failure_ : limit_; }
    // That of one of several threads that have failed or met a limit.
    const Failure& failure(Slot thread) const { return failures_[thread]; }

    Mark mark() {
        ++epoch_;
        trail_.begin();
        return trail_.size();
    }
    void rewind(Mark mark);

    std::vector<u32> frames(Slot thread) const;
    // Where a thread is in the code: the positions of the innermost call and of the one around it.
    u64 site(Slot thread) const {
        const Thread& of = threads_[thread];
        const u32 depth = of.state.frames;
        return of.frames[depth - 1].pc | (depth > 1 ? u64{of.frames[depth - 2].pc} << 32 : 0);
    }
    const Object* object(Address address) const;
    bool read(Address address, std::span<u8> into) const;
    // The value of at most 8 bytes in an object; nothing if some of them were never written, or are not there.
    std::optional<u64> defined_value(Address address, u32 size) const;
    void poke(Address address, u32 size, u64 value, u64 undefined = 0);  // into an object; undone by `rewind`
    // What is in at most 8 bytes of an object, and which bits of it nobody has written.
    struct Content {
        u64 value;
        u64 undefined;
        bool operator==(const Content&) const = default;
    };
    Content content(Address address, u32 size) const;
    // Take a step that reads some bytes as if there were something else in them.
    bool take(Slot thread, std::span<const u32> choices, std::span<const Reading> reads, Effect& effect);
    // Whether a thread is about to end the process.
    bool at_exit(Slot thread) const {
        return status(thread) == Status::ready && code_.instructions[position(thread)].op == Op::exit_;
    }
    Recording& recording() { return recorded_; }
    bool set_recording(bool whether) { return std::exchange(recording_, whether); }  // and whether it did before
    u64 instructions_executed() const { return executed_; }
    std::vector<u8> state() const;  // everything that the future depends on, and more
    // The same without what cannot matter: see state.cpp.
    void canonical(const CodeFacts& facts, bool rename, StateWords& words) const;

private:
    struct Frame {
        u64 saved;  // the epoch in which it was last saved or made
        u32 function;
        u32 pc;      // where it goes on
        u32 base;    // its registers
        i32 result;  // the caller's register for what it returns
        u32 stack;   // the newest stack object when it was called
    };
    struct ThreadState {
        u32 frames;    // how many are in use
        u32 top;       // registers in use
        u32 depth;     // of atomic sections
        u32 children;  // created so far
        u32 stack;     // number of the newest stack object (0: none)
        Status status;
        bool paused;  // in the middle of a local computation
        Slot alike;   // see `alike`
    };
    // What a thread was created to do, in the present step.
    struct Created {
        Slot creator;
        Slot slot;
        u32 function;
        std::vector<u64> arguments;
        std::vector<u64> undefined;
    };
    struct Thread {
        u64 saved = 0;
        ThreadState state{};
        HeldLocks held{};
        std::vector<Frame> frames;
        std::vector<u64> values;     // registers
        std::vector<u64> undefined;  // their undefined bits
        std::vector<u8> pointers;    // which of them are pointers, if those are followed
    };
    struct World {
        u64 threads;   // bit mask
        u64 grouped;   // the same
        bool several;  // more than one thread was ever created
        bool exited;
        bool failed;
        bool limited;
    };
    // Where globals, and what every thread has from the start, were ever written in words of 8 bytes, and what is there
    // at the start.
    struct Written {
        std::vector<u8> initial;
        std::vector<bool> known;
        std::vector<u64> words;  // in order
    };
    // What is there now, without pointers, and how many of these there are.
    struct MemorySummary {
        Fingerprint sum;
        u64 pointers;
        bool operator==(const MemorySummary&) const = default;
    };
    struct TouchedWord {
        Slot owner;
        u64 word;
        MemorySummary before;
    };
    enum class Stop : u8 { event, blocked, ended };
    enum class Record : u8 {
        bytes,
        frame,
        thread,
        locks,
        memory,
        object_made,
        object_ended,
        object_used_again,
        thread_made,
        world
    };
    struct SavedRegister {
        u64 value;
        u64 undefined;
        u8 pointer;
    };
    struct SavedBytes {
        Slot owner;
        u16 size;
        u8 pointers;  // whether the words that they lie in, two at most, are
        u64 at;
        u64 old;
        u64 old_undefined;
    };
    struct SavedObject {
        Slot owner;
        u64 number;
        i32 freed_at;
        bool alive;
    };

    Machine(const Code& code, MachineOptions options, std::shared_ptr<ThreadNames> names);

    class StateWriter;
    template <bool Shadow, bool Pointers>
    class Interpreter;
    template <bool Shadow, bool Pointers>
    Stop run(Slot slot, bool take);
    Stop resume(Slot slot, bool take);

    std::vector<u64> place(Slot slot) const;
    u32 guard_of(Slot slot);
    void touch(Slot slot);
    void save_frame(Slot slot, u32 index, bool in_call);
    void save_bytes(Slot owner, u64 at, u32 size);
    void touch_word(Slot owner, u64 word);
    void summarise_memory();
    MemorySummary summary_of(Slot owner, u64 word) const;
    void save_world() {
        trail_.push(world_);
        trail_.push(Record::world);
    }
    Object& make_object(Slot owner, u64 size, ObjectKind kind, i32 site);
    void end_object(Slot owner, u64 number, i32 pc);
    // The blocks of a size that a thread has freed, in an order that depends on nothing else; and one of them as if it
    // were new, with nothing in it.
    std::vector<u64> freed_blocks(Slot slot, u64 size) const;
    void use_again(u64 object, i32 site);
    // A block that nobody has freed and nobody can find if a thread ends the process now, and how many there are.
    struct Leak {
        Address block;
        u64 count;
    };
    std::optional<Leak> find_leak(Slot ending) const;
    bool ends_last(Slot thread) const;  // whether all others have ended
    void push_frame(Slot slot, u32 function, i32 result);
    bool leaves_shared_objects(const Thread& thread, u32 down_to) const;
    void end_stack_objects(Slot slot, u32 down_to, i32 pc);
    void find_alike(Created created);
    u64 joined_by(Slot joiner) const;
    struct Room {
        Slot slot;    // 0: there is none
        bool reused;  // of a thread that was joined
    };
    Room room_for_child(Slot parent);
    void make_thread_objects(Slot slot);
    void renew_thread_objects(Slot slot);
    void start_thread(Slot slot, u32 function, std::span<const u64> arguments, std::span<const u64> undefined,
                      std::span<const u8> pointers);
    void end_thread(Slot slot, i32 pc);
    void claim(Slot slot, Claim claim);
    void fail(Slot slot, Fault fault, Address address = 0, u64 size = 0);
    void note(u32 pc, Operation operation);
    void record(Operation operation);

    const Code& code_;
    const CodeFacts* facts_ = nullptr;
    std::shared_ptr<const CodeFacts> own_facts_;  // if what threads hold is looked for
    bool uses_again_ = false;                     // some allocation may give a block that was freed
    MachineOptions options_;
    World world_{};
    std::vector<Thread> threads_;
    std::vector<Space> spaces_;
    std::shared_ptr<ThreadNames> names_;
    Written written_globals_, written_locals_;
    MemorySummary memory_{};
    std::vector<TouchedWord> touched_;  // by the present step
    Trail trail_;
    u64 epoch_ = 1;
    Failure failure_{};              // the first
    std::vector<Failure> failures_;  // of each thread that has failed or met a limit
    Failure limit_{};
    u64 executed_ = 0;
    bool addresses_matter_ = false;

    // of the current step
    Effect* effect_ = nullptr;
    std::span<const u32> choices_;
    std::vector<Created> created_;
    bool guarded_ = false;         // the section is one access and its guards
    bool ignoring_loops_ = false;  // guards of loops let everyone pass
    u32 watched_ = 0;              // one of them, ...
    u64 passed_ = 0;               // ... and how often it has let someone pass
    bool recording_ = false;
    bool probing_ = false;
    std::vector<Passage>* way_ = nullptr;  // where it comes by, if somebody wants to know
    Recording recorded_;
};

}  // namespace mazurka
