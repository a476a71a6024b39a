// expect: ok
// weakened: -DARRIVE=memory_order_acq_rel -> race; sc: ok
// weakened: -DSIDE=memory_order_acquire -> race; sc: ok
// weakened: -DTURN=memory_order_release -> race; sc: ok; tso: race
// weakened: -DEMPTY=memory_order_acquire -> race; sc: ok
// weakened: -DDEPART=memory_order_relaxed -> race; sc: race
// weakened: -DDEPART=memory_order_acquire -> race; sc: race
// unbroken: -DWHICH=memory_order_relaxed -DSWITCH=memory_order_relaxed
// Left-right (Ramalhete and Correia): two copies of the data, readers read the one that the writer does not write to.
// It turns them to the other one and waits for two sets of readers to be empty, one after the other, so that readers do
// not wait for anything.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

// A reader arrives, and looks which side to read; the writer turns the side, and looks who has arrived: store
// buffering. All of them have to be in the one order.
#ifndef ARRIVE
#define ARRIVE memory_order_seq_cst
#endif
#ifndef SIDE
#define SIDE memory_order_seq_cst
#endif
#ifndef TURN
#define TURN memory_order_seq_cst
#endif
#ifndef EMPTY
#define EMPTY memory_order_seq_cst
#endif
// Releases what was read to the writer, who comes back to this side.
#ifndef DEPART
#define DEPART memory_order_release
#endif

// Which set to arrive in: the writer waits for both, and changes it only so that it does not wait for ever.
#ifndef WHICH
#define WHICH memory_order_seq_cst
#endif
#ifndef SWITCH
#define SWITCH memory_order_seq_cst
#endif

static int sides[2];
static atomic_int side, set;
static atomic_int arrived[2];

static int read(void) {
    int mine = atomic_load_explicit(&set, WHICH);
    atomic_fetch_add_explicit(&arrived[mine], 1, ARRIVE);
    int value = sides[atomic_load_explicit(&side, SIDE)];
    atomic_fetch_sub_explicit(&arrived[mine], 1, DEPART);
    return value;
}

static void *reader(void *unused) {
    int first = read();
    int second = read();
    assert(first <= second);
    return unused;
}

static void write(int value) {
    int hidden = 1 - atomic_load_explicit(&side, memory_order_relaxed);
    int before = atomic_load_explicit(&set, memory_order_relaxed);
    sides[hidden] = value;
    atomic_store_explicit(&side, hidden, TURN);
    while (atomic_load_explicit(&arrived[1 - before], EMPTY) != 0)
        ;
    atomic_store_explicit(&set, 1 - before, SWITCH);
    while (atomic_load_explicit(&arrived[before], EMPTY) != 0)
        ;
    sides[1 - hidden] = value;
}

static void *writer(void *unused) {
    write(1);
    write(2);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, reader, NULL);
    pthread_create(&threads[1], NULL, writer, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
