// expect: ok
// weakened: -DSEND=memory_order_relaxed -> race; sc: race
// weakened: -DRELAY_TAKES=memory_order_relaxed -> race; sc: race
// weakened: -DRELAY_PASSES=memory_order_relaxed -> race; sc: race
// weakened: -DRECEIVE=memory_order_relaxed -> race; sc: race
// A message that goes through a third thread: what happens before is transitive, if every hop releases and acquires.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef SEND
#define SEND memory_order_release
#endif
// The relay does not touch the data, but has to acquire them all the same, or it has nothing to pass on.
#ifndef RELAY_TAKES
#define RELAY_TAKES memory_order_acquire
#endif
#ifndef RELAY_PASSES
#define RELAY_PASSES memory_order_release
#endif
#ifndef RECEIVE
#define RECEIVE memory_order_acquire
#endif

static int data;
static atomic_int sent, relayed;

static void *send(void *unused) {
    data = 42;
    atomic_store_explicit(&sent, 1, SEND);
    return unused;
}

static void *relay(void *unused) {
    while (!atomic_load_explicit(&sent, RELAY_TAKES))
        ;
    atomic_store_explicit(&relayed, 1, RELAY_PASSES);
    return unused;
}

static void *receive(void *unused) {
    while (!atomic_load_explicit(&relayed, RECEIVE))
        ;
    assert(data == 42);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, send, NULL);
    pthread_create(&threads[1], NULL, relay, NULL);
    pthread_create(&threads[2], NULL, receive, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
