// expect: ok
// A question and an answer through one condition variable each.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked, answered;
static int question, answer;

static void *server(void *unused) {
    pthread_mutex_lock(&lock);
    while (question == 0)
        pthread_cond_wait(&asked, &lock);
    answer = question * 2;
    pthread_cond_signal(&answered);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_cond_init(&asked, NULL);
    pthread_cond_init(&answered, NULL);
    pthread_create(&thread, NULL, server, NULL);
    pthread_mutex_lock(&lock);
    question = 21;
    pthread_cond_signal(&asked);
    while (answer == 0)
        pthread_cond_wait(&answered, &lock);
    assert(answer == 42);
    pthread_mutex_unlock(&lock);
    pthread_cond_destroy(&answered);
    pthread_join(thread, NULL);
    pthread_cond_destroy(&asked);
    return 0;
}
