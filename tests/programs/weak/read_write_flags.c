// expect: ok
// weakened: -DREADER=memory_order_acq_rel -> race; sc: ok; tso: race
// weakened: -DWRITER=memory_order_acq_rel -> race; sc: ok; tso: race
// weakened: -DLEAVE=memory_order_relaxed -> race; sc: race
// weakened: -DDRAIN=memory_order_relaxed -> race; sc: race
// weakened: -DOPEN=memory_order_relaxed -> race; sc: race
// weakened: -DLOOK=memory_order_relaxed -> race; sc: race
// A readers-writer lock with a flag for each reader, so that readers do not get into each other's way: a reader raises
// its flag and looks for the writer, the writer closes the door and looks at all flags.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

// Store buffering: one of them has to see the other, or both are inside.
#ifndef READER
#define READER memory_order_seq_cst
#endif
#ifndef WRITER
#define WRITER memory_order_seq_cst
#endif
// A reader has read, which the writer has to come after.
#ifndef LEAVE
#define LEAVE memory_order_release
#endif
#ifndef DRAIN
#define DRAIN memory_order_acquire
#endif
// The writer has written, which readers have to come after.
#ifndef OPEN
#define OPEN memory_order_release
#endif
#ifndef LOOK
#define LOOK memory_order_acquire
#endif

static atomic_bool closed;
static atomic_bool inside[2];
static int left, right;

static void read_lock(int self) {
    for (;;) {
        atomic_store_explicit(&inside[self], true, memory_order_relaxed);
        atomic_thread_fence(READER);
        if (!atomic_load_explicit(&closed, LOOK))
            return;
        atomic_store_explicit(&inside[self], false, memory_order_relaxed);
        while (atomic_load_explicit(&closed, LOOK))
            ;
    }
}

static void *reader(void *argument) {
    int self = argument != NULL;
    read_lock(self);
    int l = left, r = right;
    assert(l == r);
    atomic_store_explicit(&inside[self], false, LEAVE);
    return NULL;
}

static void *writer(void *unused) {
    atomic_store_explicit(&closed, true, memory_order_relaxed);
    atomic_thread_fence(WRITER);
    for (int i = 0; i < 2; i++)
        while (atomic_load_explicit(&inside[i], DRAIN))
            ;
    left = right = 1;
    atomic_store_explicit(&closed, false, OPEN);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, reader, NULL);
    pthread_create(&threads[1], NULL, reader, threads);
    pthread_create(&threads[2], NULL, writer, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
