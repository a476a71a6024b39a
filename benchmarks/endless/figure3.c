/* Figure 3 of the paper on commit point completion: a transaction with several commit points.
 *
 * All accesses to x hold the mutex, those to y do not. The first thread's transaction commits with the store to y, but
 * the second thread's assertion fails only after the mutex was released: other threads must be tried there, too.
 *
 * Verdict: the assertion fails. The unsound reduction misses that. */
#include <assert.h>
#include <stdatomic.h>

#include "forever.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static atomic_int y;

static void *first(void *unused) {
    pthread_mutex_lock(&m);
    y = 42;
    x = 1;
    pthread_mutex_unlock(&m);
    while (true) {
    }
    return unused;
}

static void *second(void *unused) {
    pthread_mutex_lock(&m);
    assert(x == 0);
    pthread_mutex_unlock(&m);
    return unused;
}

static void *third(void *unused) {
    y = 10;
    return unused;
}

int main(void) {
    start(first, 1);
    start(second, 2);
    start(third, 3);
    pthread_exit(NULL);
}
