// expect: ok
// A pool without a shutdown: its threads wait for more to do when main returns.
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, all_done = PTHREAD_COND_INITIALIZER;
static int jobs, done;

static void *work(void *unused) {
    pthread_mutex_lock(&mutex);
    for (;;) {
        while (jobs == 0)
            pthread_cond_wait(&more, &mutex);
        jobs--;
        done++;
        pthread_cond_signal(&all_done);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    pthread_mutex_lock(&mutex);
    jobs = 1;
    pthread_cond_signal(&more);
    while (done < 1)
        pthread_cond_wait(&all_done, &mutex);
    pthread_mutex_unlock(&mutex);
    return 0;
}
