// What must be put back to return to an earlier state: a stack of records, undone in reverse.
#pragma once

#include <cassert>
#include <cstring>
#include <type_traits>
#include <vector>

#include "vm/code.hpp"

namespace mazurka {

class Trail {
public:
    std::size_t size() const { return size_; }

    // Nothing is kept before the first point to return to.
    void begin() { keeping_ = true; }

    template <class T>
    void push(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        push_bytes(&value, sizeof(T));
    }

    void push_bytes(const void* data, std::size_t size) {
        if (!keeping_) return;
        if (size_ + size > bytes_.size()) bytes_.resize(2 * (size_ + size));
        if (size != 0) std::memcpy(bytes_.data() + size_, data, size);
        size_ += size;
    }

    template <class T>
    T pop() {
        static_assert(std::is_trivially_copyable_v<T>);
        T value;
        pop_bytes(&value, sizeof(T));
        return value;
    }

    void pop_bytes(void* data, std::size_t size) {
        assert(size_ >= size);
        size_ -= size;
        if (size != 0) std::memcpy(data, bytes_.data() + size_, size);
    }

private:
    std::vector<u8> bytes_;  // longer than what is in use
    std::size_t size_ = 0;
    bool keeping_ = false;
};

}  // namespace mazurka
