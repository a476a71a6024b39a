// expect: ok
// A pool of workers that wait for work or for the end of it.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int pending;
    int done;
    bool stopping;
};

static struct pool pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, false};

static void *work(void *unused) {
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (pool.pending == 0 && !pool.stopping)
            pthread_cond_wait(&pool.changed, &pool.lock);
        if (pool.pending == 0)
            break;
        pool.pending--;
        pthread_mutex_unlock(&pool.lock);
        // the work itself
        pthread_mutex_lock(&pool.lock);
        pool.done++;
    }
    pthread_mutex_unlock(&pool.lock);
    return unused;
}

static void submit(void) {
    pthread_mutex_lock(&pool.lock);
    pool.pending++;
    pthread_cond_signal(&pool.changed);
    pthread_mutex_unlock(&pool.lock);
}

static void stop(void) {
    pthread_mutex_lock(&pool.lock);
    pool.stopping = true;
    pthread_cond_broadcast(&pool.changed);
    pthread_mutex_unlock(&pool.lock);
}

static void *manage(void *unused) {
    submit();
    stop();
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, work, NULL);
    pthread_create(&threads[1], NULL, work, NULL);
    pthread_create(&threads[2], NULL, manage, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(pool.done == 1 && pool.pending == 0);
    return 0;
}
