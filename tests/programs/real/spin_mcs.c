// expect: ok
// A queue lock after Mellor-Crummey and Scott: each thread spins on a node of its own.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct node {
    _Atomic(struct node *) next;
    atomic_bool waits;
};

static _Atomic(struct node *) tail;
static int counter;

static void mcs_lock(struct node *me) {
    atomic_store(&me->next, NULL);
    atomic_store(&me->waits, true);
    struct node *before = atomic_exchange(&tail, me);
    if (before) {
        atomic_store(&before->next, me);
        while (atomic_load(&me->waits))
            sched_yield();
    }
}

static void mcs_unlock(struct node *me) {
    struct node *next = atomic_load(&me->next);
    if (!next) {
        struct node *expected = me;
        if (atomic_compare_exchange_strong(&tail, &expected, NULL))
            return;
        while (!(next = atomic_load(&me->next)))
            sched_yield();
    }
    atomic_store(&next->waits, false);
}

static void *work(void *unused) {
    struct node mine;
    mcs_lock(&mine);
    counter++;
    mcs_unlock(&mine);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, work, NULL);
    pthread_create(&threads[1], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 2 && !tail);
    return 0;
}
