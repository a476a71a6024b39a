// expect: bug assertion
// line: 18
// Somebody who does nothing else compares handles, which are numbers.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_t threads[2];
static pthread_t self_of[2];
static atomic_int order;

static void *work(void *unused) {
    pthread_t *mine = unused ? NULL : &self_of[atomic_fetch_add(&order, 1)];
    *mine = pthread_self();
    return unused;
}

static void look(void) { assert(self_of[0] == threads[0]); }

int main(void) {
    for (int t = 0; t < 2; t++)
        pthread_create(&threads[t], NULL, work, NULL);
    for (int t = 0; t < 2; t++)
        pthread_join(threads[t], NULL);
    look();
    return 0;
}
