// expect: ok
// The __atomic and __sync functions of GCC and clang.
#include <assert.h>
#include <stdbool.h>

static int number = 1;
static long wide;
static unsigned char byte = 0xf0;

int main(void) {
    assert(__atomic_load_n(&number, __ATOMIC_ACQUIRE) == 1);
    __atomic_store_n(&number, 2, __ATOMIC_RELEASE);
    assert(__atomic_exchange_n(&number, 3, __ATOMIC_ACQ_REL) == 2);
    assert(__atomic_add_fetch(&number, 4, __ATOMIC_RELAXED) == 7);
    assert(__atomic_fetch_add(&number, 1, __ATOMIC_RELAXED) == 7);
    assert(__atomic_sub_fetch(&number, 2, __ATOMIC_SEQ_CST) == 6);
    assert(__atomic_and_fetch(&number, 3, __ATOMIC_SEQ_CST) == 2);
    assert(__atomic_or_fetch(&number, 9, __ATOMIC_SEQ_CST) == 11);
    assert(__atomic_xor_fetch(&number, 1, __ATOMIC_SEQ_CST) == 10);
    assert(__atomic_fetch_nand(&number, 2, __ATOMIC_SEQ_CST) == 10 && number == ~2);
    int expected = 0, value = 5, out;
    assert(!__atomic_compare_exchange_n(&number, &expected, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    assert(expected == ~2);
    assert(__atomic_compare_exchange(&number, &expected, &value, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    __atomic_load(&number, &out, __ATOMIC_SEQ_CST);
    assert(out == 5);

    assert(__sync_fetch_and_add(&wide, 10) == 0 && __sync_add_and_fetch(&wide, 5) == 15);
    assert(__sync_sub_and_fetch(&wide, 1) == 14 && __sync_fetch_and_or(&wide, 1) == 14 && wide == 15);
    assert(__sync_bool_compare_and_swap(&wide, 15, 20) && !__sync_bool_compare_and_swap(&wide, 15, 30));
    assert(__sync_val_compare_and_swap(&wide, 20, 40) == 20 && wide == 40);
    assert(__sync_lock_test_and_set(&byte, 1) == 0xf0 && byte == 1);
    __sync_lock_release(&byte);
    assert(byte == 0);
    __sync_synchronize();
    assert(!__atomic_test_and_set(&byte, __ATOMIC_ACQUIRE) && byte);
    __atomic_clear(&byte, __ATOMIC_RELEASE);
    assert(!byte && __atomic_always_lock_free(sizeof(int), 0));
    return 0;
}
