// expect: ok
// weakened: -DDOWN=memory_order_relaxed -> race; sc: race
// weakened: -DUP=memory_order_relaxed -> race; sc: race
// unbroken: -DDOWN=memory_order_relaxed -DLOOK=memory_order_acquire
// A counting semaphore of compare-exchanges: two units are handed out one by one, and each comes with a message.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

// Acquires what came with the units. Updates in between, of those who take other units, pass it on: they are in the
// release sequence of whoever has put one there.
#ifndef DOWN
#define DOWN memory_order_acquire
#endif
#ifndef UP
#define UP memory_order_release
#endif
// A guess, which the compare-exchange confirms. It could acquire instead: here, whoever has seen any unit has seen
// enough.
#ifndef LOOK
#define LOOK memory_order_relaxed
#endif

static atomic_int units;
static int message;

static void up(void) { atomic_fetch_add_explicit(&units, 1, UP); }

static void down(void) {
    int seen;
    do
        while ((seen = atomic_load_explicit(&units, LOOK)) == 0)
            ;
    while (!atomic_compare_exchange_strong_explicit(&units, &seen, seen - 1, DOWN, memory_order_relaxed));
}

static void *give(void *unused) {
    message = 42;
    up();
    up();
    return unused;
}

static void *take(void *unused) {
    down();
    assert(message == 42);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, give, NULL);
    pthread_create(&threads[1], NULL, take, NULL);
    pthread_create(&threads[2], NULL, take, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(units == 0);
    return 0;
}
