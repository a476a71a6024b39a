// expect: ok
// Tokens are taken one at a time; who gets none gives up.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#define TOKENS 1

static atomic_int tokens = TOKENS;
static atomic_int admitted, refused;

static bool admit(void) {
    int left = atomic_load_explicit(&tokens, memory_order_relaxed);
    while (left > 0)
        if (atomic_compare_exchange_weak(&tokens, &left, left - 1))
            return true;
    return false;
}

static void *request(void *unused) {
    if (admit())
        atomic_fetch_add(&admitted, 1);
    else
        atomic_fetch_add(&refused, 1);
    return unused;
}

static void refill(int count) {
    int left = atomic_load(&tokens);
    assert(left >= 0);
    atomic_store(&tokens, left + count > TOKENS ? TOKENS : left + count);
}

static void check(void) {
    assert(admitted == TOKENS);
    assert(admitted + refused == 3);
    refill(1);
    assert(admit());
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, request, NULL);
    pthread_create(&threads[1], NULL, request, NULL);
    pthread_create(&threads[2], NULL, request, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    check();
    return 0;
}
