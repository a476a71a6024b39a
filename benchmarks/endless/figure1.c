/* Figure 1 of the paper on commit point completion: the ignoring problem.
 *
 * After its store, the first thread does nothing that concerns anybody, for ever. A search that lets the other thread
 * go on only when this is over does not see that the assertion fails.
 *
 * Verdict: the assertion fails. The unsound reduction misses that. */
#include <assert.h>
#include <stdatomic.h>

#include "forever.h"

static atomic_int g;

static void *first(void *unused) {
    g = 1;
    while (true) {
    }
    return unused;
}

static void *second(void *unused) {
    assert(g == 0);
    return unused;
}

int main(void) {
    start(first, 1);
    start(second, 2);
    pthread_exit(NULL);
}
