// expect: ok
// traces: 720
// alike: 1
// Threads that are alike and only meet at a barrier: there is one execution.
#include <pthread.h>

enum { N = 6 };

static pthread_barrier_t barrier;

static void *work(void *unused) {
    pthread_barrier_wait(&barrier);
    return unused;
}

int main(void) {
    pthread_t threads[N];
    pthread_barrier_init(&barrier, NULL, N);
    for (int t = 0; t < N; t++)
        pthread_create(&threads[t], NULL, work, NULL);
    for (int t = 0; t < N; t++)
        pthread_join(threads[t], NULL);
    return 0;
}
