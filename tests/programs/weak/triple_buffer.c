// expect: ok
// weakened: -DHAND_OVER=memory_order_acquire -> race; sc: race
// weakened: -DHAND_OVER=memory_order_release -> race; sc: race
// weakened: -DPICK_UP=memory_order_release -> race; sc: race
// weakened: -DPICK_UP=memory_order_acquire -> race; sc: race
// unbroken: -DLOOK=memory_order_relaxed
// Three buffers: one is the writer's, one is the reader's, and the third one is exchanged for theirs, with a mark if it
// is new. Nobody ever waits.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

// Releases what was written, and acquires a buffer that was read: half of it is not enough.
#ifndef HAND_OVER
#define HAND_OVER memory_order_acq_rel
#endif
// Acquires what was written, and releases a buffer that was read.
#ifndef PICK_UP
#define PICK_UP memory_order_acq_rel
#endif
// Whether it is worth an exchange.
#ifndef LOOK
#define LOOK memory_order_acquire
#endif

enum { NEW = 4 };

static int buffers[3];
static atomic_int middle = 1;

static void *writer(void *unused) {
    int mine = 0;
    for (int i = 1; i <= 4; i++) {
        buffers[mine] = i;
        mine = atomic_exchange_explicit(&middle, mine | NEW, HAND_OVER) & 3;
    }
    return unused;
}

static void *reader(void *unused) {
    int mine = 2, last = 0;
    for (int i = 0; i < 2; i++) {
        if ((atomic_load_explicit(&middle, LOOK) & NEW) == 0)
            continue;
        mine = atomic_exchange_explicit(&middle, mine, PICK_UP) & 3;
        int value = buffers[mine];
        assert(value > last);
        last = value;
    }
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
