// expect: ok
// Who reads from a pipe waits for what is written, and for its end.
#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static int ends[2];

static void *run(void *unused) {
    write(ends[1], "one", 3);
    write(ends[1], "two", 3);
    close(ends[1]);
    return unused;
}

int main(void) {
    pthread_t thread;
    char text[8];
    size_t length = 0;
    ssize_t count;
    assert(pipe(ends) == 0);
    pthread_create(&thread, NULL, run, NULL);
    while ((count = read(ends[0], text + length, sizeof text - length)) > 0)
        length += (size_t)count;
    assert(count == 0 && length == 6 && memcmp(text, "onetwo", 6) == 0);
    pthread_join(thread, NULL);
    return 0;
}
