// expect: bug assertion
// line: 43
// A step that was not held up can be one that would have been in another order: the visitor may enter before the door
// is closed, but only while somebody holds it open.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

void __VERIFIER_assume(int condition);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static int closed, held, entered;

static void *closer(void *unused) {
    closed = 1;
    return unused;
}

static void *visitor(void *unused) {
    __VERIFIER_atomic_begin();
    if (!closed) {
        __VERIFIER_assume(held);
        entered = 1;
    }
    __VERIFIER_atomic_end();
    return unused;
}

static void *holder(void *unused) {
    held = 1;
    held = 0;
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, closer, NULL);
    pthread_create(&threads[1], NULL, visitor, NULL);
    pthread_create(&threads[2], NULL, holder, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(!entered);
    return 0;
}
