// expect: ok
// Every operation of <stdatomic.h>, in every order of memory.
#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

static _Atomic int8_t tiny = 127;
static atomic_uint number = ATOMIC_VAR_INIT(5);
static atomic_llong wide;
static _Atomic(int *) pointer;
static atomic_bool boolean;
static _Atomic double real = 1.5;

int main(void) {
    int targets[4] = {0};
    atomic_init(&wide, -1);
    assert(atomic_load_explicit(&number, memory_order_relaxed) == 5);
    atomic_store_explicit(&number, 6, memory_order_release);
    assert(atomic_exchange_explicit(&number, 7, memory_order_acq_rel) == 6);
    assert(atomic_fetch_add(&number, 3) == 7 && atomic_fetch_sub_explicit(&number, 1, memory_order_acquire) == 10);
    assert(atomic_fetch_or(&number, 6) == 9 && atomic_fetch_and(&number, 12) == 15);
    assert(atomic_fetch_xor(&number, 5) == 12 && number == 9);
    unsigned expected = 8;
    assert(!atomic_compare_exchange_strong(&number, &expected, 1) && expected == 9);
    assert(atomic_compare_exchange_weak_explicit(&number, &expected, 1, memory_order_seq_cst, memory_order_relaxed));
    assert(number == 1 && ++number == 2 && number++ == 2 && (number *= 5) == 15 && (number <<= 2) == 60);
    tiny++;
    assert(tiny == -128 && (tiny -= 1) == 127);
    assert(atomic_fetch_add_explicit(&wide, 1, memory_order_consume) == -1 && wide == 0);
    atomic_store(&pointer, targets);
    assert(atomic_fetch_add(&pointer, 2) == targets && pointer == targets + 2 && --pointer == targets + 1);
    atomic_store(&boolean, true);
    assert(atomic_exchange(&boolean, false) && !boolean);
    real += 0.25;
    assert(real == 1.75);
    atomic_flag flag = ATOMIC_FLAG_INIT;
    assert(!atomic_flag_test_and_set(&flag) && atomic_flag_test_and_set_explicit(&flag, memory_order_acquire));
    atomic_flag_clear(&flag);
    assert(!atomic_flag_test_and_set(&flag));
    atomic_thread_fence(memory_order_seq_cst);
    atomic_signal_fence(memory_order_acquire);
    assert(atomic_is_lock_free(&number) && kill_dependency(3) == 3);
    return 0;
}
