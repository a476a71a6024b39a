// expect: ok
// weakened: -DPUBLISH=memory_order_relaxed -> race; sc: race
// weakened: -DTAKE=memory_order_relaxed -> race; sc: race
// Message passing: data is written, then a flag is raised; who sees the flag reads the data.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

// Releases the data: a relaxed store would promise nothing about what was written before it.
#ifndef PUBLISH
#define PUBLISH memory_order_release
#endif
// Acquires them: after a relaxed load, the data could still be what they were before.
#ifndef TAKE
#define TAKE memory_order_acquire
#endif

static int data;
static atomic_int ready;

static void *send(void *unused) {
    data = 42;
    atomic_store_explicit(&ready, 1, PUBLISH);
    return unused;
}

static void *receive(void *unused) {
    while (!atomic_load_explicit(&ready, TAKE))
        ;
    assert(data == 42);
    return unused;
}

int main(void) {
    pthread_t sender, receiver;
    pthread_create(&sender, NULL, send, NULL);
    pthread_create(&receiver, NULL, receive, NULL);
    pthread_join(sender, NULL);
    pthread_join(receiver, NULL);
    return 0;
}
