// expect: bug assertion
// line: 22
// The flag is raised too early.
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

static volatile bool ready;
static volatile short data;

static void *thread(void *unused) {
    ready = true;
    data = -3;
    return unused;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, thread, NULL);
    if (ready)
        assert(data == -3);
    pthread_join(other, NULL);
    return 0;
}
