// expect: ok
// weakened: -DARRIVE=memory_order_release -> race; sc: race
// weakened: -DARRIVE=memory_order_acquire -> race; sc: race
// weakened: -DFLIP=memory_order_relaxed -> race; sc: race
// weakened: -DWAIT=memory_order_relaxed -> race; sc: race
// unbroken: -DRESET=memory_order_relaxed
// A barrier that reverses its sense: the last who arrives lets all go, and the next round waits for the opposite.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

// Releases what was done before the barrier, and acquires what those did who came earlier: the last one needs all of
// it, to pass it on. Each arrival is in the release sequences of the earlier ones.
#ifndef ARRIVE
#define ARRIVE memory_order_acq_rel
#endif
// Lets the others go,
#ifndef FLIP
#define FLIP memory_order_release
#endif
// who acquire what all have done.
#ifndef WAIT
#define WAIT memory_order_acquire
#endif
// Goes along with the flip: nobody arrives again before that.
#ifndef RESET
#define RESET memory_order_release
#endif

enum { THREADS = 2, ROUNDS = 2 };

static atomic_int missing = THREADS;
static atomic_bool sense;
static int cells[THREADS];

static void meet(bool mine) {
    if (atomic_fetch_sub_explicit(&missing, 1, ARRIVE) == 1) {
        atomic_store_explicit(&missing, THREADS, RESET);
        atomic_store_explicit(&sense, mine, FLIP);
    } else {
        while (atomic_load_explicit(&sense, WAIT) != mine)
            ;
    }
}

static void *work(void *argument) {
    int self = argument != NULL;
    bool mine = true;
    for (int i = 1; i <= ROUNDS; i++) {
        cells[self] = i;
        meet(mine);
        assert(cells[1 - self] == i);
        mine = !mine;
        meet(mine);
        mine = !mine;
    }
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, cells);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
