// expect: ok
// Each thread has its own errno.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

static void *thread(void *unused) {
    assert(errno == 0);
    errno = EAGAIN;
    return unused;
}

int main(void) {
    pthread_t other;
    errno = ERANGE;
    pthread_create(&other, NULL, thread, NULL);
    assert(errno == ERANGE);
    pthread_join(other, NULL);
    assert(errno == ERANGE);
    return 0;
}
