// expect: ok
// An atomic structure, small or large, is never torn.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct small {
    int x, y;
};
struct large {
    long a, b, c;
};
static _Atomic struct small small;
static _Atomic struct large large;

static void *writer(void *unused) {
    struct small s = {2, 2};
    struct large l = {2, 2, 2};
    atomic_store(&small, s);
    large = l;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, writer, NULL);
    struct small s = atomic_load(&small);
    struct large l = large;
    assert(s.x == s.y);
    assert(l.a == l.b && l.b == l.c);
    struct large other = {3, 3, 3};
    if (atomic_compare_exchange_strong(&large, &l, other))
        assert(l.a == 0 || l.a == 2);
    else
        assert(l.a == 2);
    pthread_join(thread, NULL);
    return 0;
}
