// expect: ok
// traces: 8
// alike: 4
// Threads of two loops: those of the second one begin after what the creator has done in between. They are not like the
// first ones, but like each other.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;

static void *work(void *unused) {
    atomic_exchange(&x, 1);
    return unused;
}

int main(void) {
    pthread_t early, late[2];
    pthread_create(&early, NULL, work, NULL);
    atomic_load(&x);
    for (int t = 0; t < 2; t++)
        pthread_create(&late[t], NULL, work, NULL);
    pthread_join(early, NULL);
    for (int t = 0; t < 2; t++)
        pthread_join(late[t], NULL);
    return 0;
}
