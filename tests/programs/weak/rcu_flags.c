// expect: ok
// weakened: -DENTER=memory_order_acq_rel -> memory; sc: ok; tso: memory
// weakened: -DGRACE=memory_order_acq_rel -> memory; sc: ok; tso: memory
// weakened: -DLEAVE=memory_order_relaxed -> race; sc: race
// weakened: -DWAIT=memory_order_relaxed -> race; sc: race
// weakened: -DPUBLISH=memory_order_relaxed -> race; sc: race
// unbroken: -DSUBSCRIBE=memory_order_relaxed -DUSE=memory_order_acquire
// weakened: -DSUBSCRIBE=memory_order_relaxed -> race; sc: race
// Read, copy, update: readers raise a flag while they read, and the writer frees the old version after each of them has
// been seen without it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

// Between the reader's flag and its look at the version, and
#ifndef ENTER
#define ENTER memory_order_seq_cst
#endif
// between the writer's new version and its look at the flags: store buffering. If the writer does not see the flag, the
// reader has to see the new version.
#ifndef GRACE
#define GRACE memory_order_seq_cst
#endif
// Releases what was read, and
#ifndef LEAVE
#define LEAVE memory_order_release
#endif
// acquires it: otherwise the old version may be overwritten while it is read.
#ifndef WAIT
#define WAIT memory_order_acquire
#endif
// Releases the new version to readers, who acquire it, by the load or by a fence after it.
#ifndef PUBLISH
#define PUBLISH memory_order_release
#endif
#ifndef SUBSCRIBE
#define SUBSCRIBE memory_order_acquire
#endif
#ifndef USE
#define USE memory_order_relaxed
#endif

struct version {
    int left, right;
};

static _Atomic(struct version *) current;
static atomic_bool reads[2];

static void *reader(void *argument) {
    int self = argument != NULL;
    atomic_store_explicit(&reads[self], true, memory_order_relaxed);
    atomic_thread_fence(ENTER);
    struct version *version = atomic_load_explicit(&current, SUBSCRIBE);
    atomic_thread_fence(USE);
    int left = version->left, right = version->right;
    assert(left == right);
    atomic_store_explicit(&reads[self], false, LEAVE);
    return NULL;
}

static void *writer(void *unused) {
    struct version *old = atomic_load_explicit(&current, memory_order_relaxed);
    struct version *new = malloc(sizeof *new);
    new->left = new->right = old->left + 1;
    atomic_store_explicit(&current, new, PUBLISH);
    atomic_thread_fence(GRACE);
    for (int i = 0; i < 2; i++)
        while (atomic_load_explicit(&reads[i], WAIT))
            ;
    old->left = -1;
    free(old);
    return unused;
}

int main(void) {
    struct version *first = malloc(sizeof *first);
    first->left = first->right = 1;
    current = first;
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, reader, NULL);
    pthread_create(&threads[1], NULL, reader, threads);
    pthread_create(&threads[2], NULL, writer, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(current->left == 2);
    return 0;
}
