// expect: bug memory
// message: never written
// A loop that waits for two variables may read one of them before the other has let it go.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int a = 1, b = 1;

static void *wait(void *unused) {
    while (a && b)
        ;
    return unused;
}

int main(void) {
    pthread_t thread;
    int undefined;
    pthread_create(&thread, NULL, wait, NULL);
    a = 0;
    b = undefined;
}
