// expect: ok
// Time runs out, the loop goes round: as if there were no time limit.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int inside;

static void *thread(void *unused) {
    struct timespec deadline = {0};
    do {
        clock_gettime(CLOCK_REALTIME, &deadline);
        deadline.tv_sec += 1;
    } while (pthread_mutex_timedlock(&mutex, &deadline) == ETIMEDOUT);
    assert(++inside == 1);
    inside--;
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, thread, NULL);
    thread(NULL);
    pthread_join(other, NULL);
    return 0;
}
