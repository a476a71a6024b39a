// expect: ok
// A loop that handles events until it is told to stop; whoever posts one wakes it up.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { NOTHING, WORK, QUIT };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t posted = PTHREAD_COND_INITIALIZER;
static int events[2], count, handled;

static void post(int event) {
    pthread_mutex_lock(&lock);
    events[count++] = event;
    pthread_cond_signal(&posted);
    pthread_mutex_unlock(&lock);
}

static int next_event(void) {
    static int at;
    pthread_mutex_lock(&lock);
    while (at == count)
        pthread_cond_wait(&posted, &lock);
    int event = events[at++];
    pthread_mutex_unlock(&lock);
    return event;
}

static void *loop(void *unused) {
    for (;;) {
        switch (next_event()) {
        case WORK:
            handled++;
            break;
        case QUIT:
            return unused;
        }
    }
}

static void *client(void *unused) {
    post(WORK);
    post(QUIT);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, loop, NULL);
    pthread_create(&threads[1], NULL, client, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(handled == 1);
    return 0;
}
