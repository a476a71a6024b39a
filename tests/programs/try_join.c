// expect: ok
// Trying to join either fails, and may be tried again, or succeeds.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>

static int done;

static void *thread(void *unused) {
    (void)unused;
    done = 1;
    return (void *)7;
}

int main(void) {
    pthread_t other;
    void *value = NULL;
    pthread_create(&other, NULL, thread, NULL);
    int result = pthread_tryjoin_np(other, &value);
    if (result != 0) {
        assert(result == EBUSY && value == NULL);
        pthread_join(other, &value);
    }
    assert(done == 1 && (intptr_t)value == 7);
    return 0;
}
