// expect: ok
// traces: 6
// Sections that write where they find one value and only read where they find another, and a compare-exchange that does
// so, too. Which of them conflict is another matter in each order.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static atomic_int x, y;

static void *exchange(void *unused) {
    int expected = 0;
    atomic_compare_exchange_strong(&x, &expected, 1);
    return unused;
}

static void *nothing(void *unused) { return unused; }

static void *store(void *unused) {
    y = 0;
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, exchange, NULL);
    pthread_create(&threads[1], NULL, nothing, NULL);
    pthread_create(&threads[2], NULL, store, NULL);
    __VERIFIER_atomic_begin();
    if (y == 0)
        x = 1;
    else
        (void)x;
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_begin();
    if (x == 0)
        y = 0;
    else
        (void)y;
    __VERIFIER_atomic_end();
    return 0;
}
