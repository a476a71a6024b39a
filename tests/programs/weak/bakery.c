// expect: ok
// weakened: -DCHOOSE=memory_order_release -> race; sc: ok; tso: race
// weakened: -DLOOK=memory_order_acquire -> race; sc: ok
// weakened: -DNUMBER=memory_order_release -> race; sc: ok
// weakened: -DASK=memory_order_acquire -> race; sc: ok
// weakened: -DCHOSEN=memory_order_relaxed -> race; sc: ok
// weakened: -DWAIT=memory_order_relaxed -> race; sc: race
// weakened: -DLEAVE=memory_order_relaxed -> race; sc: race
// unbroken: -DCHOSEN=memory_order_release -DWAIT=memory_order_acquire -DLEAVE=memory_order_release
// Lamport's bakery: each takes a number that is larger than all that it sees, and the least one is next.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

// Store buffering twice over: one thread says that it is choosing and looks at the other's number, the other one has
// written its number and asks whether the first is choosing. If neither sees the other, both have the number 1, or the
// smaller one comes in late. So these four have to be seq_cst.
#ifndef CHOOSE
#define CHOOSE memory_order_seq_cst
#endif
#ifndef LOOK
#define LOOK memory_order_seq_cst
#endif
#ifndef NUMBER
#define NUMBER memory_order_seq_cst
#endif
#ifndef ASK
#define ASK memory_order_seq_cst
#endif
// Releases the number to who asks: otherwise it may be seen too late.
#ifndef CHOSEN
#define CHOSEN memory_order_seq_cst
#endif
// Acquires what the one before did inside, which LEAVE releases.
#ifndef WAIT
#define WAIT memory_order_seq_cst
#endif
#ifndef LEAVE
#define LEAVE memory_order_seq_cst
#endif

static atomic_bool choosing[2];
static atomic_int numbers[2];
static int counter;

static void *work(void *argument) {
    int self = argument != NULL, other = 1 - self;
    atomic_store_explicit(&choosing[self], true, CHOOSE);
    int mine = atomic_load_explicit(&numbers[other], LOOK) + 1;
    atomic_store_explicit(&numbers[self], mine, NUMBER);
    atomic_store_explicit(&choosing[self], false, CHOSEN);
    while (atomic_load_explicit(&choosing[other], ASK))
        ;
    for (int his; (his = atomic_load_explicit(&numbers[other], WAIT)) && (his < mine || (his == mine && other < self));)
        ;
    counter++;
    atomic_store_explicit(&numbers[self], 0, LEAVE);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, &counter);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 2);
    return 0;
}
