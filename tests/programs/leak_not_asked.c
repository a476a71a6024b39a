// expect: ok
// Whoever comes second overwrites the only pointer to what the first one made.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) instance;

static void *get(void *argument) {
    if (!atomic_load(&instance)) {
        int *made = malloc(sizeof *made);
        *made = 1;
        atomic_store(&instance, made);
    }
    return argument;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, get, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    free(instance);
    return 0;
}
