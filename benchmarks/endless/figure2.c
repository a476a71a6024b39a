/* Figure 2 of the paper on commit point completion: a cycle that needs no attention.
 *
 * After its store, the first thread goes into a loop for ever, or does not. Where it does not, the other thread comes
 * after it, so it need not be tried in the loop.
 *
 * Verdict: the assertion fails. Every reduction finds that, and commit point completion has no more states for it than
 * the unsound one. */
#include <assert.h>
#include <stdatomic.h>

#include "forever.h"

static atomic_int g;

static void *first(void *unused) {
    g = 1;
    if (maybe())
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
