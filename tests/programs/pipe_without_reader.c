// expect: bug abort
// line: 12
// Who writes to a pipe that nobody can read any more gets a signal, which ends the process.
#include <pthread.h>
#include <unistd.h>

int ends[2];

static void *write_one(void *unused) {
    char one = 1;
    (void)unused;
    long written = write(ends[1], &one, 1);
    return (void *)written;
}

int main(void) {
    pthread_t writer;
    pipe(ends);
    pthread_create(&writer, 0, write_one, 0);
    close(ends[0]);
    pthread_join(writer, 0);
    return 0;
}
