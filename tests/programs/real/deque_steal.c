// expect: ok
// A work-stealing deque: the owner takes from one end, a thief from the other; the last item goes to one of them.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#define TASKS 2

static atomic_int top, bottom, tasks[TASKS];
static atomic_int taken[TASKS + 1];

static void push(int task) {
    int at = atomic_load(&bottom);
    atomic_store(&tasks[at % TASKS], task);
    atomic_store(&bottom, at + 1);
}

static int take(void) {
    int at = atomic_load(&bottom) - 1;
    atomic_store(&bottom, at);
    int first = atomic_load(&top);
    if (first > at) {
        atomic_store(&bottom, at + 1);
        return 0;
    }
    int task = atomic_load(&tasks[at % TASKS]);
    if (first == at) {
        if (!atomic_compare_exchange_strong(&top, &first, first + 1))
            task = 0;
        atomic_store(&bottom, at + 1);
    }
    return task;
}

static int steal(void) {
    int first = atomic_load(&top);
    if (first >= atomic_load(&bottom))
        return 0;
    int task = atomic_load(&tasks[first % TASKS]);
    return atomic_compare_exchange_strong(&top, &first, first + 1) ? task : 0;
}

static void run(int task) {
    if (task)
        assert(atomic_fetch_add(&taken[task], 1) == 0);
}

static void *own(void *unused) {
    push(1);
    push(2);
    run(take());
    run(take());
    return unused;
}

static void *thieve(void *unused) {
    run(steal());
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, own, NULL);
    pthread_create(&threads[1], NULL, thieve, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(taken[1] == 1 && taken[2] == 1);
    return 0;
}
