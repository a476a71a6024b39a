// expect: ok
// weakened: -DBEFORE=memory_order_relaxed -> race; sc: race
// weakened: -DBEFORE=memory_order_acquire -> race; sc: race
// weakened: -DAFTER=memory_order_relaxed -> race; sc: race
// weakened: -DAFTER=memory_order_release -> race; sc: race
// weakened: -DEARLY -> race; sc: race
// Message passing by fences: the flag itself is relaxed.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

// Stands between the data and the flag, and has to release: no fence, or one that only acquires, lets the flag be seen
// before the data. With EARLY, it stands before the data, where it says nothing about them.
#ifndef BEFORE
#define BEFORE memory_order_release
#endif
// Stands between the flag and the data, and has to acquire: one that only releases is none here.
#ifndef AFTER
#define AFTER memory_order_acquire
#endif

static int data;
static atomic_bool ready;

static void *send(void *unused) {
#ifdef EARLY
    atomic_thread_fence(BEFORE);
    data = 42;
#else
    data = 42;
    atomic_thread_fence(BEFORE);
#endif
    atomic_store_explicit(&ready, true, memory_order_relaxed);
    return unused;
}

static void *receive(void *unused) {
    while (!atomic_load_explicit(&ready, memory_order_relaxed))
        ;
    atomic_thread_fence(AFTER);
    assert(data == 42);
    return unused;
}

int main(void) {
    pthread_t sender, receiver;
    pthread_create(&sender, NULL, send, NULL);
    pthread_create(&receiver, NULL, receive, NULL);
    pthread_join(sender, NULL);
    pthread_join(receiver, NULL);
    return 0;
}
