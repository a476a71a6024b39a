/* Read-write locks.
 *
 * The writer is a word, the readers are counted by thread in words of their own, so that readers do not disturb each
 * other: two read locks, or two releases of them, are independent steps. Readers get the lock while others read even
 * if a writer waits, which is what the C library does by default. A lock that prefers writers is refused.
 *
 * Writers claim the lock. Readers do not, for they hold it together: a lock that has readers is none that keeps all
 * others out.
 *
 * Timed locks are trylocks, for the reason given in mutex.c. */
#include <errno.h>
#include <pthread.h>

#include "timeout.h"
#include "waiting.h"

struct rwlock {
    struct mazurka_thread *writer;
    unsigned char readers[32]; /* how many times a thread reads: 4 bits for slot s, high ones for slot s + 32 */
    void *mark;
    uint64_t state; /* the low half is where static initialisers say which side is preferred */
};
_Static_assert(sizeof(struct rwlock) == sizeof(pthread_rwlock_t), "layout");
_Static_assert(offsetof(struct rwlock, state) == offsetof(pthread_rwlock_t, __data.__flags), "static initialisers");

#define DESTROYED_LOCK ((uint64_t)1 << 63)
#define MOST_READS 15

static void require_usable(const struct rwlock *lock) {
    uint64_t state = lock->state;
    if (state == 0)
        return;
    if (state == DESTROYED_LOCK)
        __mazurka_fail("sync", "use of a destroyed read-write lock");
    if (state == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP)
        __mazurka_fail("sync", "locks that prefer writers are not supported; use PTHREAD_RWLOCK_INITIALIZER");
    __mazurka_fail("sync", "use of a read-write lock that was never initialised");
}

static unsigned reads_by(const struct rwlock *lock, unsigned slot) {
    return lock->readers[slot & 31] >> (slot >> 5 << 2) & MOST_READS;
}

static void add_read(struct rwlock *lock, unsigned slot) {
    if (reads_by(lock, slot) == MOST_READS)
        __mazurka_fail("sync", "more than 15 read locks of one lock by one thread are not supported");
    lock->readers[slot & 31] += 1 << (slot >> 5 << 2);
}

/* Null if nobody reads. (Not a loop, so that a trylock that goes round is seen to wait.) */
static struct mazurka_thread *a_reader(const struct rwlock *lock) {
    const uint64_t *words = (const uint64_t *)lock->readers;
    unsigned first = 0;
    uint64_t readers = words[0];
    if (!readers) {
        first = 8;
        readers = words[1];
    }
    if (!readers) {
        first = 16;
        readers = words[2];
    }
    if (!readers) {
        first = 24;
        readers = words[3];
    }
    if (!readers)
        return NULL;
    unsigned bit = (unsigned)__builtin_ctzll(readers);
    return thread_in(first + (bit >> 3) + (bit & 4) * 8);
}

int pthread_rwlock_init(pthread_rwlock_t *restrict object, const pthread_rwlockattr_t *restrict attributes) {
    struct rwlock *lock = (struct rwlock *)object;
    (void)attributes;
    __mazurka_atomic_begin();
    if (is_marked(&lock->mark)) {
        if (lock->writer || a_reader(lock))
            __mazurka_fail("sync", "initialising a read-write lock that is locked");
        __mazurka_fail("sync", "initialising a read-write lock that was initialised before and not destroyed");
    }
    lock->mark = &lock->mark;
    lock->writer = NULL;
    for (unsigned first = 0; first < sizeof lock->readers; first += 8)
        *(uint64_t *)(lock->readers + first) = 0;
    lock->state = 0;
    __mazurka_atomic_end();
    return 0;
}

int pthread_rwlock_destroy(pthread_rwlock_t *object) {
    struct rwlock *lock = (struct rwlock *)object;
    __mazurka_atomic_begin();
    require_usable(lock);
    if (lock->writer || a_reader(lock))
        __mazurka_fail("sync", "destroying a locked read-write lock");
    lock->state = DESTROYED_LOCK;
    lock->mark = NULL;
    __mazurka_atomic_end();
    return 0;
}

