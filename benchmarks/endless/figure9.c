/* Figure 9 of the paper on commit point completion: two cycles, one commit point.
 *
 * After its store, the first thread goes into one of two loops, for ever. Commit point completion tries the other
 * thread once, before the choice, and not once in each loop.
 *
 * Verdict: the assertion fails. The unsound reduction misses that. */
#include <assert.h>
#include <stdatomic.h>

#include "forever.h"

static atomic_int g;

static void *first(void *unused) {
    g = 1;
    if (maybe())
        while (true) {
        }
    else
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
