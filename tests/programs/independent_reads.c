// expect: ok
// traces: 15
// Two readers agree on the order of two independent writes.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;

static void *write_x(void *unused) {
    atomic_store(&x, 1);
    return unused;
}

static void *read_x_y(void *unused) {
    (void)unused;
    int first = atomic_load(&x), second = atomic_load(&y);
    return (void *)(long)(first && !second);
}

static void *read_y_x(void *unused) {
    (void)unused;
    int first = atomic_load(&y), second = atomic_load(&x);
    return (void *)(long)(first && !second);
}

int main(void) {
    pthread_t writer, readers[2];
    void *x_was_first, *y_was_first;
    pthread_create(&writer, NULL, write_x, NULL);
    pthread_create(&readers[0], NULL, read_x_y, NULL);
    pthread_create(&readers[1], NULL, read_y_x, NULL);
    atomic_store(&y, 1);
    pthread_join(readers[0], &x_was_first);
    pthread_join(readers[1], &y_was_first);
    assert(!(x_was_first && y_was_first));
    return 0;
}
