// expect: bug livelock
// A thread spins until another one does something, which never happens.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;

static void *spin(void *unused) {
    while (!atomic_load(&flag))
        ;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, spin, NULL);
    pthread_join(thread, NULL);
    return 0;
}
