// expect: ok
// The process ends when main returns, whoever still polls then.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int work;

static void *serve(void *unused) {
    for (;;) {
        while (!atomic_load(&work))
            ;
        atomic_store(&work, 0);
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, serve, NULL);
    atomic_store(&work, 1);
    return 0;
}
