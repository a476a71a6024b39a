// expect: ok
// A queue between one producer and one consumer needs no lock.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { SIZE = 2 };
static int ring[SIZE];
static atomic_uint head, tail;

static bool put(int value) {
    unsigned at = atomic_load_explicit(&tail, memory_order_relaxed);
    if (at - atomic_load_explicit(&head, memory_order_acquire) == SIZE)
        return false;
    ring[at % SIZE] = value;
    atomic_store_explicit(&tail, at + 1, memory_order_release);
    return true;
}

static bool take(int *value) {
    unsigned at = atomic_load_explicit(&head, memory_order_relaxed);
    if (at == atomic_load_explicit(&tail, memory_order_acquire))
        return false;
    *value = ring[at % SIZE];
    atomic_store_explicit(&head, at + 1, memory_order_release);
    return true;
}

static void *producer(void *unused) {
    put(1);
    put(2);
    return unused;
}

int main(void) {
    pthread_t thread;
    int expected = 1, value;
    pthread_create(&thread, NULL, producer, NULL);
    for (int i = 0; i < 2; i++)
        if (take(&value))
            assert(value == expected++);
    pthread_join(thread, NULL);
    while (take(&value))
        assert(value == expected++);
    assert(expected == 3);
    return 0;
}
