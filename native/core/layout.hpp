// Where things lie: addresses, the control block of a thread, and the sizes that everything has to fit.
//
// An address is ((number * 64 + owner) << 26) + offset. The owner is the thread that made the object (0: the program),
// the number counts its objects, so addresses do not depend on how allocations of different threads interleave. Offsets
// are signed: a pointer that strays a little before its object still belongs to it. With up to 32768 objects per owner,
// addresses have 47 bits, as on real machines, and programs may keep tags in the upper 16.
//
// The control block is object 0 of its thread, followed by its thread-local variables. The objects of the program
// itself are null, its functions, its globals.
#pragma once

#include "core/types.hpp"

namespace mazurka {

using Address = u64;
using Slot = u32;  // of a thread: 1 is the first, 0 stands for the program itself

// What Python (`machine/layout.py`) and the models of the C library, as MAZURKA_OFFSET_BITS and so on, know of it.
#define MAZURKA_LAYOUT(X)                                                                                          \
    X(offset_bits, 26)                                                                                             \
    X(slot_bits, 6)                                                                                                \
    X(address_bits, 47)                                                                                            \
    X(max_object_size, (1 << (offset_bits - 1)) - 1)                                                               \
    X(max_space, 1 << 30) /* of all objects of one owner */                                                        \
    X(max_threads, (1 << slot_bits) - 1)                                                                           \
    X(max_frames, 4096)                                                                                            \
    X(max_instructions, 10'000'000) /* in one step */                                                              \
    X(max_choices, 65536)           /* in one choice */                                                            \
    X(thread_block_size, 32)        /* its last byte stands for the life of the process */                         \
    X(thread_done, 0)               /* in the control block: 4 bytes that the machine sets to 1 at its end, ... */ \
    X(thread_joined, 4)     /* ... and 4 of the models': the slot of the thread that has joined this one, ... */   \
    X(thread_signalled, 12) /* ... and 4 which wake the thread */                                                  \
    X(lock_size, 24)        /* the bytes that a claim of a lock stands for */

#define X(name, value) inline constexpr u32 name = value;
MAZURKA_LAYOUT(X)
#undef X

inline constexpr u32 max_slots = max_threads + 1;

constexpr Address address_of(Slot owner, u64 number) { return (number << slot_bits | owner) << offset_bits; }
// The object that an address belongs to, as owner and number in one word.
constexpr u64 object_of(Address address) { return (address + (u64{1} << (offset_bits - 1))) >> offset_bits; }
constexpr Slot owner_of(u64 object) { return static_cast<Slot>(object & (max_slots - 1)); }
constexpr u64 number_of(u64 object) { return object >> slot_bits; }
// The byte that stands for the life of the process, as one thread sees it.
constexpr Address process_byte(Slot thread) { return address_of(thread, 0) + thread_block_size - 1; }

}  // namespace mazurka
