/* Threads as small numbers, so that a set of threads is one word.
 *
 * The control block of the thread in slot s is the object number 0 of its owner; slots go from 1 to
 * MAZURKA_MAX_THREADS. Bit 0 of a set of threads is therefore free; the models use it to mark destroyed objects. */
#ifndef MAZURKA_WAITING_H
#define MAZURKA_WAITING_H

#include <stdint.h>

#include "mazurka.h"

#define INLINE static inline __attribute__((always_inline))

#define DESTROYED_SET 1ul

INLINE unsigned slot_of(const struct mazurka_thread *thread) {
    return (uintptr_t)thread >> MAZURKA_OFFSET_BITS & MAZURKA_MAX_THREADS;
}

INLINE struct mazurka_thread *thread_in(unsigned slot) {
    return (struct mazurka_thread *)((uintptr_t)slot << MAZURKA_OFFSET_BITS);
}

INLINE uint64_t set_of(const struct mazurka_thread *thread) { return (uint64_t)1 << slot_of(thread); }

/* Whether the bits can be the address of a control block, or null. */
INLINE _Bool is_thread_or_null(const void *address) {
    return ((uintptr_t)address & ~((uintptr_t)MAZURKA_MAX_THREADS << MAZURKA_OFFSET_BITS)) == 0;
}

/* An object that its init function has made, and that was not destroyed, holds a mark: its own address, so that what is
 * only copied from such an object does not count. Memory that was never written holds none, nor do static initialisers.
 * To initialise it again is a mistake. */
INLINE _Bool is_marked(void *const *mark) { return __mazurka_defined(*mark) == (const void *)mark; }

/* Let a thread go on that waits in `AWAIT_WAKEUP`. It is the thread's own word that changes, never the object that it
 * waited for: by the time it goes on, that object may be destroyed and its memory freed. */
INLINE void wake(unsigned slot) { thread_in(slot)->signalled = 1; }

/* A macro because the text has to be a literal where the intrinsic is called. */
#define AWAIT_WAKEUP(self, what, object)                                                                               \
    do {                                                                                                               \
        __mazurka_await((self)->signalled != 0, what, object, NULL);                                                   \
        (self)->signalled = 0;                                                                                         \
    } while (0)

#endif
