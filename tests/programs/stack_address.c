// expect: bug memory
// line: 10
// A thread keeps the address of a local variable of a function that has returned.
#include <pthread.h>
#include <stddef.h>

static pthread_t thread;

static void *work(void *argument) {
    *(int *)argument = 1;
    return NULL;
}

static void start(void) {
    int local = 0;
    pthread_create(&thread, NULL, work, &local);
}

int main(void) {
    start();
    pthread_join(thread, NULL);
    return 0;
}
