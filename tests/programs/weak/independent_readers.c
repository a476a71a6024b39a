// expect: ok
// weakened: -DWRITE=memory_order_release -> assertion; sc: ok
// weakened: -DFIRST=memory_order_acquire -> assertion; sc: ok
// weakened: -DSECOND=memory_order_acquire -> assertion; sc: ok
// Two readers of independent writes agree on which one was first, if all are seq_cst: one that is not has no place in
// the one order, and the readers may put it where they like.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef WRITE
#define WRITE memory_order_seq_cst
#endif
#ifndef FIRST
#define FIRST memory_order_seq_cst
#endif
#ifndef SECOND
#define SECOND memory_order_seq_cst
#endif

static atomic_int x, y;
static int only_x, only_y;

static void *write_x(void *unused) {
    atomic_store_explicit(&x, 1, WRITE);
    return unused;
}

static void *write_y(void *unused) {
    atomic_store_explicit(&y, 1, WRITE);
    return unused;
}

static void *x_then_y(void *unused) {
    int seen = atomic_load_explicit(&x, FIRST);
    only_x = seen && !atomic_load_explicit(&y, SECOND);
    return unused;
}

static void *y_then_x(void *unused) {
    int seen = atomic_load_explicit(&y, FIRST);
    only_y = seen && !atomic_load_explicit(&x, SECOND);
    return unused;
}

int main(void) {
    void *(*all[4])(void *) = {write_x, write_y, x_then_y, y_then_x};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, all[i], NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert(!(only_x && only_y));
    return 0;
}
