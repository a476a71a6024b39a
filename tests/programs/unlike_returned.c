// expect: bug assertion
// line: 21
// What threads return tells them apart.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_long order;

static void *work(void *unused) {
    (void)unused;
    return (void *)atomic_fetch_add(&order, 1);
}

int main(void) {
    pthread_t first, second;
    void *moves[2];
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, &moves[0]), pthread_join(second, &moves[1]);
    assert(moves[0] < moves[1]);
    return 0;
}
