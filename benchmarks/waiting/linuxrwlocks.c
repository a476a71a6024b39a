/* The readers-writer lock that Linux once had: one word, of which a reader takes 1 and a writer all. Whoever took more
 * than there was gives it back, waits, and tries again. One thread reads, one writes, one reads and then writes. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "spin.h"

enum { ALL = 0x00100000 };

static atomic_int left = ALL;
static int shared;

static void read_lock(void) {
    while (atomic_fetch_sub(&left, 1) <= 0) {
        atomic_fetch_add(&left, 1);
        spin_until(atomic_load(&left) > 0);
    }
}

static void read_unlock(void) {
    atomic_fetch_add(&left, 1);
}

static void write_lock(void) {
    while (atomic_fetch_sub(&left, ALL) != ALL) {
        atomic_fetch_add(&left, ALL);
        spin_until(atomic_load(&left) == ALL);
    }
}

static void write_unlock(void) {
    atomic_fetch_add(&left, ALL);
}

static void *run_reader(void *unused) {
    read_lock();
    assert(shared == 0 || shared == 42);
    read_unlock();
    return unused;
}

static void *run_writer(void *unused) {
    write_lock();
    shared = 42;
    write_unlock();
    return unused;
}

static void *run_both(void *unused) {
    run_reader(unused);
    return run_writer(unused);
}

int main(void) {
    pthread_t reader, writer, both;
    pthread_create(&reader, NULL, run_reader, NULL);
    pthread_create(&writer, NULL, run_writer, NULL);
    pthread_create(&both, NULL, run_both, NULL);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    pthread_join(both, NULL);
    return 0;
}
