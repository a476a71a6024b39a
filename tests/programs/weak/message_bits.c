// expect: ok
// weakened: -DMARK=memory_order_relaxed -> race; sc: race
// weakened: -DSEE=memory_order_relaxed -> race; sc: race
// unbroken: -DMARK=memory_order_relaxed -DBEFORE=memory_order_release
// unbroken: -DSEE=memory_order_relaxed -DAFTER=memory_order_acquire
// Two senders mark their messages in one word; the receiver waits for both marks and reads both messages. The mark of
// the one does not end the release sequence of the other, since it is an update. Fences will do as well.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef MARK
#define MARK memory_order_release
#endif
#ifndef SEE
#define SEE memory_order_acquire
#endif
#ifndef BEFORE
#define BEFORE memory_order_relaxed
#endif
#ifndef AFTER
#define AFTER memory_order_relaxed
#endif

static int messages[2];
static atomic_int marks;

static void *send(void *argument) {
    int self = argument != NULL;
    messages[self] = 42;
    atomic_thread_fence(BEFORE);
    atomic_fetch_or_explicit(&marks, 1 << self, MARK);
    return NULL;
}

static void *receive(void *unused) {
    while (atomic_load_explicit(&marks, SEE) != 3)
        ;
    atomic_thread_fence(AFTER);
    assert(messages[0] == 42 && messages[1] == 42);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, send, NULL);
    pthread_create(&threads[1], NULL, send, threads);
    pthread_create(&threads[2], NULL, receive, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
