/* One race, of a store with a load behind N stores that come in all N! orders: whoever remembers each order in which
 * the load was reached, in case it must come before the store, needs space for all of them. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#ifndef N
#define N 7
#endif

static atomic_int x, y;

static void *store_x(void *unused) {
    atomic_store(&x, 1);
    return unused;
}

static void *store_y(void *argument) {
    atomic_store(&y, (int)(intptr_t)argument);
    return NULL;
}

static void *load_x(void *unused) {
    pthread_t threads[N];
    for (int t = 0; t < N; t++)
        pthread_create(&threads[t], NULL, store_y, (void *)(intptr_t)(t + 1));
    for (int t = 0; t < N; t++)
        pthread_join(threads[t], NULL);
    (void)atomic_load(&x);
    return unused;
}

int main(void) {
    pthread_t storer, loader;
    pthread_create(&storer, NULL, store_x, NULL);
    pthread_create(&loader, NULL, load_x, NULL);
    return 0;
}
