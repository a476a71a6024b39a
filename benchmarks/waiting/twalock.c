/* A ticket lock with a waiting array (Dice and Kogan): whoever is next in line waits for the lock's grant, and all others
 * for a slot of an array, so that a release disturbs only two threads. N threads take it once. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "spin.h"

#ifndef N
#define N 3
#endif

enum { SLOTS = 4096 };

static atomic_uint ticket, grant;
static atomic_uint waiting[SLOTS]; /* how often the slot's ticket came close to its turn */

static void wait_in_slot(unsigned mine) {
    unsigned slot = mine % SLOTS;
    unsigned seen = atomic_load(&waiting[slot]);
    while (mine - atomic_load(&grant) > 1) {
        unsigned now;
        spin_until((now = atomic_load(&waiting[slot])) != seen);
        seen = now;
    }
}

static void acquire(int id) {
    (void)id;
    unsigned mine = atomic_fetch_add(&ticket, 1);
    unsigned ahead = mine - atomic_load(&grant);
    if (ahead == 0)
        return;
    if (ahead > 1)
        wait_in_slot(mine);
    spin_until(atomic_load(&grant) == mine);
}

static void release(int id) {
    (void)id;
    unsigned next = atomic_load(&grant) + 1;
    atomic_store(&grant, next);
    atomic_fetch_add(&waiting[(next + 1) % SLOTS], 1);
}

#include "lock.h"
