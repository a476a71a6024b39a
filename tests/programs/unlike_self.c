// expect: bug assertion
// line: 18
// A thread that knows its own handle can be told from one that does the same. The bug shows only if the second one to be
// created goes first.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_t first, second;
static atomic_int created, moves;
static pthread_t who[2];

static void *work(void *unused) {
    int move = atomic_fetch_add(&moves, 1);
    who[move] = pthread_self();
    pthread_t here = who[move];
    if (move == 0 && atomic_load(&created))
        assert(!pthread_equal(here, second));
    return unused;
}

int main(void) {
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    atomic_store(&created, 1);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
