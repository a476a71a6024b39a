// A sequence that is nearly always short: the first elements are kept in place.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>

namespace mazurka {

template <class T, std::size_t Room>
class Few {
public:
    Few() = default;
    Few(std::span<const T> elements) { assign(elements); }
    Few(const Few& other) { assign(other); }
    Few& operator=(const Few& other) {
        if (this != &other) assign(other);
        return *this;
    }
    Few(Few&& other) noexcept
        : size_(std::exchange(other.size_, 0)), more_(std::move(other.more_)), here_(other.here_) {}
    Few& operator=(Few&& other) noexcept {
        size_ = std::exchange(other.size_, 0);
        more_ = std::move(other.more_);
        here_ = other.here_;
        return *this;
    }
    ~Few() = default;

    void assign(std::span<const T> elements) {
        size_ = elements.size();
        if (size_ > Room)
            more_ = std::make_unique<T[]>(size_);
        else
            more_.reset();
        std::ranges::copy(elements, data());
    }
    T* data() { return more_ ? more_.get() : here_.data(); }
    const T* data() const { return more_ ? more_.get() : here_.data(); }
    std::size_t size() const { return size_; }
    T& operator[](std::size_t index) { return data()[index]; }
    operator std::span<const T>() const { return {data(), size_}; }

private:
    std::size_t size_ = 0;
    std::unique_ptr<T[]> more_;
    std::array<T, Room> here_;
};

}  // namespace mazurka
