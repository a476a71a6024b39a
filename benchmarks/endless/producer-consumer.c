/* N producers and N consumers share a buffer of CAPACITY items, for ever, with a mutex and two condition variables.
 *
 * Items are numbered, and start again at 0 after ITEMS of them.
 *
 * BROKEN: who was woken up does not look again whether there is an item, which another one may have taken.
 *
 * Verdict: correct, that is, items come out in the order in which they went in, and nobody waits for ever; with BROKEN,
 * an assertion fails, if N > 1. */
#include <assert.h>

#include "forever.h"

#ifndef N
#define N 1
#endif
#ifndef CAPACITY
#define CAPACITY 2
#endif

enum { ITEMS = CAPACITY + 1 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static int buffer[CAPACITY];
static int first, count;
static int produced, consumed; /* the number of the next item */

#ifdef BROKEN
#define WHILE if
#else
#define WHILE while
#endif

static void *produce(void *unused) {
    forever {
        pthread_mutex_lock(&mutex);
        WHILE (count == CAPACITY)
            pthread_cond_wait(&not_full, &mutex);
        assert(count < CAPACITY);
        buffer[(first + count) % CAPACITY] = produced;
        count++;
        produced = (produced + 1) % ITEMS;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void *consume(void *unused) {
    forever {
        pthread_mutex_lock(&mutex);
        WHILE (count == 0)
            pthread_cond_wait(&not_empty, &mutex);
        assert(count > 0);
        int item = buffer[first];
        buffer[first] = 0;
        first = (first + 1) % CAPACITY;
        count--;
        assert(item == consumed);
        consumed = (consumed + 1) % ITEMS;
        pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void) {
    for (int t = 0; t < N; t++) {
        start(produce, t);
        start(consume, t);
    }
    pthread_exit(NULL);
}
