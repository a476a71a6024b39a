// expect: bug assertion
// line: 36
// To seek and then to write are two steps.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static int file;

static void *append(void *text) {
    int own = open("log", O_WRONLY);
    lseek(own, 0, SEEK_END);
    write(own, text, 1);
    close(own);
    return NULL;
}

static void *append_by_itself(void *text) {
    int own = open("log", O_WRONLY | O_APPEND);
    write(own, text, 1);
    close(own);
    return NULL;
}

int main(void) {
    pthread_t thread;
    file = open("log", O_RDWR | O_CREAT, 0600);
    pthread_create(&thread, NULL, append_by_itself, "a");
    append_by_itself("b");
    pthread_join(thread, NULL);
    assert(lseek(file, 0, SEEK_END) == 2);
    pthread_create(&thread, NULL, append, "c");
    append("d");
    pthread_join(thread, NULL);
    assert(lseek(file, 0, SEEK_END) == 4);
    return 0;
}
