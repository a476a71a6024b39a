/* Two threads take two mutexes, in opposite orders, and then need PAUSE microseconds for what they do.
 *
 * CORRECT: they take them in the same order.
 *
 * Verdict: each may have one and wait for the other: a deadlock; with CORRECT, safe. */
#include <pthread.h>
#include <unistd.h>

#include "useful.h"

#ifndef PAUSE
#define PAUSE 1000
#endif

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;

static void critical_section(void) {
    usleep(PAUSE);
}

static void *forwards(void *unused) {
    for (;;) {
        pthread_mutex_lock(&first);
        pthread_mutex_lock(&second);
        critical_section();
        pthread_mutex_unlock(&second);
        pthread_mutex_unlock(&first);
        useful();
    }
    return unused;
}

static void *backwards(void *unused) {
    for (;;) {
#ifdef CORRECT
        pthread_mutex_lock(&first);
        pthread_mutex_lock(&second);
#else
        pthread_mutex_lock(&second);
        pthread_mutex_lock(&first);
#endif
        critical_section();
        pthread_mutex_unlock(&second);
        pthread_mutex_unlock(&first);
        useful();
    }
    return unused;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, forwards, NULL);
    pthread_create(&other, NULL, backwards, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
