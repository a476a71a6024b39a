// Memory: objects with bounds, found by address.
//
// An address is ((number * 64 + owner) << 26) + offset. The owner is the thread that made the object (0: the program), the
// number counts its objects, so addresses do not depend on how allocations of different threads interleave. Offsets
// are signed: a pointer that strays a little before its object still belongs to it. With up to 32768 objects per owner,
// addresses have 47 bits, as on real machines, and programs may keep tags in the upper 16.
#pragma once

#include <vector>

#include "vm/code.hpp"

namespace mazurka {

using Address = u64;
using Slot = u32;  // of a thread: 1 is the first, 0 stands for the program itself

inline constexpr u32 offset_bits = 26;
inline constexpr u32 slot_bits = 6;
inline constexpr u32 max_slots = 1u << slot_bits;
inline constexpr u64 max_object_size = (u64{1} << (offset_bits - 1)) - 1;

constexpr Address address_of(Slot owner, u64 number) { return (number << slot_bits | owner) << offset_bits; }
// The object that an address belongs to, as owner and number in one word.
constexpr u64 object_of(Address address) { return (address + (u64{1} << (offset_bits - 1))) >> offset_bits; }
constexpr Slot owner_of(u64 object) { return static_cast<Slot>(object & (max_slots - 1)); }
constexpr u64 number_of(u64 object) { return object >> slot_bits; }

enum class ObjectKind : u8 { null, function, global, thread, thread_local_, stack, heap };

struct Object {
    u64 at;     // where its bytes begin in its owner's space
    u32 size;
    u32 index;  // which global, function or thread-local it is
    u32 below;  // stack: the number of the stack object made before it, for unwinding
    i32 site;   // the instruction that made it, or -1
    i32 freed_at;
    ObjectKind kind;
    bool alive;
    bool is_private;  // only its owner can ever reach it
    bool constant;
};

// The objects of one owner. Bytes and their undefined bits lie in two parallel arenas; a third says which words of 8 bytes hold
// pointers, if those are followed.
struct Space {
    std::vector<Object> objects;
    std::vector<u8> bytes;
    std::vector<u8> undefined;
    std::vector<u8> pointers;
};

}  // namespace mazurka
