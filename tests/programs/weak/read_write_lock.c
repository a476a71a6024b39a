// expect: ok
// weakened: -DREAD_LOCK=memory_order_relaxed -> race; sc: race
// weakened: -DREAD_UNLOCK=memory_order_relaxed -> race; sc: race
// weakened: -DWRITE_LOCK=memory_order_relaxed -> race; sc: race
// weakened: -DWRITE_UNLOCK=memory_order_relaxed -> race; sc: race
// unbroken: -DLOOK=memory_order_relaxed
// A readers-writer lock: a number of readers, or -1 for a writer.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

// Acquires what writers wrote.
#ifndef READ_LOCK
#define READ_LOCK memory_order_acquire
#endif
// A reader has written nothing, but that it has read has to come before the next write: so it releases.
#ifndef READ_UNLOCK
#define READ_UNLOCK memory_order_release
#endif
// Acquires from readers and from writers.
#ifndef WRITE_LOCK
#define WRITE_LOCK memory_order_acquire
#endif
#ifndef WRITE_UNLOCK
#define WRITE_UNLOCK memory_order_release
#endif
// What to expect in the update; a wrong guess is harmless.
#ifndef LOOK
#define LOOK memory_order_acquire
#endif

static atomic_int state;
static int data[2];

static void read_lock(void) {
    int seen;
    do
        while ((seen = atomic_load_explicit(&state, LOOK)) < 0)
            ;
    while (!atomic_compare_exchange_strong_explicit(&state, &seen, seen + 1, READ_LOCK, memory_order_relaxed));
}

static void read_unlock(void) { atomic_fetch_sub_explicit(&state, 1, READ_UNLOCK); }

static void write_lock(void) {
    for (int none = 0;
         !atomic_compare_exchange_strong_explicit(&state, &none, -1, WRITE_LOCK, memory_order_relaxed); none = 0)
        ;
}

static void write_unlock(void) { atomic_store_explicit(&state, 0, WRITE_UNLOCK); }

static void *reader(void *unused) {
    read_lock();
    assert(data[0] == data[1]);
    read_unlock();
    return unused;
}

static void *writer(void *unused) {
    write_lock();
    data[0]++;
    data[1]++;
    write_unlock();
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_create(&threads[2], NULL, reader, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(data[0] == 1);
    return 0;
}
