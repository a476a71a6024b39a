// expect: ok
// weakened: -DDROP=std::memory_order_relaxed -> race; sc: race
// weakened: -DDROP=std::memory_order_acquire -> race; sc: race
// weakened: -DDROP=std::memory_order_release -> race; sc: race
// unbroken: -DCOPY=std::memory_order_relaxed
// A pointer that counts its copies, as std::shared_ptr does: the destructor of what it points to runs after all that
// was done by any of them.
#include <atomic>
#include <cassert>
#include <thread>
#include <utility>

// Releases what was done with this copy, and acquires, if it is the last one, what was done with the others.
#ifndef DROP
#define DROP std::memory_order_acq_rel
#endif
// There is another copy, which keeps all in place.
#ifndef COPY
#define COPY std::memory_order_acquire
#endif

template <class T>
class Shared {
public:
    explicit Shared(T value) : block_(new Block{{1}, std::move(value)}) {}
    Shared(const Shared& other) : block_(other.block_) { block_->copies.fetch_add(1, COPY); }
    Shared& operator=(const Shared&) = delete;
    ~Shared() {
        if (block_->copies.fetch_sub(1, DROP) == 1) delete block_;
    }
    T* operator->() const { return &block_->value; }

private:
    struct Block {
        std::atomic<int> copies;
        T value;
    };
    Block* block_;
};

struct Account {
    int paid[2] = {0, 0};
    Account() = default;
    Account(Account&& other) noexcept : paid{other.paid[0], other.paid[1]} { other.moved = true; }
    ~Account() {
        assert(moved || (paid[0] == 1 && paid[1] == 1));
        paid[0] = paid[1] = -1;
    }
    bool moved = false;
};

int main() {
    std::thread first, second;
    {
        Shared<Account> account{Account()};
        first = std::thread([account] { account->paid[0] = 1; });
        second = std::thread([account] { account->paid[1] = 1; });
    }
    first.join();
    second.join();
}
