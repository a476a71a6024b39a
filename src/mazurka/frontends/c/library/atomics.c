/* Atomic operations on objects that are too large for one access: sections of copies. (The names are known to the
 * compiler, which does not allow to define them as they are.) */
#include "copy.h"

void load(size_t size, void *from, void *to, int order) __asm__("__atomic_load");
void store(size_t size, void *to, void *from, int order) __asm__("__atomic_store");
void exchange(size_t size, void *object, void *desired, void *old, int order) __asm__("__atomic_exchange");
_Bool compare_exchange(size_t size, void *object, void *expected, void *desired, int success,
                       int failure) __asm__("__atomic_compare_exchange");
_Bool is_lock_free(size_t size, void *object) __asm__("__atomic_is_lock_free");

void load(size_t size, void *from, void *to, int order) {
    __mazurka_atomic_begin();
    __mazurka_copy(to, from, size, 0);
    if (order == __ATOMIC_RELAXED)
        __mazurka_relax();
    __mazurka_atomic_end();
}

void store(size_t size, void *to, void *from, int order) { load(size, from, to, order); }

void exchange(size_t size, void *object, void *desired, void *old, int order) {
    (void)order;
    __mazurka_atomic_begin();
    for (size_t i = 0; i < size; i++) {
        char new_byte = ((char *)desired)[i]; /* `desired` may be where `old` goes */
        ((char *)old)[i] = ((char *)object)[i];
        ((char *)object)[i] = new_byte;
    }
    __mazurka_atomic_end();
}

_Bool compare_exchange(size_t size, void *object, void *expected, void *desired, int success, int failure) {
    (void)success;
    __mazurka_atomic_begin();
    _Bool equal = 1;
    for (size_t i = 0; equal && i < size; i++)
        equal = ((char *)object)[i] == ((char *)expected)[i];
    if (equal)
        __mazurka_copy(object, desired, size, 0);
    else
        __mazurka_copy(expected, object, size, 0);
    if (!equal && failure == __ATOMIC_RELAXED)
        __mazurka_relax();
    __mazurka_atomic_end();
    return equal;
}

_Bool is_lock_free(size_t size, void *object) {
    (void)object;
    return size == 1 || size == 2 || size == 4 || size == 8;
}
