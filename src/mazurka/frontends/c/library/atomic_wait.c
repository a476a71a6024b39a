/* Waiting for another value of an atomic object, and telling those who wait (std::atomic's wait and notify, on which
 * latches, barriers and semaphores of C++ are built).
 *
 * Who finds the old value enters a set of waiters in the same step, so that no notification between the two is lost, and
 * goes on when it is notified. Objects have no room for such a set; it is found by their address, and may be shared with
 * others, so the address that each thread waits at is kept, too. */
#include <stdint.h>
#include <string.h>

#include "waiting.h"

#define SETS 256

static struct {
    uint64_t sets[SETS];
    const volatile void *addresses[MAZURKA_MAX_THREADS + 1]; /* by slot, of those that are in a set */
} waiting;

INLINE uint64_t *set_at(const volatile void *object) {
    uintptr_t address = (uintptr_t)object;
    return &waiting.sets[(address >> 3 ^ address >> MAZURKA_OFFSET_BITS) % SETS];
}

INLINE _Bool holds(const volatile void *object, const void *value, size_t size) {
    switch (size) {
    case 1:
        return *(const volatile uint8_t *)object == *(const uint8_t *)value;
    case 2:
        return *(const volatile uint16_t *)object == *(const uint16_t *)value;
    case 4:
        return *(const volatile uint32_t *)object == *(const uint32_t *)value;
    case 8:
        return *(const volatile uint64_t *)object == *(const uint64_t *)value;
    default:
        return memcmp((const void *)object, value, size) == 0;
    }
}

void __mazurka_atomic_wait(const volatile void *object, const void *value, size_t size) {
    struct mazurka_thread *self = __mazurka_self();
    __mazurka_atomic_begin();
    _Bool waits = holds(object, value, size);
    if (waits) {
        *set_at(object) |= set_of(self);
        waiting.addresses[slot_of(self)] = object;
    }
    __mazurka_atomic_end();
    if (!waits)
        return;
    __mazurka_atomic_begin();
    AWAIT_WAKEUP(self, "notification of", object);
    __mazurka_atomic_end();
}

void __mazurka_atomic_notify(const volatile void *object, _Bool all) {
    __mazurka_atomic_begin();
    uint64_t *set = set_at(object);
    uint64_t here = 0;
    unsigned count = 0;
    for (uint64_t rest = *set; rest; rest &= rest - 1)
        if (waiting.addresses[__builtin_ctzll(rest)] == object) {
            here |= rest & -rest;
            count++;
        }
    if (count && !all) {
        for (unsigned skipped = count > 1 ? __mazurka_choose(count) : 0; skipped > 0; skipped--)
            here &= here - 1;
        here &= -here;
    }
    if (here)
        *set &= ~here;
    for (; here; here &= here - 1)
        wake((unsigned)__builtin_ctzll(here));
    __mazurka_atomic_end();
}
