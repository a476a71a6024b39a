// expect: ok
// What a thread returns is not a status, nor what main gives to pthread_exit.
#include <pthread.h>
#include <stddef.h>

static void *fail(void *unused) { return (void *)1; }

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, fail, NULL);
    pthread_exit((void *)1);
}
