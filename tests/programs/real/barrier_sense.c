// expect: ok
// A barrier that can be used again at once: each round has another sense.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#define THREADS 2

static atomic_int waiting = THREADS;
static atomic_bool sense;
static atomic_int arrived[2];

static void barrier_wait(bool *mine) {
    *mine = !*mine;
    if (atomic_fetch_sub(&waiting, 1) == 1) {
        atomic_store(&waiting, THREADS);
        atomic_store(&sense, *mine);
    } else {
        while (atomic_load(&sense) != *mine)
            sched_yield();
    }
}

static void *work(void *unused) {
    bool mine = false;
    for (int round = 0; round < 2; round++) {
        atomic_fetch_add(&arrived[round], 1);
        barrier_wait(&mine);
        assert(arrived[round] == THREADS);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, work, NULL);
    pthread_create(&threads[1], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(waiting == THREADS);
    return 0;
}
