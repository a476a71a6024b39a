// The virtual machine: executes one program, one event at a time, and can return to any marked point.
//
// A thread runs locally until its next event. A step is that event and everything local after it, so between steps every
// thread stands before an event (or has ended, stopped or failed).
#pragma once

#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "vm/event.hpp"
#include "vm/facts.hpp"
#include "vm/fault.hpp"
#include "vm/state.hpp"
#include "vm/trail.hpp"

namespace mazurka {

struct MachineOptions {
    bool uninitialised = true;  // report branches and addresses that depend on what nobody wrote
    bool record = false;        // keep a list of operations, for traces
    u64 instruction_limit = 10'000'000;  // in one step
    u64 pause_after = 0;  // instructions after which a local computation goes on in a step of its own; 0: never
    bool follow_locks = false;  // know which locks each thread holds
    bool follow_pointers = false;  // know which words are addresses of blocks that can be called otherwise: for `canonical`
};

enum class Status : u8 { absent, ready, ended, stopped, failed };

// Why a section is not enabled: the guard, and what it waits for.
struct Waiting {
    u32 pc;
    Address object;
    Address holder;
};

// What a section said about a lock.
struct Claim {
    ClaimKind kind;
    Address lock;
};

// The locks that a thread holds, as far as there is room for them.
struct HeldLocks {
    std::array<Address, 4> locks;
    u32 count;
};

// What a thread would do.
struct Next {
    bool enabled = false;
    Accesses accesses;
    std::vector<u32> ranges;  // the sizes of the choices met, as far as it got
    std::optional<Waiting> waiting;
};

enum class OperationKind : u8 {
    load, store, update, compare_exchange, allocate, free_, spawn, end, exit_, choose, output, section, fail, stop
};

// For traces: one thing that a thread did.
struct Operation {
    OperationKind kind;
    Slot thread;
    std::vector<u32> frames;
    Address address = 0;
    u64 size = 0;
    std::optional<u64> read;
    std::optional<u64> written;
    bool visible = false;
};

// A thread's path of creation: which thread created it, and as its how-manieth.
struct ThreadName {
    Slot parent;
    u32 child;
};

class Machine {
public:
    using Mark = std::size_t;

    // The numbers of threads depend on which creation is met first; `names` fixes them beforehand: `names[i]` becomes
    // thread i + 2, and a parent comes before its children.
    Machine(const Code& code, MachineOptions options, std::span<const ThreadName> names = {});

    // Save only what matters when a thread moves; registers that nothing reads again are then anything after `rewind`.
    void save_only_live(const CodeFacts& facts) { facts_ = &facts; }
    const MachineOptions& options() const { return options_; }
    u64 threads() const { return world_.threads; }  // bit mask of the slots in use
    Status status(Slot thread) const { return threads_[thread].state.status; }
    ThreadName name(Slot thread) const { return names_[thread]; }
    u32 thread_function(Slot thread) const { return threads_[thread].frames[0].function; }
    // Number threads as another machine does that runs the same program and has met more of them.
    void share_names(const Machine& other) {
        if (names_.size() < other.names_.size()) names_ = other.names_;
    }
    Slot named_threads() const { return static_cast<Slot>(names_.size()); }  // one past the last

    void next(Slot thread, std::span<const u32> choices, Next& next);

    enum class Outcome : u8 { done, blocked };
    // Take a step, which must be enabled; `blocked` says that it was not (and leaves the state in the middle: rewind).
    Outcome step(Slot thread, std::span<const u32> choices);
    // Of the last step: what it touched; how much of that its guards depend on (0: it could not have been disabled); the sizes of
    // the choices that it made; whether what it touches can depend on what it reads, and whether it is an atomic section.
    const Accesses& accesses() const { return accesses_; }
    u32 guard_accesses() const { return guard_accesses_; }
    bool assumes() const { return assumes_; }  // some of its guards are the program's or its loops', not the library's
    const std::vector<u32>& ranges() const { return ranges_; }
    bool varies() const { return varies_; }
    bool section() const { return section_; }
    bool own_section() const { return own_section_; }  // of the program, not of the library
    bool guarded() const { return section_ && guarded_; }  // it is one access and its guards
    u64 expected() const { return expected_; }  // by a compare-exchange
    const Waiting& waiting() const { return waiting_; }  // if it was blocked
    const std::vector<Claim>& claims() const { return claims_; }  // those that it has met
    std::span<const Address> held(Slot thread) const { return std::span(threads_[thread].held.locks).first(threads_[thread].held.count); }
    u32 position(Slot thread) const { return threads_[thread].frames[threads_[thread].state.frames - 1].pc; }
    bool paused(Slot thread) const { return threads_[thread].state.paused; }
    std::size_t trail_bytes() const { return trail_.size(); }

    // Whether a thread that stays at a loop's guard would go round that loop for ever if nobody else did anything: whatever it
    // chooses, it comes back to where it was, in every register, and has not changed memory. `on_the_way` is for what it touches in one round.
    bool spins(Slot thread, Accesses* on_the_way = nullptr);

