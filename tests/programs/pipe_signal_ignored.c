// expect: ok
// Where that signal is ignored, writing to a pipe that nobody can read any more fails.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

int ends[2];

static void *write_one(void *unused) {
    char one = 1;
    (void)unused;
    assert(write(ends[1], &one, 1) == 1 || errno == EPIPE);
    return 0;
}

int main(void) {
    pthread_t writer;
    signal(SIGPIPE, SIG_IGN);
    pipe(ends);
    pthread_create(&writer, 0, write_one, 0);
    close(ends[0]);
    pthread_join(writer, 0);
    return 0;
}
