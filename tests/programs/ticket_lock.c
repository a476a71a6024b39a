// expect: ok
// A ticket lock; waiting for one's turn is written as an assume.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);

static atomic_uint next_ticket, serving;
static int inside;

static void *thread(void *unused) {
    unsigned ticket = atomic_fetch_add(&next_ticket, 1);
    __VERIFIER_assume(atomic_load(&serving) == ticket);
    assert(inside++ == 0);
    inside--;
    atomic_store(&serving, ticket + 1);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
