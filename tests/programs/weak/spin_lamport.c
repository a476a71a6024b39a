// expect: ok
// weakened: -DFIRST=memory_order_acq_rel -> race; sc: ok; tso: race
// weakened: -DSECOND=memory_order_acq_rel -> race; sc: ok; tso: race
// weakened: -DLEAVE=memory_order_relaxed -> race; sc: race
// weakened: -DENTER=memory_order_relaxed -> race; sc: race
// Lamport's fast mutual exclusion: seven accesses if nobody else comes. Each thread writes its name on two doors; who
// finds its name on the first one, with the second one open before, gets in.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

// Between the name on the first door and the look at the second one: store buffering.
#ifndef FIRST
#define FIRST memory_order_seq_cst
#endif
// Between the name on the second door and the look back at the first one: store buffering again.
#ifndef SECOND
#define SECOND memory_order_seq_cst
#endif
// Acquires what those did who were inside,
#ifndef ENTER
#define ENTER memory_order_acquire
#endif
// which they released when they opened the second door again, or took back that they want to get in.
#ifndef LEAVE
#define LEAVE memory_order_release
#endif

static atomic_int first_door, second_door;
static atomic_bool wants[3];
static int counter;

// Whether it got in: who would have to begin anew gives up instead.
static bool enter(int self) {
    atomic_store_explicit(&wants[self], true, memory_order_relaxed);
    atomic_store_explicit(&first_door, self, memory_order_relaxed);
    atomic_thread_fence(FIRST);
    if (atomic_load_explicit(&second_door, ENTER) != 0) {
        atomic_store_explicit(&wants[self], false, LEAVE);
        return false;
    }
    atomic_store_explicit(&second_door, self, memory_order_relaxed);
    atomic_thread_fence(SECOND);
    if (atomic_load_explicit(&first_door, memory_order_relaxed) == self)
        return true;
    atomic_store_explicit(&wants[self], false, LEAVE);
    atomic_thread_fence(SECOND);
    while (atomic_load_explicit(&wants[3 - self], ENTER))
        ;
    if (atomic_load_explicit(&second_door, ENTER) == self)
        return true;
    return false;
}

static void *work(void *argument) {
    int *self = argument;
    if (enter(*self)) {
        counter++;
        atomic_store_explicit(&second_door, 0, LEAVE);
        atomic_store_explicit(&wants[*self], false, LEAVE);
    }
    return NULL;
}

int main(void) {
    pthread_t a, b;
    int one = 1, two = 2;
    pthread_create(&a, NULL, work, &one);
    pthread_create(&b, NULL, work, &two);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter >= 1);
    return 0;
}
