// expect: ok
// A service that waits for requests for ever is no deadlock: main returns, and that is the end.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int requests, answers;

static void *serve(void *unused) {
    pthread_mutex_lock(&lock);
    for (;;) {
        while (requests == answers)
            pthread_cond_wait(&changed, &lock);
        answers++;
        pthread_cond_broadcast(&changed);
    }
    return unused;
}

static int request(void) {
    pthread_mutex_lock(&lock);
    int mine = ++requests;
    pthread_cond_broadcast(&changed);
    while (answers < mine)
        pthread_cond_wait(&changed, &lock);
    int seen = answers;
    pthread_mutex_unlock(&lock);
    return seen;
}

int main(void) {
    pthread_t service;
    pthread_create(&service, NULL, serve, NULL);
    pthread_detach(service);
    assert(request() == 1);
    assert(request() == 2);
    return 0;
}
