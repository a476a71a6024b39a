// expect: ok
// <threads.h>: threads, mutexes, condition variables, thread-specific storage, call_once.
#include <assert.h>
#include <stddef.h>
#include <threads.h>

static mtx_t lock;
static cnd_t condition;
static tss_t storage;
static once_flag once = ONCE_FLAG_INIT;
static int turn, calls, destroyed;

static void initialise(void) { calls++; }

static void destroy(void *value) { destroyed += *(int *)value; }

static int pong(void *argument) {
    int *one = argument;
    call_once(&once, initialise);
    tss_set(storage, one);
    mtx_lock(&lock);
    while (turn != 1)
        cnd_wait(&condition, &lock);
    turn = 2;
    cnd_broadcast(&condition);
    mtx_unlock(&lock);
    assert(tss_get(storage) == one);
    if (*one == 1)
        thrd_exit(-7);
    return 0;
}

int main(void) {
    thrd_t thread;
    int one = 1, result;
    assert(mtx_init(&lock, mtx_plain) == thrd_success);
    assert(cnd_init(&condition) == thrd_success);
    assert(tss_create(&storage, destroy) == thrd_success);
    call_once(&once, initialise);
    assert(thrd_create(&thread, pong, &one) == thrd_success);
    assert(!thrd_equal(thread, thrd_current()));
    mtx_lock(&lock);
    turn = 1;
    cnd_signal(&condition);
    while (turn != 2)
        cnd_wait(&condition, &lock);
    mtx_unlock(&lock);
    assert(thrd_join(thread, &result) == thrd_success);
    assert(result == -7 && calls == 1 && destroyed == 1 && tss_get(storage) == NULL);
    tss_delete(storage);
    cnd_destroy(&condition);
    mtx_destroy(&lock);

    struct timespec deadline = {0, 0};
    thrd_yield();
    thrd_sleep(&deadline, NULL);
    assert(mtx_init(&lock, mtx_recursive | mtx_timed) == thrd_success);
    assert(mtx_lock(&lock) == thrd_success && mtx_trylock(&lock) == thrd_success);
    assert(mtx_timedlock(&lock, &deadline) == thrd_success);
    for (int i = 0; i < 3; i++)
        assert(mtx_unlock(&lock) == thrd_success);
    mtx_destroy(&lock);
    assert(mtx_init(&lock, mtx_plain) == thrd_success);
    assert(mtx_trylock(&lock) == thrd_success && mtx_trylock(&lock) == thrd_busy);
    return 0;
}
