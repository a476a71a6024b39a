// expect: bug memory
// line: 19
// message: use of the thread-local variable value of main.1, which has ended
#include <pthread.h>
#include <stddef.h>

static _Thread_local int value = 5;

static void *work(void *unused) {
    (void)unused;
    return &value;
}

int main(void) {
    pthread_t thread;
    void *found;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, &found);
    return *(int *)found;
}
