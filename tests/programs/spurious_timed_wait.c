// expect: bug assertion
// line: 17
// check: --spurious
// A timed wait that returns 0 without a signal.
#include <assert.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

int main(void) {
    struct timespec deadline = {1, 0};
    pthread_mutex_lock(&mutex);
    int result = pthread_cond_timedwait(&changed, &mutex, &deadline);
    pthread_mutex_unlock(&mutex);
    assert(result != 0);
    return 0;
}
