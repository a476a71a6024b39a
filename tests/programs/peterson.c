// expect: ok
// Mutual exclusion by Peterson; waiting is written as an assume.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);

static atomic_int wants[2], turn;
static int inside;

static void *thread(void *me) {
    int self = me != NULL, other = 1 - self;
    atomic_store(&wants[self], 1);
    atomic_store(&turn, other);
    if (atomic_load(&wants[other]))
        __VERIFIER_assume(atomic_load(&turn) == self || !atomic_load(&wants[other]));
    inside++;
    assert(inside == 1);
    inside--;
    atomic_store(&wants[self], 0);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, &turn);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
