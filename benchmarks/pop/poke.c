/* N writers raise a flag each. Four times, a poker lowers one of those that are up and counts it; which one it looks
 * at depends on how far a chooser has come with naming all of them. In the end, none is lost. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#ifndef N
#define N 5
#endif

enum { ROUNDS = 4 };

static pthread_mutex_t mutexes[N], chosen_mutex;
static int a[N];
static int i, d;

static void *raise_flag(void *argument) {
    intptr_t x = (intptr_t)argument;
    pthread_mutex_lock(&mutexes[x]);
    a[x] = 1;
    pthread_mutex_unlock(&mutexes[x]);
    return NULL;
}

static void *choose(void *unused) {
    for (int x = 1; x < N; x++) {
        pthread_mutex_lock(&chosen_mutex);
        i = x;
        pthread_mutex_unlock(&chosen_mutex);
    }
    return unused;
}

static void *poke(void *unused) {
    pthread_mutex_lock(&chosen_mutex);
    int x = i;
    pthread_mutex_unlock(&chosen_mutex);
    pthread_mutex_lock(&mutexes[x]);
    if (a[x] == 1) {
        d++;
        a[x] = 0;
    }
    pthread_mutex_unlock(&mutexes[x]);
    return unused;
}

int main(void) {
    pthread_t writers[N];
    for (int x = 0; x < N; x++)
        pthread_create(&writers[x], NULL, raise_flag, (void *)(intptr_t)x);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t chooser, poker;
        pthread_create(&chooser, NULL, choose, NULL);
        pthread_create(&poker, NULL, poke, NULL);
        pthread_join(chooser, NULL);
        pthread_join(poker, NULL);
    }
    assert(0 <= d && d <= N);
    for (int x = 0; x < N; x++)
        pthread_join(writers[x], NULL);
    for (int x = 0; x < N; x++)
        d += a[x];
    assert(d == N);
    return 0;
}
