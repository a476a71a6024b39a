/* A sequence lock as in Linux: the number is odd while somebody writes, and a reader who sees it odd or changed reads
 * again. One thread reads, one writes, and the others, of N, read and then write. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "spin.h"

#ifndef N
#define N 3
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of the writers */
static atomic_uint sequence;
static atomic_int shared;

static void *run_reader(void *unused) {
    unsigned start;
    int value;
    do {
        spin_until(((start = atomic_load(&sequence)) & 1) == 0);
        value = atomic_load(&shared);
    } while (atomic_load(&sequence) != start);
    assert(value == 0 || value == 42);
    return unused;
}

static void *run_writer(void *unused) {
    pthread_mutex_lock(&mutex);
    atomic_fetch_add(&sequence, 1);
    atomic_store(&shared, 42);
    atomic_fetch_add(&sequence, 1);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *run_both(void *unused) {
    run_reader(unused);
    return run_writer(unused);
}

int main(void) {
    pthread_t reader, writer, both, more;
    pthread_create(&reader, NULL, run_reader, NULL);
    pthread_create(&writer, NULL, run_writer, NULL);
    pthread_create(&both, NULL, run_both, NULL);
    if (N > 3)
        pthread_create(&more, NULL, run_both, NULL);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    pthread_join(both, NULL);
    if (N > 3)
        pthread_join(more, NULL);
    return 0;
}
