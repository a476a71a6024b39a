// expect: ok
// races: 2
// Sections that run as one step; an assume inside waits until it holds. Giving `locked` back by a plain write releases
// nothing: it races with the section that takes it, and with the other thread's giving it back.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
void __VERIFIER_assume(int);

static int locked, a, b;

void __VERIFIER_atomic_move(int amount) {
    a -= amount;
    b += amount;
}

static void *thread(void *unused) {
    __VERIFIER_atomic_begin();
    __VERIFIER_assume(locked == 0);
    locked = 1;
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_move(3);
    locked = 0;
    return unused;
}

int main(void) {
    pthread_t x, y;
    pthread_create(&x, NULL, thread, NULL);
    pthread_create(&y, NULL, thread, NULL);
    __VERIFIER_atomic_begin();
    assert(a + b == 0);
    __VERIFIER_atomic_end();
    pthread_join(x, NULL);
    pthread_join(y, NULL);
    assert(a == -6 && b == 6);
    return 0;
}
