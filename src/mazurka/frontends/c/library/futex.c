/* Futexes: the system call on which programs build locks of their own, and libc++ the waiting of `std::atomic`.
 *
 * Waiting is two steps, as for condition variables: to look whether the word still holds the value and join those who
 * wait at its address; and, once woken, to go on. So a wake-up between the two is not lost, and one before them is.
 * Those who wait are kept in sets, one for all addresses of the same hash. Futexes whose addresses collide only have
 * more orders to explore; where a thread waits, and for which bits, is its own business until somebody wakes it.
 *
 * Who of several is woken is open: all possibilities are explored. The kernel never looks at a word that it wakes,
 * which may be freed already.
 *
 * A wait that times out has done nothing but look: that it was among those who wait cannot be told from its never
 * having been there, since nobody chose it. So timing out is a choice in the first step, which changes nothing, and a
 * loop that waits again is a loop that waits. If it is to be woken instead, and is not, then that execution is the
 * other one, and counts as blocked. Without a signal (`--spurious`) it is the same, with another result; not twice in a
 * row at the same address, for the reason given in condition.c. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <time.h>

#include "waiting.h"

#define BUCKETS 1024u

static uint64_t buckets[BUCKETS];

/* By the slot of the thread that waits. */
static const uint32_t *addresses[MAZURKA_MAX_THREADS + 1];
static uint32_t masks[MAZURKA_MAX_THREADS + 1];

/* Addresses have the object in their upper bits and the offset in the lower ones (native/core/layout.hpp). */
INLINE uint64_t *bucket_of(const uint32_t *word) {
    uint64_t address = (uintptr_t)word;
    return &buckets[(address >> 2 ^ (address >> MAZURKA_OFFSET_BITS) * 37) % BUCKETS];
}

/* The word at which this thread has last gone on without being woken, unless another wait has ended since. */
static _Thread_local const uint32_t *without_wakeup;

static long failed(int error) {
    errno = error;
    return -1;
}

/* Only in the first step of waiting. */
static _Bool goes_on_unwoken(const uint32_t *word) {
    if (__mazurka_leeway("spurious")) {
        if (without_wakeup != word && __mazurka_choose(2)) {
            without_wakeup = word;
            return 1;
        }
        without_wakeup = NULL;
    }
    return 0;
}

static long wait_at(const uint32_t *word, uint32_t value, const struct timespec *timeout, uint32_t mask) {
    if (mask == 0 || (timeout && (timeout->tv_sec < 0 || timeout->tv_nsec < 0 || timeout->tv_nsec >= 1000000000)))
        return failed(EINVAL);
    struct mazurka_thread *self = __mazurka_self();
    int error = 0;
    _Bool waits = 0;
    __mazurka_atomic_begin();
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value) {
        error = EAGAIN;
    } else if (timeout && __mazurka_choose(2)) {
        error = ETIMEDOUT;
    } else if (!goes_on_unwoken(word)) {
        waits = 1;
        *bucket_of(word) |= set_of(self);
        addresses[slot_of(self)] = word;
        masks[slot_of(self)] = mask;
    }
    __mazurka_atomic_end();
    if (error)
        return failed(error);
    if (waits) {
        __mazurka_atomic_begin();
        if (timeout) {
            __mazurka_assume(self->signalled != 0);
            self->signalled = 0;
        } else {
            AWAIT_WAKEUP(self, "futex", word);
        }
        __mazurka_atomic_end();
    }
    return 0;
}

/* Those who wait at a word for one of the bits. Only in an atomic section, as all that follows. */
static uint64_t waiters_at(const uint32_t *word, uint32_t mask) {
    uint64_t found = 0;
    for (uint64_t rest = *bucket_of(word); rest; rest &= rest - 1) {
        unsigned slot = (unsigned)__builtin_ctzll(rest);
        if (addresses[slot] == word && (masks[slot] & mask))
            found |= rest & -rest;
    }
    return found;
}

/* Any `count` members of a set, or all of it. */
static uint64_t some_of(uint64_t set, uint32_t count) {
    uint64_t chosen = 0;
    uint32_t size = (uint32_t)__builtin_popcountll(set);
    for (; set && count; set &= set - 1, size--) {
        if (size <= count || __mazurka_choose(2)) {
            chosen |= set & -set;
            count--;
        }
    }
    return chosen;
}

static uint32_t wake_at(const uint32_t *word, int count, uint32_t mask) {
    /* The kernel wakes one thread even if it is told to wake none. */
    uint64_t woken = some_of(waiters_at(word, mask), count > 0 ? (uint32_t)count : 1);
    if (woken)
        *bucket_of(word) &= ~woken;
    for (uint64_t rest = woken; rest; rest &= rest - 1) {
        addresses[__builtin_ctzll(rest)] = NULL;
        wake((unsigned)__builtin_ctzll(rest));
    }
    return (uint32_t)__builtin_popcountll(woken);
}

static uint32_t move_waiters(const uint32_t *from, const uint32_t *to, uint32_t count) {
    uint64_t moved = some_of(waiters_at(from, UINT32_MAX), count);
    if (moved && from != to) {
        *bucket_of(from) &= ~moved;
        *bucket_of(to) |= moved;
        for (uint64_t rest = moved; rest; rest &= rest - 1)
            addresses[__builtin_ctzll(rest)] = to;
    }
    return (uint32_t)__builtin_popcountll(moved);
}

static long wake_and_move(const uint32_t *from, int woken, const uint32_t *to, int moved, const uint32_t *expected) {
    if (woken < 0 || moved < 0)
        return failed(EINVAL);
    uint32_t count = 0;
    __mazurka_atomic_begin();
    _Bool agreed = !expected || __atomic_load_n(from, __ATOMIC_SEQ_CST) == *expected;
    if (agreed) {
        count = woken ? wake_at(from, woken, UINT32_MAX) : 0;
        count += move_waiters(from, to, (uint32_t)moved);
    }
    __mazurka_atomic_end();
    return agreed ? (long)count : failed(EAGAIN);
}

long __mazurka_futex(uint32_t *word, int operation, uint32_t value, const void *fourth, uint32_t *second,
                     uint32_t third_value) {
    uint32_t mask = UINT32_MAX;
    uint32_t count;
    if ((uintptr_t)word % 4)
        return failed(EINVAL);
    switch (operation & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME)) {
    case FUTEX_WAIT_BITSET:
        mask = third_value;
        /* fall through */
    case FUTEX_WAIT:
        return wait_at(word, value, fourth, mask);
    case FUTEX_WAKE_BITSET:
        mask = third_value;
        if (mask == 0)
            return failed(EINVAL);
        /* fall through */
    case FUTEX_WAKE:
        __mazurka_atomic_begin();
        count = wake_at(word, (int)value, mask);
        __mazurka_atomic_end();
        return count;
    case FUTEX_REQUEUE:
        return wake_and_move(word, (int)value, second, (int)(uintptr_t)fourth, NULL);
    case FUTEX_CMP_REQUEUE:
        return wake_and_move(word, (int)value, second, (int)(uintptr_t)fourth, &third_value);
    default:
        __mazurka_fail("limit", "only FUTEX_WAIT, FUTEX_WAKE, their forms with bits, FUTEX_REQUEUE and "
                                "FUTEX_CMP_REQUEUE are modelled of the futex system call");
    }
}
