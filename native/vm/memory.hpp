// Memory: objects with bounds, found by address.
#pragma once

#include <cstring>
#include <vector>

#include "core/layout.hpp"
#include "core/vocabulary.hpp"

namespace mazurka {

struct Object {
    u64 at;  // where its bytes begin in its owner's space
    u32 size;
    u32 index;  // which global, function or thread-local it is
    u32 below;  // stack: the number of the stack object made before it, for unwinding
    i32 site;   // the instruction that made it, or -1
    i32 freed_at;
    Slot freed_by;  // the thread that has freed it, if it was on the heap
    ObjectKind kind;
    bool alive;
    bool is_private;  // only its owner can ever reach it
    bool constant;
};

// The objects of one owner. Bytes and their undefined bits lie in two parallel arenas; a third says which words of 8
// bytes hold pointers, if those are followed.
struct Space {
    std::vector<Object> objects;
    std::vector<u8> bytes;
    std::vector<u8> undefined;
    std::vector<u8> pointers;
};

inline u64 get(const u8* bytes, u32 size) {
    u64 value = 0;
    switch (size) {
        case 1: return *bytes;
        case 4: {
            u32 word;
            std::memcpy(&word, bytes, 4);
            return word;
        }
        case 8: std::memcpy(&value, bytes, 8); return value;
        default: std::memcpy(&value, bytes, size); return value;
    }
}

inline void put(u8* bytes, u64 value, u32 size) {
    switch (size) {
        case 1: *bytes = static_cast<u8>(value); break;
        case 4: {
            const u32 word = static_cast<u32>(value);
            std::memcpy(bytes, &word, 4);
            break;
        }
        case 8: std::memcpy(bytes, &value, 8); break;
        default: std::memcpy(bytes, &value, size); break;
    }
}

}  // namespace mazurka
