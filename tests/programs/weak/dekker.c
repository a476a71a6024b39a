// expect: ok
// weakened: -DENTER=memory_order_acq_rel -> race; sc: ok; tso: race
// weakened: -DLOOK=memory_order_relaxed -> race; sc: race
// weakened: -DLEAVE=memory_order_relaxed -> race; sc: race
// weakened: -DAGAIN=memory_order_acq_rel -> race; sc: ok; tso: race
// unbroken: -DTURN=memory_order_relaxed
// Dekker's algorithm by fences: who finds that both want to get in steps back, unless it is its turn.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

// Between the wish and the look at the other: without it, neither of them sees that the other wants to get in, too.
#ifndef ENTER
#define ENTER memory_order_seq_cst
#endif
// The same, for a wish that was taken back and comes again. The turn came to this thread by a relaxed load, which says
// nothing about the other's being gone.
#ifndef AGAIN
#define AGAIN memory_order_seq_cst
#endif
// Acquires what the other did inside, which LEAVE releases.
#ifndef LOOK
#define LOOK memory_order_acquire
#endif
#ifndef LEAVE
#define LEAVE memory_order_release
#endif
// The turn decides who steps back, and not who gets in.
#ifndef TURN
#define TURN memory_order_acquire
#endif

static atomic_bool wishes[2];
static atomic_int turn;
static int counter;

static void enter(int self) {
    atomic_store_explicit(&wishes[self], true, memory_order_relaxed);
    atomic_thread_fence(ENTER);
    while (atomic_load_explicit(&wishes[1 - self], LOOK))
        if (atomic_load_explicit(&turn, TURN) != self) {
            atomic_store_explicit(&wishes[self], false, memory_order_relaxed);
            while (atomic_load_explicit(&turn, TURN) != self)
                ;
            atomic_store_explicit(&wishes[self], true, memory_order_relaxed);
            atomic_thread_fence(AGAIN);
        }
}

static void leave(int self) {
    atomic_store_explicit(&turn, 1 - self, memory_order_relaxed);
    atomic_store_explicit(&wishes[self], false, LEAVE);
}

static void *twice(void *unused) {
    for (int i = 0; i < 2; i++) {
        enter(0);
        counter++;
        leave(0);
    }
    return unused;
}

static void *once(void *unused) {
    enter(1);
    counter++;
    leave(1);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, twice, NULL);
    pthread_create(&b, NULL, once, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 3);
    return 0;
}
