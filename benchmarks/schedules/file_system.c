/* A disk block is protected by one of two mutexes, depending on whether it is busy: a simplified extract of the
 * Frangipani file system, with a third thread that gives the block back.
 *
 * Verdict: safe. Who writes the block still finds there what was written. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

#include "useful.h"

static pthread_mutex_t m_inode = PTHREAD_MUTEX_INITIALIZER, m_busy = PTHREAD_MUTEX_INITIALIZER;
static bool inode, busy;
static int block;

static void *allocate(void *unused) {
    for (;;) {
        pthread_mutex_lock(&m_inode);
        if (!inode) {
            pthread_mutex_lock(&m_busy);
            busy = true;
            pthread_mutex_unlock(&m_busy);
            inode = true;
        }
        block = 1;
        assert(block == 1);
        pthread_mutex_unlock(&m_inode);
        useful();
    }
    return unused;
}

static void *reset(void *unused) {
    for (;;) {
        bool done = false;
        pthread_mutex_lock(&m_busy);
        if (!busy) {
            block = 0;
            assert(block == 0);
            done = true;
        }
        pthread_mutex_unlock(&m_busy);
        if (done)
            useful();
    }
    return unused;
}

static void *deallocate(void *unused) {
    for (;;) {
        pthread_mutex_lock(&m_inode);
        pthread_mutex_lock(&m_busy);
        inode = false;
        busy = false;
        pthread_mutex_unlock(&m_busy);
        pthread_mutex_unlock(&m_inode);
        useful();
    }
    return unused;
}

int main(void) {
    void *(*const run[])(void *) = {allocate, reset, deallocate};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, run[i], NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
