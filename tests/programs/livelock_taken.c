// expect: bug livelock
// Whoever finds that somebody else is inside waits before it takes back that it came, so that it waits for itself.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int inside;
static int value;

static void *worker(void *unused) {
    while (atomic_fetch_add(&inside, 1) > 0) {
        while (atomic_load(&inside) > 0)
            ;
        atomic_fetch_sub(&inside, 1);
        while (atomic_load(&inside) > 0)
            ;
    }
    value++;
    atomic_fetch_sub(&inside, 1);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
