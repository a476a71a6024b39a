// expect: ok
// The loop reads `b` only after it has seen `a`, which comes after the write of `b`.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int a = 0, b = 1;

static void *wait(void *unused) {
    while (a && b)
        ;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, wait, NULL);
    *(int *)&b = 0;
    a = 1;
}
