// expect: bug assertion
// line: 11
// When main returns, only its own thread ends.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int last;

static void *thread(void *unused) {
    assert(last == 0);
    return unused;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, thread, NULL);
    last = 1;
    return 0;
}
