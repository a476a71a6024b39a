// expect: bug assertion
// line: 22
// A section that passes its guard by where the search meets it first, after both of the others, and would be disabled
// between them: that it has to come before both of them follows only from what it reads where it meets the guard.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

void __VERIFIER_assume(int condition);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static atomic_int open, full;

static void *visitor(void *unused) {
    __VERIFIER_atomic_begin();
    int entered = open;
    if (!entered)
        __VERIFIER_assume(!full);
    __VERIFIER_atomic_end();
    assert(entered);
    return unused;
}

static void *crowd(void *unused) {
    full = 1;
    return unused;
}

static void *porter(void *unused) {
    open = 1;
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, crowd, NULL);
    pthread_create(&threads[1], NULL, porter, NULL);
    pthread_create(&threads[2], NULL, visitor, NULL);
    return 0;
}