    // Whether a thread stands before one access and its guards.
    bool at_guarded_access(Slot thread) const {
        const Thread& of = threads_[thread];
        if (of.state.status != Status::ready) return false;
        const Instruction& next = code_.instructions[position(thread)];
        return next.op == Op::atomic_begin && next.c != 0;
    }
    // Take the step that a thread would take if the guards of its loops let it pass.
    void go_round(Slot thread) {
        ignoring_loops_ = true;
        step(thread, {});
        ignoring_loops_ = false;
    }

    // Whether the program has ever looked at the address of a block as at a number, so that what blocks are called matters.
    bool addresses_matter() const { return addresses_matter_; }

    bool exited() const { return world_.exited; }
    bool failed() const { return world_.failed; }
    const Failure& failure() const { return failure_; }

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
    std::optional<u64> defined_value(Address address, u64 size) const;
    void poke(Address address, u32 size, u64 value);  // into an object; undone by `rewind`
    std::vector<Operation> take_operations() {
        forget_at_ = most_recorded;
        return std::exchange(operations_, {});
    }
    u64 instructions_executed() const { return executed_; }
    std::vector<u8> state() const;  // everything that the future depends on, and more
    // The same without what cannot matter: see state.cpp.
    void canonical(const CodeFacts& facts, bool rename, StateWords& words) const;

private:
    struct Frame {
        u64 saved;     // the epoch in which it was last saved or made
        u32 function;
        u32 pc;        // where it goes on
        u32 base;      // its registers
        i32 result;    // the caller's register for what it returns
        u32 stack;     // the newest stack object when it was called
    };
    struct ThreadState {
        u32 frames;    // how many are in use
        u32 top;       // registers in use
        u32 depth;     // of atomic sections
        u32 children;  // created so far
        u32 stack;     // number of the newest stack object (0: none)
        Status status;
        bool paused;   // in the middle of a local computation
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
        u64 threads;  // bit mask
        bool several; // more than one thread was ever created
        bool exited;
        bool failed;
    };
    // Where globals, and what every thread has from the start, were ever written in words of 8 bytes, and what is there at the start.
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
    enum class Record : u8 { bytes, frame, thread, locks, memory, object_made, object_ended, thread_made, world };
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

    template <bool Shadow, bool Pointers>
    Stop run(Slot slot, bool take);
    Stop resume(Slot slot, bool take) {
        if (options_.follow_pointers) return options_.uninitialised ? run<true, true>(slot, take) : run<false, true>(slot, take);
        return options_.uninitialised ? run<true, false>(slot, take) : run<false, false>(slot, take);
    }

    std::vector<u64> place(Slot slot) const;
    u32 guard_of(Slot slot);
    void touch(Slot slot);
    void save_frame(Slot slot, u32 index, bool in_call);
    void save_bytes(Slot owner, u64 at, u32 size);
    void touch_word(Slot owner, u64 word);
    void summarise_memory();
    MemorySummary summary_of(Slot owner, u64 word) const;
    void save_world() { trail_.push(world_); trail_.push(Record::world); }
    Object& make_object(Slot owner, u64 size, ObjectKind kind, i32 site);
    void end_object(Slot owner, u64 number, i32 pc);
    void push_frame(Slot slot, u32 function, i32 result);
    bool leaves_shared_objects(const Thread& thread, u32 down_to) const;
    void end_stack_objects(Slot slot, u32 down_to, i32 pc);
    Slot find_name(Slot parent, u32 child);
    void start_thread(Slot slot, u32 function, std::span<const u64> arguments, std::span<const u64> undefined, std::span<const u8> pointers);
    void claim(Slot slot, Claim claim);
    void fail(Slot slot, Fault fault, Address address = 0, u64 size = 0);
    void note(u32 pc, Operation operation);
    void record(Operation operation);

    const Code& code_;
    const CodeFacts* facts_ = nullptr;
    MachineOptions options_;
    World world_{};
    std::vector<Thread> threads_;
    std::vector<Space> spaces_;
    std::vector<ThreadName> names_;  // by slot; only grows
    Written written_globals_, written_locals_;
    MemorySummary memory_{};
    std::vector<TouchedWord> touched_;  // by the present step
    Trail trail_;
    u64 epoch_ = 1;
    Failure failure_{};
    u64 executed_ = 0;
    bool addresses_matter_ = false;

    // of the current step
    Accesses accesses_;
    std::span<const u32> choices_;
    std::vector<u32> ranges_;
    Waiting waiting_{};
    u32 guard_accesses_ = 0;
    bool assumes_ = false;
    bool own_section_ = false;
    bool varies_ = false;
    bool section_ = false;
    u64 expected_ = 0;
    std::vector<Claim> claims_;
    bool guarded_ = false;         // the section is one access and its guards
    bool ignoring_loops_ = false;  // guards of loops let everyone pass
    u32 watched_ = 0;              // one of them, ...
    u64 passed_ = 0;               // ... and how often it has let someone pass
    bool recording_ = false;
    bool probing_ = false;
    static constexpr std::size_t most_recorded = 20'000;
    std::vector<Operation> operations_;
    std::size_t forget_at_ = most_recorded;
};

}  // namespace mazurka
