// expect: ok
// weakened: -DPUBLISH=memory_order_relaxed -> race; sc: race
// weakened: -DFOLLOW=memory_order_relaxed -> race; sc: race
// weakened: -DFILL=memory_order_relaxed -> assertion; sc: ok
// unbroken: -DFOLLOW=memory_order_consume
// A message is published by a pointer to it. That the reader's second access depends on its first one does not order
// them in C11, unless that is consume, which everybody treats as acquire.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef PUBLISH
#define PUBLISH memory_order_release
#endif
#ifndef FOLLOW
#define FOLLOW memory_order_acquire
#endif
// The second field is atomic, and written after the pointer was published: has to release the first one by itself.
#ifndef FILL
#define FILL memory_order_release
#endif

struct message {
    int text;
    atomic_int late, signature;
};

static struct message room;
static _Atomic(struct message *) message;

static void *send(void *unused) {
    room.text = 42;
    atomic_store_explicit(&message, &room, PUBLISH);
    atomic_store_explicit(&room.late, 43, memory_order_relaxed);
    atomic_store_explicit(&room.signature, 44, FILL);
    return unused;
}

static void *receive(void *unused) {
    struct message *got = atomic_load_explicit(&message, FOLLOW);
    if (!got)
        return unused;
    assert(got->text == 42);
    if (atomic_load_explicit(&got->signature, memory_order_acquire) == 44)
        assert(atomic_load_explicit(&got->late, memory_order_relaxed) == 43);
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
