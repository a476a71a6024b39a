// expect: ok
// weakened: -DDROP=memory_order_relaxed -> race; sc: race
// weakened: -DLAST=memory_order_relaxed -> race; sc: race
// weakened: -DFORGET=memory_order_relaxed -> race; sc: race
// weakened: -DLAST_WEAK=memory_order_relaxed -> race; sc: race
// unbroken: -DUPGRADE=memory_order_relaxed
// Strong and weak references: the strong ones keep the value, the weak ones the block that it is in. A weak one becomes
// a strong one only while there are others.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

// Strong references release what was done by them, and the last one acquires it, before the value goes.
#ifndef DROP
#define DROP memory_order_release
#endif
#ifndef LAST
#define LAST memory_order_acquire
#endif
// The same for weak ones and the block; all strong ones together have one of these.
#ifndef FORGET
#define FORGET memory_order_release
#endif
#ifndef LAST_WEAK
#define LAST_WEAK memory_order_acquire
#endif
// Who comes from zero would be too late; from any other number, the reference that is still there keeps the value. What
// is in it was known before: nobody writes to it.
#ifndef UPGRADE
#define UPGRADE memory_order_acquire
#endif

struct block {
    atomic_int strong, weak;
    int value, header;
};

static void forget(struct block *block) {
    if (atomic_fetch_sub_explicit(&block->weak, 1, FORGET) > 1)
        return;
    atomic_thread_fence(LAST_WEAK);
    block->header = -1;
    free(block);
}

static void drop(struct block *block) {
    if (atomic_fetch_sub_explicit(&block->strong, 1, DROP) > 1)
        return;
    atomic_thread_fence(LAST);
    block->value = -1;
    forget(block);
}

static bool upgrade(struct block *block) {
    int seen = atomic_load_explicit(&block->strong, memory_order_relaxed);
    while (seen != 0)
        if (atomic_compare_exchange_strong_explicit(&block->strong, &seen, seen + 1, UPGRADE, memory_order_relaxed))
            return true;
    return false;
}

static void *owner(void *argument) {
    struct block *block = argument;
    int value = block->value;
    assert(value == 1);
    drop(block);
    return NULL;
}

static void *observer(void *argument) {
    struct block *block = argument;
    int header = block->header;
    assert(header == 7);
    if (upgrade(block)) {
        int value = block->value;
        assert(value == 1);
        drop(block);
    }
    forget(block);
    return NULL;
}

int main(void) {
    struct block *block = malloc(sizeof *block);
    block->strong = 1;
    block->weak = 2;
    block->value = 1;
    block->header = 7;
    pthread_t a, b;
    pthread_create(&a, NULL, owner, block);
    pthread_create(&b, NULL, observer, block);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
