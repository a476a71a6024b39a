/* Two threads add to each other's number, N times each; no interleaving gets beyond the Fibonacci numbers. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef N
#define N 4
#endif

static atomic_int i = 1, j = 1;

static void *add_j(void *unused) {
    for (int round = 0; round < N; round++)
        atomic_store(&i, atomic_load(&i) + atomic_load(&j));
    return unused;
}

static void *add_i(void *unused) {
    for (int round = 0; round < N; round++)
        atomic_store(&j, atomic_load(&j) + atomic_load(&i));
    return unused;
}

/* What the larger of both is after all 2N additions, if they take turns. */
static int bound(void) {
    int previous = 1, last = 1;
    for (int addition = 0; addition < 2 * N; addition++) {
        int next = previous + last;
        previous = last;
        last = next;
    }
    return last;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, add_j, NULL);
    pthread_create(&threads[1], NULL, add_i, NULL);
    int most = bound();
    assert(atomic_load(&i) <= most);
    assert(atomic_load(&j) <= most);
    return 0;
}
