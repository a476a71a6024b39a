// expect: bug assertion
// line: 23
// A section that adds to a counter, which commutes with what the other thread adds, and in some orders also reads it,
// which does not: the section can come first only before both of the others.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

void __VERIFIER_assume(int condition);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static atomic_int counter, open;

static void *visitor(void *unused) {
    __VERIFIER_atomic_begin();
    int entered = open;
    if (!entered)
        __VERIFIER_assume(counter == 0);
    atomic_fetch_add(&counter, 1);
    __VERIFIER_atomic_end();
    assert(entered);
    return unused;
}

static void *other(void *unused) {
    atomic_fetch_add(&counter, 1);
    return unused;
}

static void *porter(void *unused) {
    open = 1;
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, other, NULL);
    pthread_create(&threads[1], NULL, porter, NULL);
    pthread_create(&threads[2], NULL, visitor, NULL);
    return 0;
}
