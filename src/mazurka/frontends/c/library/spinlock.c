/* Spinlocks: one word that says who holds it. Waiting is not spinning here but a step that is not enabled, so that a
 * lock that is never released is a deadlock. There is no static initialiser: zeros were never initialised. There is no
 * room for a mark (waiting.h), so a lock that is initialised again may be a copy, made by the thread that holds the
 * other one; but not if another thread holds it. */
#include <errno.h>
#include <pthread.h>

#include "waiting.h"

/* Not what a word may happen to hold. The lowest byte says whether it is held, and by which slot. */
enum { SPINLOCK = 0x59113c00, FREE = SPINLOCK | 1, DESTROYED = SPINLOCK | 2, HELD = SPINLOCK | 3 };

static _Bool is_held(unsigned word) { return (word & ~0xfcu) == HELD; }

static unsigned holder(unsigned word) { return (word & 0xff) >> 2; }

static void require_usable(unsigned word) {
    if (word == DESTROYED)
        __mazurka_fail("sync", "use of a destroyed spinlock");
    if (word != FREE && !is_held(word))
        __mazurka_fail("sync", "use of a spinlock that was never initialised");
}

static unsigned held_by(const struct mazurka_thread *thread) { return slot_of(thread) << 2 | HELD; }

int pthread_spin_init(pthread_spinlock_t *lock, int shared) {
    (void)shared;
    __mazurka_atomic_begin();
    unsigned word = (unsigned)(uintptr_t)__mazurka_defined((void *)(uintptr_t)(unsigned)*lock);
    if (is_held(word) && holder(word) != slot_of(__mazurka_self()))
        __mazurka_fail("sync", "initialising a spinlock that another thread holds");
    *lock = FREE;
    __mazurka_atomic_end();
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
    __mazurka_await(word == FREE, "spinlock", lock, thread_in(holder(word)));
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
        __mazurka_relax();
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
