/* Ending the program, and what runs before it ends: handlers that were registered with `atexit`, and the destructors of
 * C++ objects with static storage duration, which the compiler registers in the same way.
 *
 * The handlers run in the thread that calls `exit`, the latest first, while other threads go on. When `main` returns,
 * they run as well, before its thread ends. */
#include <stdlib.h>
#include <unistd.h>

#include "mazurka.h"

#define MOST_HANDLERS 1024

struct handler {
    void (*function)(void *);
    void *argument;
};

static unsigned count;
static struct handler handlers[MOST_HANDLERS];

/* By its address, C++ tells apart the libraries that register handlers. There is only the program itself. */
void *__dso_handle;

/* What calls this has handlers to run when `main` returns; others are spared the look. */
void __mazurka_at_exit(void (*function)(void *), void *argument) {
    __mazurka_atomic_begin();
    unsigned number = count;
    if (number == MOST_HANDLERS)
        __mazurka_fail("abort", "more than 1024 functions to be called at exit are not supported");
    handlers[number].function = function;
    handlers[number].argument = argument;
    count = number + 1;
    __mazurka_atomic_end();
}

void __mazurka_run_exit_handlers(void) {
    for (;;) {
        struct handler handler = {NULL, NULL};
        __mazurka_atomic_begin();
        unsigned left = count;
        if (left) {
            handler = handlers[left - 1];
            count = left - 1;
        }
        __mazurka_atomic_end();
        if (!left)
            return;
        handler.function(handler.argument);
    }
}

int __cxa_atexit(void (*function)(void *), void *argument, void *library) {
    (void)library;
    __mazurka_at_exit(function, argument);
    return 0;
}

/* The function does not look at an argument. */
int atexit(void (*function)(void)) {
    __mazurka_at_exit((void (*)(void *))(void *)function, NULL);
    return 0;
}

_Noreturn void exit(int status) {
    __mazurka_run_exit_handlers();
    __mazurka_exit(status);
}

_Noreturn void quick_exit(int status) { __mazurka_exit(status); }

_Noreturn void _exit(int status) { __mazurka_exit(status); }

_Noreturn void _Exit(int status) { __mazurka_exit(status); }

/* Programs of the SV-COMP collection say by it what they assume. */
extern const int __mazurka_abort_assumes;

_Noreturn void abort(void) {
    __mazurka_assume(!__mazurka_abort_assumes);
    __mazurka_fail("abort", "abort was called");
}
