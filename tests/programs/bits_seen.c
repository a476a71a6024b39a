// expect: ok
// Notes what it has seen while it waits: a note that is there already changes nothing.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int phase;

static void *thread(void *seen) {
    int now, bits = 0;
    while ((now = phase) != 2)
        if (now == 1)
            bits |= 1;
    *(int *)seen = bits;
    return NULL;
}

int main(void) {
    pthread_t other;
    int seen;
    pthread_create(&other, NULL, thread, &seen);
    phase = 1;
    phase = 2;
    pthread_join(other, NULL);
    assert(seen == 0 || seen == 1);
    return 0;
}
