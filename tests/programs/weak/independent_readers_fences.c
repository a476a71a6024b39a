// expect: ok
// weakened: -DX_THEN_Y=memory_order_acq_rel -> assertion; sc: ok
// weakened: -DX_THEN_Y=memory_order_relaxed -> assertion; sc: ok
// weakened: -DY_THEN_X=memory_order_acquire -> assertion; sc: ok
// unbroken: -DWRITE=memory_order_relaxed
// Two readers of independent writes agree on which one was first, if each has a seq_cst fence between its loads,
// whatever the writes are. Lighter fences leave each reader with an opinion of its own.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef WRITE
#define WRITE memory_order_release
#endif
#ifndef X_THEN_Y
#define X_THEN_Y memory_order_seq_cst
#endif
#ifndef Y_THEN_X
#define Y_THEN_X memory_order_seq_cst
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
    int seen = atomic_load_explicit(&x, memory_order_relaxed);
    atomic_thread_fence(X_THEN_Y);
    only_x = seen && !atomic_load_explicit(&y, memory_order_relaxed);
    return unused;
}

static void *y_then_x(void *unused) {
    int seen = atomic_load_explicit(&y, memory_order_relaxed);
    atomic_thread_fence(Y_THEN_X);
    only_y = seen && !atomic_load_explicit(&x, memory_order_relaxed);
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
