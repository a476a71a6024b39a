/* Spinlocks: one word that says who holds it. Waiting is not spinning here but a step that is not enabled, so that a
 * lock that is never released is a deadlock. There is no static initialiser: zeros were never initialised. */
#include <errno.h>
#include <pthread.h>

#include "waiting.h"

enum { FREE = 1, DESTROYED = 2, HELD = 3 }; /* held: the slot of its owner is in the higher bits */

static void require_usable(unsigned word) {
    if (word == DESTROYED)
        __mazurka_fail("sync", "use of a destroyed spinlock");
    if (word != FREE && ((word & 3) != HELD || word >> 8))
        __mazurka_fail("sync", "use of a spinlock that was never initialised");
}

static unsigned held_by(const struct mazurka_thread *thread) { return slot_of(thread) << 2 | HELD; }

int pthread_spin_init(pthread_spinlock_t *lock, int shared) {
    (void)shared;
    *lock = FREE;
    return 0;
}

int pthread_spin_destroy(pthread_spinlock_t *lock) {
    __mazurka_atomic_begin();
    unsigned word = (unsigned)*lock;
    require_usable(word);
    if (word != FREE)
        __mazurka_fail("sync", "destroying a locked spinlock");
    *lock = DESTROYED;
    __mazurka_atomic_end();
    return 0;
}

int pthread_spin_lock(pthread_spinlock_t *lock) {
    __mazurka_atomic_begin();
    unsigned word = (unsigned)*lock;
    require_usable(word);
    __mazurka_claim(lock, "acquire");
    __mazurka_await(word == FREE, "spinlock", lock, thread_in(word >> 2));
    *lock = (int)held_by(__mazurka_self());
    __mazurka_atomic_end();
    return 0;
}

int pthread_spin_trylock(pthread_spinlock_t *lock) {
    int result = 0;
    __mazurka_atomic_begin();
    unsigned word = (unsigned)*lock;
    require_usable(word);
    if (word == FREE) {
        __mazurka_claim(lock, "try");
        *lock = (int)held_by(__mazurka_self());
    } else {
        __mazurka_claim(lock, "look");
        result = EBUSY;
    }
    __mazurka_atomic_end();
    return result;
}

int pthread_spin_unlock(pthread_spinlock_t *lock) {
    __mazurka_atomic_begin();
    unsigned word = (unsigned)*lock;
    require_usable(word);
    if (word == FREE)
        __mazurka_fail("sync", "unlocking a spinlock that is not locked");
    if (word != held_by(__mazurka_self()))
        __mazurka_fail("sync", "unlocking a spinlock that another thread holds");
    __mazurka_claim(lock, "release");
    *lock = FREE;
    __mazurka_atomic_end();
    return 0;
}
