// expect: bug assertion
// Two candidates may both find the place free.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#define NOBODY 0

static atomic_int leader = NOBODY;
static atomic_int leaders, followers;

static int elect(int candidate) {
    int current = NOBODY;
    current = atomic_load(&leader);
    if (current != NOBODY)
        return current;
    atomic_store(&leader, candidate);
    return candidate;
}

static void lead(int me) {
    atomic_fetch_add(&leaders, 1);
    assert(atomic_load(&leader) == me);
}

static void follow(int whom) {
    assert(whom != NOBODY);
    atomic_fetch_add(&followers, 1);
}

static void *run(void *number) {
    int me = (int)(long)number;
    int elected = elect(me);
    if (elected == me)
        lead(me);
    else
        follow(elected);
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, run, (void *)1);
    pthread_create(&threads[1], NULL, run, (void *)2);
    pthread_create(&threads[2], NULL, run, (void *)3);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(leaders == 1 && followers == 2);
    return 0;
}
