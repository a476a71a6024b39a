// expect: ok
// Which of those who wait are woken is open, and how many were is known. Bits and requeueing are respected.
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic uint32_t word, other;
static atomic_int waiting, gone;

static long futex(_Atomic uint32_t *at, int operation, uint32_t value, uintptr_t fourth, _Atomic uint32_t *second,
                  uint32_t third) {
    return syscall(SYS_futex, at, operation, value, fourth, second, third);
}

static void *run(void *bits) {
    atomic_fetch_add(&waiting, 1);
    long result = futex(&word, FUTEX_WAIT_BITSET, 0, 0, NULL, (uint32_t)(uintptr_t)bits);
    if (result == -1)
        assert(errno == EAGAIN && atomic_load(&word) == 1);
    atomic_fetch_add(&gone, 1);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, run, (void *)1);
    pthread_create(&two, NULL, run, (void *)2);
    assert(futex(&word, FUTEX_WAIT, 7, 0, NULL, 0) == -1 && errno == EAGAIN);
    long woken = futex(&word, FUTEX_WAKE_BITSET, 2, 0, NULL, 2);
    assert(woken <= 1);
    long moved = futex(&word, FUTEX_REQUEUE, 0, 2, &other, 0);
    assert(woken + moved <= 2);
    assert(futex(&other, FUTEX_WAKE, 1, 0, NULL, 0) == (moved > 0));
    assert(futex(&other, FUTEX_CMP_REQUEUE, 0, 0, &word, 5) == -1 && errno == EAGAIN);
    atomic_store(&word, 1);
    futex(&word, FUTEX_WAKE, 2, 0, NULL, 0);
    futex(&other, FUTEX_WAKE, 2, 0, NULL, 0);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    assert(gone == 2);
    return 0;
}
