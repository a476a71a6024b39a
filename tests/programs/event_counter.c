// expect: ok
// An eventfd is a counter to wait for.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int events, done;

static void *run(void *unused) {
    uint64_t one = 1;
    done = 1;
    write(events, &one, sizeof one);
    return unused;
}

int main(void) {
    pthread_t thread;
    uint64_t count;
    events = eventfd(0, EFD_SEMAPHORE);
    pthread_create(&thread, NULL, run, NULL);
    assert(read(events, &count, sizeof count) == 8 && count == 1 && done == 1);
    pthread_join(thread, NULL);
    int other = eventfd(3, EFD_NONBLOCK);
    assert(eventfd_read(other, &count) == 0 && count == 3);
    assert(eventfd_read(other, &count) == -1 && errno == EAGAIN);
    return 0;
}
