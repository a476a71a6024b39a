// expect: bug assertion
// A reader does not look whether a writer came in between.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static atomic_uint sequence;
static atomic_int low, high;

static void write_both(int value) {
    unsigned before = atomic_load(&sequence);
    atomic_store(&sequence, before + 1);
    atomic_store(&low, value);
    atomic_store(&high, value);
    atomic_store(&sequence, before + 2);
}

static void read_both(int *first, int *second) {
    unsigned begin, end;
    do {
        begin = atomic_load(&sequence);
        if (begin & 1) {
            sched_yield();
            continue;
        }
        *first = atomic_load(&low);
        *second = atomic_load(&high);
        end = begin;
    } while ((begin & 1) || begin != end);
}

static void *write_some(void *unused) {
    write_both(1);
    write_both(2);
    return unused;
}

static void *read_some(void *unused) {
    int first, second;
    read_both(&first, &second);
    assert(first == second);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, write_some, NULL);
    pthread_create(&threads[1], NULL, read_some, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
