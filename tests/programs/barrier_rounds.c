// expect: ok
// races: 1
// A barrier is used again at once: nobody is left behind in the first round.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_barrier_t barrier;
static int round_of[2];

static void *thread(void *argument) {
    int self = argument != NULL;
    for (int round = 1; round <= 2; round++) {
        round_of[self] = round;
        pthread_barrier_wait(&barrier);
        int other = round_of[1 - self];
        assert(other == round || other == round + 1);
    }
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, &barrier);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
