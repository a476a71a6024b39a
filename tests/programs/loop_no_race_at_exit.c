// expect: ok
// A thread that still waits when the process ends would only write if it found 1, which is never there: there is no data
// race with the plain read.
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

static int word;

static void *waiter(void *unused) {
    int expected = 1;
    while (!__atomic_compare_exchange_n(&word, &expected, 2, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        expected = 1;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, waiter, NULL);
    int found = word;
    exit(found);
}
