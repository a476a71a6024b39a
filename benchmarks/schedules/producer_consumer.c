/* PRODUCERS threads put items on a stack of SIZE, CONSUMERS threads take them off again, for ever, under one mutex.
 *
 * Verdict: safe. No item is put on a full stack or taken from an empty one. */
#include <assert.h>
#include <pthread.h>

#include "useful.h"

#ifndef PRODUCERS
#define PRODUCERS 1
#endif
#ifndef CONSUMERS
#define CONSUMERS 1
#endif
#ifndef SIZE
#define SIZE 1000
#endif

enum { OVERFLOW = -1, UNDERFLOW = -2 };

unsigned __VERIFIER_nondet_uint(void);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned stack[SIZE];
static int top;

static int push(unsigned item) {
    if (top == SIZE)
        return OVERFLOW;
    stack[top] = item;
    top++;
    return 0;
}

static int pop(unsigned *item) {
    if (top == 0)
        return UNDERFLOW;
    top--;
    *item = stack[top];
    return 0;
}

static void *produce(void *unused) {
    for (;;) {
        unsigned item = __VERIFIER_nondet_uint();
        int done = 0;
        pthread_mutex_lock(&mutex);
        if (top < SIZE) {
            done = push(item) != OVERFLOW;
            assert(done);
        }
        pthread_mutex_unlock(&mutex);
        if (done)
            useful();
    }
    return unused;
}

static void *consume(void *unused) {
    for (;;) {
        unsigned item = 0;
        int done = 0;
        pthread_mutex_lock(&mutex);
        if (top > 0) {
            done = pop(&item) != UNDERFLOW;
            assert(done);
        }
        pthread_mutex_unlock(&mutex);
        if (done)
            useful();
    }
    return unused;
}

int main(void) {
    pthread_t threads[PRODUCERS + CONSUMERS];
    for (int i = 0; i < PRODUCERS; i++)
        pthread_create(&threads[i], NULL, produce, NULL);
    for (int i = 0; i < CONSUMERS; i++)
        pthread_create(&threads[PRODUCERS + i], NULL, consume, NULL);
    for (int i = 0; i < PRODUCERS + CONSUMERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
