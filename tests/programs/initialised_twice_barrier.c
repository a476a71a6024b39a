// expect: bug sync
// line: 21
// message: initialising a barrier
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_barrier_t barrier;
static atomic_int arriving;

static void *party(void *unused) {
    arriving = 1;
    pthread_barrier_wait(&barrier);
    return unused;
}

/* The next round is set up although the last one is not over. */
static void begin_round(void) {
    if (!arriving)
        exit(0);
    pthread_barrier_init(&barrier, NULL, 2);
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, party, NULL);
    begin_round();
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    return 0;
}
