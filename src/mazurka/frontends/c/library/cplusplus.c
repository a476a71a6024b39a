/* What compiled C++ calls behind the scenes: operators new and delete, and the initialisation of static variables in
 * functions, which is done once and awaited by the other threads. */
#include <stdlib.h>

#include "waiting.h"

void *new_object(size_t size) __asm__("_Znwm");
void *new_array(size_t size) __asm__("_Znam");
void *new_aligned_object(size_t size, size_t alignment) __asm__("_ZnwmSt11align_val_t");
void *new_aligned_array(size_t size, size_t alignment) __asm__("_ZnamSt11align_val_t");
void *new_object_or_null(size_t size, const void *nothrow) __asm__("_ZnwmRKSt9nothrow_t");
void *new_array_or_null(size_t size, const void *nothrow) __asm__("_ZnamRKSt9nothrow_t");
extern const char nothrow_object __asm__("_ZSt7nothrow");
void delete_object(void *object) __asm__("_ZdlPv");
void delete_array(void *array) __asm__("_ZdaPv");
void delete_sized_object(void *object, size_t size) __asm__("_ZdlPvm");
void delete_sized_array(void *array, size_t size) __asm__("_ZdaPvm");
void delete_aligned_object(void *object, size_t size, size_t alignment) __asm__("_ZdlPvmSt11align_val_t");
void delete_aligned_array(void *array, size_t size, size_t alignment) __asm__("_ZdaPvmSt11align_val_t");
void delete_aligned_object_of_any_size(void *object, size_t alignment) __asm__("_ZdlPvSt11align_val_t");
void delete_aligned_array_of_any_size(void *array, size_t alignment) __asm__("_ZdaPvSt11align_val_t");

const char nothrow_object = 0;

/* Throws, or has the program's own handler do something about it (unwinding.cpp). */
void __mazurka_out_of_memory(void);

void *new_object(size_t size) {
    void *object = malloc(size);
    if (__mazurka_leeway("failing_malloc"))
        while (object == NULL) {
            __mazurka_out_of_memory();
            object = malloc(size);
        }
    return object;
}

void *new_array(size_t size) { return new_object(size); }

void *new_aligned_object(size_t size, size_t alignment) {
    (void)alignment;
    return new_object(size);
}

void *new_aligned_array(size_t size, size_t alignment) {
    (void)alignment;
    return new_object(size);
}

void *new_object_or_null(size_t size, const void *nothrow) {
    (void)nothrow;
    return malloc(size);
}

void *new_array_or_null(size_t size, const void *nothrow) {
    (void)nothrow;
    return malloc(size);
}

void delete_object(void *object) { free(object); }

void delete_array(void *array) { free(array); }

void delete_sized_object(void *object, size_t size) {
    (void)size;
    free(object);
}

void delete_sized_array(void *array, size_t size) {
    (void)size;
    free(array);
}

void delete_aligned_object(void *object, size_t size, size_t alignment) {
    (void)size;
    (void)alignment;
    free(object);
}

void delete_aligned_array(void *array, size_t size, size_t alignment) {
    (void)size;
    (void)alignment;
    free(array);
}

void delete_aligned_object_of_any_size(void *object, size_t alignment) {
    (void)alignment;
    free(object);
}

void delete_aligned_array_of_any_size(void *array, size_t alignment) {
    (void)alignment;
    free(array);
}

/* The compiler looks at the first byte of a guard itself: not 0 once the variable is initialised. The second word is
 * ours: the thread that is at it. */
struct guard {
    unsigned char done;
    unsigned runner; /* its slot, or 0 */
};

int __cxa_guard_acquire(struct guard *guard) {
    __mazurka_atomic_begin();
    unsigned char done = guard->done;
    if (!done) {
        unsigned runner = guard->runner;
        __mazurka_await(runner == 0, "initialisation", guard, thread_in(runner));
        guard->runner = slot_of(__mazurka_self());
    }
    __mazurka_atomic_end();
    return !done;
}

void __cxa_guard_release(struct guard *guard) {
    __mazurka_atomic_begin();
    guard->done = 1;
    guard->runner = 0;
    __mazurka_atomic_end();
}

/* The initialiser has thrown an exception: whoever comes next tries again. */
void __cxa_guard_abort(struct guard *guard) {
    __mazurka_atomic_begin();
    guard->runner = 0;
    __mazurka_atomic_end();
}

_Noreturn void __cxa_pure_virtual(void) { __mazurka_fail("abort", "a pure virtual function was called"); }
