// expect: ok
// weakened: -DFILL=memory_order_relaxed -> race; sc: race
// weakened: -DFULL=memory_order_relaxed -> race; sc: race
// weakened: -DCLEAR=memory_order_relaxed -> race; sc: race
// weakened: -DCLEARED=memory_order_relaxed -> race; sc: race
// A mailbox for one letter at a time, which goes to and fro: both directions are messages. That the box is empty is
// one, too: "I have read it".
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifndef FILL
#define FILL memory_order_release
#endif
#ifndef FULL
#define FULL memory_order_acquire
#endif
#ifndef CLEAR
#define CLEAR memory_order_release
#endif
#ifndef CLEARED
#define CLEARED memory_order_acquire
#endif

static int letter;
static atomic_bool full;

static void *send(void *unused) {
    for (int i = 1; i <= 2; i++) {
        while (atomic_load_explicit(&full, CLEARED))
            ;
        letter = i;
        atomic_store_explicit(&full, true, FILL);
    }
    return unused;
}

static void *receive(void *unused) {
    for (int i = 1; i <= 2; i++) {
        while (!atomic_load_explicit(&full, FULL))
            ;
        assert(letter == i);
        atomic_store_explicit(&full, false, CLEAR);
    }
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
