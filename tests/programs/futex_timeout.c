// expect: bug assertion
// line: 20
// A wait with a timeout may end without a wake-up.
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_int word;

static void *run(void *unused) {
    struct timespec timeout = {1, 0};
    if (syscall(SYS_futex, &word, FUTEX_WAIT, 0, &timeout, NULL, 0) == 0)
        assert(word == 1);
    else if (errno == ETIMEDOUT)
        assert(word == 1);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    atomic_store(&word, 1);
    syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
    pthread_join(thread, NULL);
    return 0;
}
