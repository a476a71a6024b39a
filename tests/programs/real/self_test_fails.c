// expect: bug exit
// A test of its own: how many checks have failed is what the process ends with.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static int failures;

static void check(bool holds) {
    if (!holds)
        failures++;
}

static atomic_int counter;
static int seen[2];

static void *count(void *number) {
    int me = (int)(long)number;
    int before = atomic_load(&counter);
    atomic_store(&counter, before + 1);
    seen[me] = before;
    return NULL;
}

static void test_two_threads(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, count, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    check(atomic_load(&counter) == 2);
    check(seen[0] != seen[1]);
}

int main(void) {
    test_two_threads();
    return failures;
}
