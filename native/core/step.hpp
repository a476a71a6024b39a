// What a thread does in one step, or would do: all that others may ask of it, in one value.
#pragma once

#include <optional>
#include <vector>

#include "core/access.hpp"

namespace mazurka {

// What a step reads from some bytes, if that is not what the latest step before it left there.
struct Reading {
    Address address;
    u32 size;
    u64 value;
    u64 undefined;  // these bits of it
    i64 source;     // the position of the step that wrote it; -1: it was there from the start
    bool operator==(const Reading&) const = default;
};

// A step that a thread can take: the thread, the choices it makes on the way, and, under a weak memory model, what it
// reads that others have already overwritten.
struct Step {
    Slot thread = 0;
    std::vector<u32> choices;
    std::vector<Reading> reads = {};
    bool operator==(const Step&) const = default;
};

// Why a section is not enabled: the guard, and what it waits for.
struct Waiting {
    u32 pc;
    Guard guard;
    Address object;
    Address holder;
};

// What a section said about a lock.
struct Claim {
    ClaimKind kind;
    Address lock;
};

// What a thread did on its own that counts where data races are looked for: it created another one, or passed a fence.
struct LocalAct {
    Slot thread;
    Slot created;  // 0: it is a fence
    Ordering fence;
    bool inside;  // of the section that the step is, not after it
};

// Filled again and again, so that its buffers are made only once. Of a step that is not enabled, it tells what was met
// up to the guard.
struct Effect {
    bool enabled = false;
    bool section = false;      // an atomic section, ...
    bool own_section = false;  // ... of the program, not of the library, ...
    bool guarded = false;      // ... or one that is a single access and its guards
    bool varies = false;       // what it touches can depend on what it reads
    bool assumes = false;      // some of its guards are the program's or its loops', not the library's
    u32 guard_accesses = 0;    // so many of the accesses its guards depend on; 0: it could not have been disabled
    u64 created = 0;           // the threads that it starts, as a bit mask
    u64 site = 0;              // where in the code it begins
    u64 expected = 0;          // by a compare-exchange, ...
    u64 compared = 0;          // ... which looks at these bits
    Accesses accesses;
    std::vector<LocalAct> acts;      // in order
    std::vector<u32> ranges;         // the sizes of the choices that it made, ...
    std::vector<u32> chosen_after;   // ... each of them after so many accesses
    std::vector<Claim> claims;       // as far as locks are followed
    std::optional<Waiting> waiting;  // why it is not enabled

    void clear() {
        enabled = section = own_section = guarded = varies = assumes = false;
        guard_accesses = 0;
        created = site = expected = compared = 0;
        accesses.clear();
        acts.clear();
        ranges.clear();
        chosen_after.clear();
        claims.clear();
        waiting.reset();
    }
};

}  // namespace mazurka
