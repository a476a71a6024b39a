// expect: ok
// check: --leaks
// Whoever comes second gives back what it made.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) instance;

static void *get(void *argument) {
    if (!atomic_load(&instance)) {
        int *made = malloc(sizeof *made);
        *made = 1;
        int *nobody = NULL;
        if (!atomic_compare_exchange_strong(&instance, &nobody, made))
            free(made);
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
