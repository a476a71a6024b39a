// expect: ok
// weakened: -DOFFER=memory_order_relaxed -> race; sc: race
// weakened: -DACCEPT=memory_order_acquire -> race; sc: race
// weakened: -DFOUND=memory_order_relaxed -> race; sc: race
// weakened: -DRECEIVE=memory_order_relaxed -> race; sc: race
// unbroken: -DACCEPT=memory_order_release
// Two threads exchange what they have: the first one puts it into a slot and waits, the second one takes it from there
// and leaves its own. (The elimination of a push and a pop is done like this.)
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

// Releases the offer.
#ifndef OFFER
#define OFFER memory_order_release
#endif
// The second one finds, by a compare-exchange that fails, that there is an offer, and acquires it by that,
#ifndef FOUND
#define FOUND memory_order_acquire
#endif
// or by the one that accepts it, which has to release what it leaves there.
#ifndef ACCEPT
#define ACCEPT memory_order_acq_rel
#endif
// Acquires that.
#ifndef RECEIVE
#define RECEIVE memory_order_acquire
#endif

struct item {
    int value;
};

static struct item items[2];
static _Atomic(struct item *) slot;

static void *work(void *argument) {
    struct item *mine = argument, *other = NULL;
    mine->value = 1 + (int)(mine - items);
    if (atomic_compare_exchange_strong_explicit(&slot, &other, mine, OFFER, FOUND)) {
        while ((other = atomic_load_explicit(&slot, RECEIVE)) == mine)
            ;
        assert(other->value == 3 - mine->value);
    } else {
        int value = other->value;
        assert(value == 3 - mine->value);
        assert(atomic_compare_exchange_strong_explicit(&slot, &other, mine, ACCEPT, memory_order_relaxed));
    }
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, &items[0]);
    pthread_create(&b, NULL, work, &items[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
