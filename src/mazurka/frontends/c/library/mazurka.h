/* What the models of the C library are written with: calls that the front end turns into instructions of the
 * program representation (see src/mazurka/program/instructions.py, which says what each means). */
#ifndef MAZURKA_H
#define MAZURKA_H

#include <stddef.h>

/* The control block of a thread; a pthread_t is its address. Its last byte is not for use. The machine writes `done` (1 when
 * the thread has ended); everything else belongs to the models. It starts as zeros. */
struct mazurka_thread {
    unsigned done;
    unsigned joined; /* the slot of the thread that has joined it; 0: nobody */
    unsigned detached;
    unsigned signalled;
    void *value;        /* what the thread returned */
    unsigned cancelled; /* somebody has asked it to end */
};
_Static_assert(offsetof(struct mazurka_thread, done) == MAZURKA_THREAD_DONE &&
                   offsetof(struct mazurka_thread, joined) == MAZURKA_THREAD_JOINED &&
                   offsetof(struct mazurka_thread, signalled) == MAZURKA_THREAD_SIGNALLED &&
                   offsetof(struct mazurka_thread, cancelled) + 4 < MAZURKA_THREAD_BLOCK_SIZE,
               "native/core/layout.hpp");

void __mazurka_atomic_begin(void);
void __mazurka_atomic_end(void);
void __mazurka_assume(_Bool condition);
/* `what` is a string literal. `holder` may be null. Only between atomic_begin and atomic_end. */
void __mazurka_await(_Bool condition, const char *what, const volatile void *object, struct mazurka_thread *holder);
/* What this section does to a lock. `kind` is a string literal: "acquire" (before the await), "release", "keep", "try"
 * or "look". Every section that touches the words of a lock claims it once; what initialises or destroys it does not.
 * Only between atomic_begin and atomic_end. */
void __mazurka_claim(const volatile void *lock, const char *kind);
/* What this section has accessed so far does not synchronise with what others did: it could not do what it was called
 * for. Only between atomic_begin and atomic_end. */
void __mazurka_relax(void);
/* Both are string literals; kind is "assertion", "abort", "memory", "sync" or "arithmetic"; or "limit", where it is the
 * model that cannot go on, so that nothing is known of such an execution. */
_Noreturn void __mazurka_fail(const char *kind, const char *message);
/* The same, with a string that is known when the program runs, and an object on the heap (or null): where that was made
 * is to blame. */
_Noreturn void __mazurka_fail_with(const char *kind, const char *message, const char *details, const void *cause);
unsigned __mazurka_choose(unsigned count);
/* Any number with the sign of this one. For functions that do nothing else with what they return: these are looked at
 * where they are called. */
int __mazurka_any_of_sign(int sign);
/* Whether a field of `Leeway` (src/mazurka/leeway.py) is set; it is a string literal. For use as the condition of a
 * branch, of which only the side that is taken becomes part of the program. */
_Bool __mazurka_leeway(const char *field);
/* Whether the program, apart from the library, names a function; it is a string literal. For use as `__mazurka_leeway` is:
 * who does not ask for something is spared it. */
_Bool __mazurka_named(const char *function);
struct mazurka_thread *__mazurka_spawn(void (*function)(void *(*)(void *), void *), void *(*start)(void *),
                                       void *argument);
struct mazurka_thread *__mazurka_self(void);
/* To a landing of a call that is still under way, by one of its stack objects. */
_Noreturn void __mazurka_long_jump(const void *object, unsigned long landing, int value);
_Noreturn void __mazurka_end_thread(void);
_Noreturn void __mazurka_exit(int status);
void *__mazurka_allocate(size_t size, _Bool zeroed);
void __mazurka_free(void *block);
size_t __mazurka_block_size(const void *block);
/* The same, with 0 for the bits that nobody ever wrote. */
void *__mazurka_defined(const void *value);
void __mazurka_output(char byte);

#endif
