/* Batcher's odd-even merge sort of 2N elements by N threads. Thread t does every N-th comparison of the network, from the
 * t-th on. `generation` says for each element how many comparisons it has gone through, and the next one waits for
 * that: only one thing can happen. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "spin.h"

#ifndef N
#define N 4
#endif

enum { SIZE = 2 * N };

static int elements[SIZE];
static atomic_int generation[SIZE];

static void compare(int low, int high, int low_generation, int high_generation) {
    spin_until(atomic_load(&generation[low]) == low_generation);
    spin_until(atomic_load(&generation[high]) == high_generation);
    if (elements[low] > elements[high]) {
        int element = elements[low];
        elements[low] = elements[high];
        elements[high] = element;
    }
    atomic_store(&generation[low], low_generation + 1);
    atomic_store(&generation[high], high_generation + 1);
}

static void *run(void *argument) {
    int id = (int)(intptr_t)argument;
    int comparison = 0, before[SIZE] = {0};
    for (int sorted = 1; sorted < SIZE; sorted *= 2)
        for (int step = sorted; step >= 1; step /= 2)
            for (int group = step % sorted; group + step < SIZE; group += 2 * step)
                for (int low = group; low < group + step && low + step < SIZE; low++) {
                    int high = low + step;
                    if (low / (2 * sorted) != high / (2 * sorted))
                        continue;
                    if (comparison++ % N == id)
                        compare(low, high, before[low], before[high]);
                    before[low]++;
                    before[high]++;
                }
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < SIZE; i++)
        elements[i] = SIZE - i;
    for (int t = 0; t < N; t++)
        pthread_create(&threads[t], NULL, run, (void *)(intptr_t)t);
    for (int t = 0; t < N; t++)
        pthread_join(threads[t], NULL);
    for (int i = 1; i < SIZE; i++)
        assert(elements[i - 1] <= elements[i]);
    return 0;
}
