// expect: ok
// weakened: -DPIN=memory_order_acq_rel -> memory; sc: ok; tso: memory
// weakened: -DADVANCE=memory_order_acq_rel -> memory; sc: ok; tso: memory
// weakened: -DUNPIN=memory_order_relaxed -> race; sc: race
// weakened: -DNOTE=memory_order_relaxed -> race; sc: race
// weakened: -DCOLLECT=memory_order_relaxed -> race; sc: race
// weakened: -DHASTY -> memory; sc: memory
// unbroken: -DNEXT=memory_order_relaxed
// Epochs: a reader notes the epoch in which it reads; the epoch advances if all who read know of it, and what was taken
// away two epochs ago is freed.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

// Between the note that somebody reads and what is read, and
#ifndef PIN
#define PIN memory_order_seq_cst
#endif
// between what was taken away and the look at that note: store buffering.
#ifndef ADVANCE
#define ADVANCE memory_order_seq_cst
#endif
// Releases what was read, and
#ifndef UNPIN
#define UNPIN memory_order_release
#endif
// releases it once more when the next note is made: since C++20, a relaxed store, even of the same thread, ends the
// release sequence, and whoever sees this note would know nothing of what was read under the last one.
#ifndef NOTE
#define NOTE memory_order_release
#endif
// Acquires it, before anything is freed. With HASTY, one epoch has to be enough: a reader that has noted the last one
// may still hold what was taken away in it.
#ifndef COLLECT
#define COLLECT memory_order_acquire
#endif
// Who reads the new epoch, and notes it, has a fence after that.
#ifndef NEXT
#define NEXT memory_order_release
#endif

enum { QUIET = 0, READS = 1 };

static _Atomic(int *) current;
static atomic_int epoch;
static atomic_int note;

static void *reader(void *unused) {
    for (int i = 0; i < 2; i++) {
        int now = atomic_load_explicit(&epoch, memory_order_relaxed);
        atomic_store_explicit(&note, now << 1 | READS, NOTE);
        atomic_thread_fence(PIN);
        int value = *atomic_load_explicit(&current, memory_order_acquire);
        assert(value == 1 || value == 2);
        atomic_store_explicit(&note, QUIET, UNPIN);
    }
    return unused;
}

static bool advance(void) {
    int now = atomic_load_explicit(&epoch, memory_order_relaxed);
    atomic_thread_fence(ADVANCE);
    int seen = atomic_load_explicit(&note, memory_order_relaxed);
    if (seen != QUIET && seen != (now << 1 | READS))
        return false;
    atomic_thread_fence(COLLECT);
    atomic_store_explicit(&epoch, now + 1, NEXT);
    return true;
}

static void *writer(void *unused) {
    int *old = atomic_load_explicit(&current, memory_order_relaxed), *new = malloc(sizeof *new);
    *new = 2;
    atomic_store_explicit(&current, new, memory_order_release);
#ifdef HASTY
    if (advance()) {
#else
    if (advance() && advance()) {
#endif
        *old = 0;
        free(old);
    }
    return unused;
}

int main(void) {
    int *first = malloc(sizeof *first);
    *first = 1;
    current = first;
    pthread_t a, b;
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
