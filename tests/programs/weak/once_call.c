// expect: ok
// weakened: -DFINISH=memory_order_relaxed -> race; sc: race
// weakened: -DAWAIT=memory_order_relaxed -> race; sc: race
// weakened: -DLOST=memory_order_relaxed -> race; sc: race
// weakened: -DLOOK=memory_order_relaxed -> race; sc: race
// unbroken: -DBEGIN=memory_order_relaxed
// Something that is done once: nobody has begun, somebody is at it, it is done. Who comes in between waits.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

// To be the one who does it says nothing about others.
#ifndef BEGIN
#define BEGIN memory_order_acquire
#endif
// Releases what was done, to all who come later: those who look first,
#ifndef FINISH
#define FINISH memory_order_release
#endif
#ifndef LOOK
#define LOOK memory_order_acquire
#endif
// those who are told by the failed attempt to begin,
#ifndef LOST
#define LOST memory_order_acquire
#endif
// and those who wait.
#ifndef AWAIT
#define AWAIT memory_order_acquire
#endif

enum { NEW, BEGUN, DONE };

static atomic_int state;
static int answer;

static int get(void) {
    if (atomic_load_explicit(&state, LOOK) != DONE) {
        int seen = NEW;
        if (atomic_compare_exchange_strong_explicit(&state, &seen, BEGUN, BEGIN, LOST)) {
            answer++;
            atomic_store_explicit(&state, DONE, FINISH);
        } else if (seen != DONE) {
            while (atomic_load_explicit(&state, AWAIT) != DONE)
                ;
        }
    }
    return answer;
}

static void *work(void *unused) {
    assert(get() == 1);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(answer == 1);
    return 0;
}
