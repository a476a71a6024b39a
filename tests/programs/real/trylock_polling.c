// expect: ok
// Whoever does not get the lock does something else, and tries again.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance;
static atomic_int tries;

static void *deposit(void *unused) {
    while (pthread_mutex_trylock(&lock) != 0)
        sched_yield();
    int before = balance;
    balance = before + 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *audit(void *unused) {
    int seen;
    pthread_mutex_lock(&lock);
    seen = balance;
    pthread_mutex_unlock(&lock);
    assert(seen >= 0 && seen <= 2);
    atomic_fetch_add(&tries, 1);
    return unused;
}

static void report(void) {
    assert(balance == 2);
    assert(tries == 1);
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, deposit, NULL);
    pthread_create(&threads[1], NULL, deposit, NULL);
    pthread_create(&threads[2], NULL, audit, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    report();
    return 0;
}