int pthread_rwlock_rdlock(pthread_rwlock_t *object) {
    struct rwlock *lock = (struct rwlock *)object;
    __mazurka_atomic_begin();
    require_usable(lock);
    struct mazurka_thread *writer = lock->writer;
    __mazurka_await(writer == NULL, "read-write lock", lock, writer);
    add_read(lock, slot_of(__mazurka_self()));
    __mazurka_atomic_end();
    return 0;
}

int pthread_rwlock_wrlock(pthread_rwlock_t *object) {
    struct rwlock *lock = (struct rwlock *)object;
    __mazurka_atomic_begin();
    require_usable(lock);
    __mazurka_claim(lock, "acquire");
    struct mazurka_thread *writer = lock->writer;
    __mazurka_await(writer == NULL, "read-write lock", lock, writer);
    struct mazurka_thread *reader = a_reader(lock);
    __mazurka_await(reader == NULL, "read-write lock", lock, reader);
    lock->writer = __mazurka_self();
    __mazurka_atomic_end();
    return 0;
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *object) {
    struct rwlock *lock = (struct rwlock *)object;
    int result = 0;
    __mazurka_atomic_begin();
    require_usable(lock);
    if (lock->writer == NULL) {
        add_read(lock, slot_of(__mazurka_self()));
    } else {
        __mazurka_relax();
        result = EBUSY;
    }
    __mazurka_atomic_end();
    return result;
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *object) {
    struct rwlock *lock = (struct rwlock *)object;
    int result = 0;
    __mazurka_atomic_begin();
    require_usable(lock);
    if (lock->writer == NULL && a_reader(lock) == NULL) {
        __mazurka_claim(lock, "try");
        lock->writer = __mazurka_self();
    } else {
        __mazurka_claim(lock, "look");
        __mazurka_relax();
        result = EBUSY;
    }
    __mazurka_atomic_end();
    return result;
}

int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict lock, const struct timespec *restrict deadline) {
    if (pthread_rwlock_tryrdlock(lock) == 0)
        return 0;
    __mazurka_pass_time(deadline);
    return timed_out(deadline);
}

int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict lock, const struct timespec *restrict deadline) {
    if (pthread_rwlock_trywrlock(lock) == 0)
        return 0;
    __mazurka_pass_time(deadline);
    return timed_out(deadline);
}

int pthread_rwlock_clockrdlock(pthread_rwlock_t *restrict lock, clockid_t clock,
                               const struct timespec *restrict deadline) {
    (void)clock;
    return pthread_rwlock_timedrdlock(lock, deadline);
}

int pthread_rwlock_clockwrlock(pthread_rwlock_t *restrict lock, clockid_t clock,
                               const struct timespec *restrict deadline) {
    (void)clock;
    return pthread_rwlock_timedwrlock(lock, deadline);
}

int pthread_rwlock_unlock(pthread_rwlock_t *object) {
    struct rwlock *lock = (struct rwlock *)object;
    struct mazurka_thread *self = __mazurka_self();
    unsigned slot = slot_of(self);
    __mazurka_atomic_begin();
    require_usable(lock);
    if (lock->writer == self) {
        __mazurka_claim(lock, "release");
        lock->writer = NULL;
    } else if (reads_by(lock, slot) > 0) {
        lock->readers[slot & 31] -= 1 << (slot >> 5 << 2);
    } else {
        __mazurka_fail("sync", "unlocking a read-write lock that this thread does not hold");
    }
    __mazurka_atomic_end();
    return 0;
}

/* Attributes: sharing between processes, which has no effect here. */

int pthread_rwlockattr_init(pthread_rwlockattr_t *attributes) {
    *(int *)attributes = 0;
    return 0;
}

int pthread_rwlockattr_destroy(pthread_rwlockattr_t *attributes) {
    (void)attributes;
    return 0;
}

int pthread_rwlockattr_setpshared(pthread_rwlockattr_t *attributes, int shared) {
    (void)attributes;
    return shared == PTHREAD_PROCESS_PRIVATE || shared == PTHREAD_PROCESS_SHARED ? 0 : EINVAL;
}
