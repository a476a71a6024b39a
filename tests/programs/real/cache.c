// expect: ok
// A cache behind a reader-writer lock: who misses looks again with the write lock before it computes.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int cached, computed;
static bool known;

static int compute(void) {
    computed++;
    return 7;
}

static int lookup(void) {
    int value;
    pthread_rwlock_rdlock(&lock);
    bool hit = known;
    value = cached;
    pthread_rwlock_unlock(&lock);
    if (hit)
        return value;
    pthread_rwlock_wrlock(&lock);
    if (!known) {
        cached = compute();
        known = true;
    }
    value = cached;
    pthread_rwlock_unlock(&lock);
    return value;
}

static void *ask(void *unused) {
    assert(lookup() == 7);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, ask, NULL);
    pthread_create(&threads[1], NULL, ask, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(computed == 1);
    return 0;
}
