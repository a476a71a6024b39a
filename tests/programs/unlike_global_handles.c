// expect: ok
// traces: 2
// alike: 2
// Handles in global variables are written between the creations, where others could notice it: so these threads are not
// alike.
#include <pthread.h>
#include <stdatomic.h>

static pthread_t first, second;
static atomic_int turn;

static void *work(void *unused) {
    atomic_exchange(&turn, 1);
    return unused;
}

int main(void) {
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(second, NULL);
    pthread_join(first, NULL);
    return 0;
}
