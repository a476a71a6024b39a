// expect: ok
// races: 1
// The loop may read `b` just when it is written, though it leaves because of `a`.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int a = 1, b = 1;

static void *wait(void *unused) {
    while (a && b)
        ;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, wait, NULL);
    a = 0;
    *(int *)&b = 5;
}
