// expect: bug assertion
// The guard is a temporary object: the lock is given back at once.
#include <atomic>
#include <cassert>
#include <pthread.h>
#include <sched.h>

class Spinlock {
public:
    void lock() {
        while (held_.exchange(true, std::memory_order_acquire))
            sched_yield();
    }
    void unlock() { held_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> held_{false};
};

class Guard {
public:
    explicit Guard(Spinlock &lock) : lock_(lock) { lock_.lock(); }
    ~Guard() { lock_.unlock(); }
    Guard(const Guard &) = delete;
    Guard &operator=(const Guard &) = delete;

private:
    Spinlock &lock_;
};

class Account {
public:
    void deposit(int amount) {
        Guard{lock_};
        int before = __atomic_load_n(&balance_, __ATOMIC_RELAXED);
        __atomic_store_n(&balance_, before + amount, __ATOMIC_RELAXED);
    }
    int balance() {
        Guard guard(lock_);
        return balance_;
    }

private:
    Spinlock lock_;
    int balance_ = 0;
};

static Account account;

static void *work(void *) {
    account.deposit(1);
    return nullptr;
}

int main() {
    pthread_t threads[2];
    for (pthread_t &thread : threads)
        pthread_create(&thread, nullptr, work, nullptr);
    for (pthread_t &thread : threads)
        pthread_join(thread, nullptr);
    assert(account.balance() == 2);
}
