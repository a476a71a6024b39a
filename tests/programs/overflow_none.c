// expect: ok
// Numbers up to their limits, and what may look like an overflow but is none: unsigned and atomic numbers wrap around,
// small ones are converted, and the compiler's own checks ask first. A counter that nobody looks at keeps no loop from
// being one that only waits.
#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static atomic_int wrapping = INT_MAX, ready;

static void *publish(void *argument) {
    (void)argument;
    ready = 1;
    return 0;
}

int main(void) {
    volatile int most = INT_MAX - 1, least = INT_MIN + 1;
    assert(most + 1 == INT_MAX && least - 1 == INT_MIN && -most == INT_MIN + 2 && most / 2 * 2 == most);
    volatile long far = LONG_MAX / 3;
    assert(far * 3 <= LONG_MAX && far - LONG_MAX < 0);
    volatile unsigned top = UINT_MAX;
    top += 2;
    assert(top == 1 && top - 2 == UINT_MAX && (uint16_t)(top * 65535u) == 65535);
    volatile signed char small = SCHAR_MAX;
    small++;
    assert(small == SCHAR_MIN);
    assert(wrapping++ == INT_MAX && wrapping == INT_MIN);
    assert(atomic_fetch_sub(&wrapping, 1) == INT_MIN);
    int sum;
    assert(__builtin_add_overflow(most, 2, &sum) && __builtin_mul_overflow(most, most, &sum));
    volatile int bits = 31;
    assert(1u << bits == 0x80000000u && 1l << (bits + 32) == LONG_MIN && -8 >> 1 == -4 && (1 << bits) < 0);
    pthread_t thread;
    int rounds = 0;
    pthread_create(&thread, 0, publish, 0);
    while (!ready)
        rounds++;
    pthread_join(thread, 0);
    return 0;
}
