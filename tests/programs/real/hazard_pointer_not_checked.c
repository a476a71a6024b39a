// expect: bug memory
// Between the look and the announcement the block may be gone.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct block {
    int value;
};

static _Atomic(struct block *) shared;
static _Atomic(struct block *) hazard;

static struct block *protect(void) {
    struct block *block = atomic_load(&shared);
    for (;;) {
        atomic_store(&hazard, block);
        struct block *again = block;
        if (again == block)
            return block;
        block = again;
    }
}

static void *use(void *unused) {
    struct block *block = protect();
    assert(block->value == 1 || block->value == 2);
    atomic_store(&hazard, NULL);
    return unused;
}

static void *replace(void *unused) {
    struct block *new = malloc(sizeof *new);
    new->value = 2;
    struct block *old = atomic_exchange(&shared, new);
    while (atomic_load(&hazard) == old)
        sched_yield();
    free(old);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    struct block *first = malloc(sizeof *first);
    first->value = 1;
    atomic_init(&shared, first);
    pthread_create(&threads[0], NULL, use, NULL);
    pthread_create(&threads[1], NULL, replace, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    free(atomic_load(&shared));
    return 0;
}
