/* N writers, each of which looks at the element before its own, and a reader that looks for the last zero. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#ifndef N
#define N 10
#endif

static atomic_int a[N + 1];

static void *write(void *argument) {
    intptr_t j = (intptr_t)argument;
    atomic_store(&a[j], atomic_load(&a[j - 1]) + 1);
    return NULL;
}

static void *read(void *unused) {
    int i = N;
    while (atomic_load(&a[i]) != 0)
        i--;
    return unused;
}

int main(void) {
    pthread_t reader, writers[N];
    pthread_create(&reader, NULL, read, NULL);
    for (int j = 1; j <= N; j++)
        pthread_create(&writers[j - 1], NULL, write, (void *)(intptr_t)j);
    return 0;
}
