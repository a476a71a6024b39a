// expect: ok
// An object that is made once, by whoever needs it first; the others wait until it is there.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { NOTHING, MAKING, READY };

static atomic_int state;
static int *object;
static atomic_int made;

static void make(void) {
    object = malloc(sizeof *object);
    *object = 42;
    atomic_fetch_add(&made, 1);
}

static int *get(void) {
    int seen = NOTHING;
    if (atomic_compare_exchange_strong(&state, &seen, MAKING)) {
        make();
        atomic_store_explicit(&state, READY, memory_order_release);
    } else {
        while (atomic_load_explicit(&state, memory_order_acquire) != READY)
            sched_yield();
    }
    return object;
}

static void *use(void *unused) {
    assert(*get() == 42);
    return unused;
}

static void finish(void) {
    assert(made == 1);
    free(object);
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, use, NULL);
    pthread_create(&threads[1], NULL, use, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    finish();
    return 0;
}
