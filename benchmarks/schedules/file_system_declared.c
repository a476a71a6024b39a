/* The same as file_system.c without mutexes. What must hold where the block is used is assumed, in atomic sections: a
 * thread waits there until it does. It is for a schedule to see to it that no thread waits for ever.
 *
 * USEFUL: the second thread waits until the block is not busy, instead of going round in vain.
 *
 * Verdict: nothing fails; but of the threads that run free, the first one may wait for ever, and the others for it. */
#include <stdbool.h>

#include <pthread.h>

#include "useful.h"

void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
void __VERIFIER_assume(int condition);

static bool inode, busy;
static int block;

static void *allocate(void *unused) {
    for (;;) {
        if (!inode) {
            busy = true;
            inode = true;
        }
        __VERIFIER_atomic_begin();
        __VERIFIER_assume(inode && busy);
        block = 1;
        __VERIFIER_atomic_end();
        useful();
    }
    return unused;
}

static void *reset(void *unused) {
    for (;;) {
#ifndef USEFUL
        if (!busy)
#endif
        {
            __VERIFIER_atomic_begin();
            __VERIFIER_assume(!busy);
            block = 0;
            __VERIFIER_atomic_end();
            useful();
        }
    }
    return unused;
}

static void *deallocate(void *unused) {
    for (;;) {
        __VERIFIER_atomic_begin();
        __VERIFIER_assume(inode == busy);
        inode = false;
        busy = false;
        __VERIFIER_atomic_end();
        useful();
    }
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, allocate, NULL);
    pthread_create(&threads[1], NULL, reset, NULL);
    pthread_create(&threads[2], NULL, deallocate, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
