// What must be put back to return to an earlier state: a stack of records, undone in reverse.
#pragma once

#include <cassert>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "core/types.hpp"

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
        if (size_ + size > capacity_) grow(size);
        if (size != 0) std::memcpy(bytes_.get() + size_, data, size);
        size_ += size;
    }

    // Room for so many bytes, to be filled by the caller.
    u8* extend(std::size_t size) {
        if (!keeping_) return nullptr;
        if (size_ + size > capacity_) grow(size);
        size_ += size;
        return bytes_.get() + size_ - size;
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
        if (size != 0) std::memcpy(data, bytes_.get() + size_, size);
    }

private:
    struct Free {
        void operator()(u8* bytes) const { std::free(bytes); }
    };

    // What is not in use is never touched, so that it needs no memory; and what is large grows without being copied.
    void grow(std::size_t more) {
        capacity_ = 2 * (size_ + more);
        u8* larger = static_cast<u8*>(std::realloc(bytes_.get(), capacity_));
        if (larger == nullptr) throw std::bad_alloc();
        static_cast<void>(bytes_.release());
        bytes_.reset(larger);
    }

    std::unique_ptr<u8[], Free> bytes_;
    std::size_t capacity_ = 0;
    std::size_t size_ = 0;
    bool keeping_ = false;
};

}  // namespace mazurka
