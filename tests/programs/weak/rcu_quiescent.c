// expect: ok
// weakened: -DPAUSE=memory_order_relaxed -> memory; sc: ok
// weakened: -DPAUSE=memory_order_release -> memory; sc: ok
// weakened: -DGRACE=memory_order_relaxed -> memory; sc: ok
// weakened: -DREPORT=memory_order_relaxed -> race; sc: race
// weakened: -DWAIT=memory_order_relaxed -> race; sc: race
// weakened: -DSUBSCRIBE=memory_order_relaxed -> race; sc: race
// weakened: -DPUBLISH=memory_order_relaxed -> race; sc: race
// Read, copy, update, where readers say from time to time that they hold nothing: they report the number of the
// newest grace period that they know of. The writer begins one and waits for the report. Nothing has to be seq_cst: who
// reports a period has heard of it, and with it of the new version.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

// Between the number of the period and the next look at the version, which otherwise may be the old one still.
#ifndef PAUSE
#define PAUSE memory_order_acquire
#endif
// Between the new version and the number of the period that begins, with the same purpose.
#ifndef GRACE
#define GRACE memory_order_release
#endif
// Releases what was read before; the writer acquires it.
#ifndef REPORT
#define REPORT memory_order_release
#endif
#ifndef WAIT
#define WAIT memory_order_acquire
#endif
// The new version.
#ifndef PUBLISH
#define PUBLISH memory_order_release
#endif
#ifndef SUBSCRIBE
#define SUBSCRIBE memory_order_acquire
#endif

static _Atomic(int *) current;
static atomic_int period = 1, reported = 1;

static void use(void) {
    int *version = atomic_load_explicit(&current, SUBSCRIBE);
    int value = *version;
    assert(value == 1 || value == 2);
}

static void *reader(void *unused) {
    for (int i = 0; i < 2; i++) {
        use();
        int now = atomic_load_explicit(&period, memory_order_relaxed);
        atomic_store_explicit(&reported, now, REPORT);
        atomic_thread_fence(PAUSE);
    }
    use();
    atomic_store_explicit(&reported, 2, REPORT);
    return unused;
}

static void *writer(void *unused) {
    int *old = atomic_load_explicit(&current, memory_order_relaxed), *new = malloc(sizeof *new);
    *new = 2;
    atomic_store_explicit(&current, new, PUBLISH);
    atomic_thread_fence(GRACE);
    atomic_store_explicit(&period, 2, memory_order_relaxed);
    while (atomic_load_explicit(&reported, WAIT) != 2)
        ;
    *old = 0;
    free(old);
    return unused;
}

int main(void) {
    int *first = malloc(sizeof *first);
    *first = 1;
    current = first;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, reader, NULL);
    pthread_create(&threads[1], NULL, writer, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
