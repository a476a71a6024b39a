// expect: ok
// weakened: -DREQUEST=memory_order_relaxed -> race; sc: race
// weakened: -DSERVE=memory_order_relaxed -> race; sc: race
// weakened: -DDONE=memory_order_relaxed -> race; sc: race
// weakened: -DSEE=memory_order_relaxed -> race; sc: race
// weakened: -DLOCK=memory_order_relaxed -> race; sc: race
// weakened: -DUNLOCK=memory_order_relaxed -> race; sc: race
// Flat combining: each thread writes down what it wants to have done, and who gets the lock does it for all.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

// Releases the request to whoever will serve it,
#ifndef REQUEST
#define REQUEST memory_order_release
#endif
#ifndef SERVE
#define SERVE memory_order_acquire
#endif
// and the answer to who asked.
#ifndef DONE
#define DONE memory_order_release
#endif
#ifndef SEE
#define SEE memory_order_acquire
#endif
// What is worked on belongs to who has the lock, whoever asked for it.
#ifndef LOCK
#define LOCK memory_order_acquire
#endif
#ifndef UNLOCK
#define UNLOCK memory_order_release
#endif

enum { QUIET, ASKED, ANSWERED };

static struct request {
    atomic_int state;
    int add, result;
} requests[2];
static atomic_bool held;
static int counter;

static void serve(void) {
    for (int i = 0; i < 2; i++)
        if (atomic_load_explicit(&requests[i].state, SERVE) == ASKED) {
            counter += requests[i].add;
            requests[i].result = counter;
            atomic_store_explicit(&requests[i].state, ANSWERED, DONE);
        }
}

static void *work(void *argument) {
    struct request *mine = argument;
    mine->add = 1;
    atomic_store_explicit(&mine->state, ASKED, REQUEST);
    while (atomic_load_explicit(&mine->state, SEE) != ANSWERED) {
        bool expected = false;
        if (atomic_compare_exchange_strong_explicit(&held, &expected, true, LOCK, memory_order_relaxed)) {
            serve();
            atomic_store_explicit(&held, false, UNLOCK);
        }
    }
    assert(mine->result == 1 || mine->result == 2);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, &requests[0]);
    pthread_create(&b, NULL, work, &requests[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 2 && requests[0].result + requests[1].result == 3);
    return 0;
}
