/* A sender and a receiver that take turns on a ring buffer: N rounds each, a round is one critical section.
 *
 * Whose turn it is says a flag; a round out of turn does nothing. Every order of the 2N critical sections differs. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#ifndef N
#define N 7
#endif

enum { CAPACITY = 4 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int buffer[CAPACITY];
static int first, count;
static bool full;

static void put(int item) {
    assert(count < CAPACITY);
    buffer[(first + count++) % CAPACITY] = item;
}

static int take(void) {
    assert(count > 0);
    int item = buffer[first];
    first = (first + 1) % CAPACITY;
    count--;
    return item;
}

static void *send(void *unused) {
    int sent = 0;
    for (int round = 0; round < N; round++) {
        pthread_mutex_lock(&mutex);
        if (!full) {
            put(sent++);
            full = true;
        }
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void *receive(void *unused) {
    int received = 0;
    for (int round = 0; round < N; round++) {
        pthread_mutex_lock(&mutex);
        if (full) {
            assert(take() == received);
            received++;
            full = false;
        }
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void) {
    pthread_t sender, receiver;
    pthread_create(&sender, NULL, send, NULL);
    pthread_create(&receiver, NULL, receive, NULL);
    return 0;
}
