// expect: ok
// weakened: -DAWAIT=memory_order_relaxed -> race; sc: race
// weakened: -DPASS=memory_order_relaxed -> race; sc: race
// weakened: -DTAKE=memory_order_relaxed -> race; sc: ok
// weakened: -DTAKE=memory_order_acquire -> race; sc: ok
// unbroken: -DCLOSE=memory_order_relaxed
// Anderson's lock: each thread waits at a place of its own in an array, which goes round.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

// Which place is whose. It passes on that places of earlier rounds were closed, by who comes again: otherwise the place
// may look open, as it was then.
#ifndef TAKE
#define TAKE memory_order_acq_rel
#endif
// Acquires what the one before did,
#ifndef AWAIT
#define AWAIT memory_order_acquire
#endif
// which this releases to the next one.
#ifndef PASS
#define PASS memory_order_release
#endif
// Goes along with one of the others.
#ifndef CLOSE
#define CLOSE memory_order_release
#endif

enum { PLACES = 2 };

static atomic_bool open[PLACES] = {true};
static atomic_uint next;
static int counter;

static void *work(void *argument) {
    int *rounds = argument;
    for (int i = 0; i < *rounds; i++) {
        unsigned mine = atomic_fetch_add_explicit(&next, 1, TAKE) & (PLACES - 1);
        while (!atomic_load_explicit(&open[mine], AWAIT))
            ;
        atomic_store_explicit(&open[mine], false, CLOSE);
        counter++;
        atomic_store_explicit(&open[(mine + 1) & (PLACES - 1)], true, PASS);
    }
    return NULL;
}

int main(void) {
    pthread_t a, b;
    int once = 1, twice = 2;
    pthread_create(&a, NULL, work, &twice);
    pthread_create(&b, NULL, work, &once);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 3);
    return 0;
}
