// expect: bug memory
// The old configuration is freed while a reader may still look at it.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct config {
    int low;
    int high;
};

static _Atomic(struct config *) current;
static atomic_int readers;

static void *reload(void *unused) {
    struct config *new = malloc(sizeof *new);
    new->low = 3;
    new->high = 4;
    struct config *old = atomic_exchange(&current, new);
    free(old);
    return unused;
}

static void *use(void *unused) {
    atomic_fetch_add(&readers, 1);
    struct config *config = atomic_load(&current);
    assert(config->low < config->high);
    atomic_fetch_sub(&readers, 1);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    struct config *first = malloc(sizeof *first);
    first->low = 1;
    first->high = 2;
    atomic_init(&current, first);
    pthread_create(&threads[0], NULL, reload, NULL);
    pthread_create(&threads[1], NULL, use, NULL);
    pthread_create(&threads[2], NULL, use, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(current->low == 3);
    free(current);
    return 0;
}
