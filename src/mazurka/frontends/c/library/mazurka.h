/* What the models of the C library are written with: calls that the front end turns into instructions of the
 * program representation (see src/mazurka/program/instructions.py, which says what each means). */
#ifndef MAZURKA_H
#define MAZURKA_H

#include <stddef.h>

/* The control block of a thread; a pthread_t is its address. At most 32 bytes. The machine writes `done` (1 when
 * the thread has ended); everything else belongs to the models. It starts as zeros. */
struct mazurka_thread {
    unsigned done;
    unsigned joined;
    unsigned detached;
    unsigned signalled;
    void *value; /* what the thread returned */
};

void __mazurka_atomic_begin(void);
void __mazurka_atomic_end(void);
void __mazurka_assume(_Bool condition);
/* `what` is a string literal. `holder` may be null. Only between atomic_begin and atomic_end. */
void __mazurka_await(_Bool condition, const char *what, const volatile void *object, struct mazurka_thread *holder);
/* What this section does to a lock. `kind` is a string literal: "acquire" (before the await), "release", "keep", "try"
 * or "look". Every section that touches the words of a lock claims it once; what initialises or destroys it does not.
 * Only between atomic_begin and atomic_end. */
void __mazurka_claim(const volatile void *lock, const char *kind);
/* Both are string literals; kind is "assertion", "abort", "memory", "sync" or "arithmetic". */
_Noreturn void __mazurka_fail(const char *kind, const char *message);
unsigned __mazurka_choose(unsigned count);
struct mazurka_thread *__mazurka_spawn(void (*function)(void *(*)(void *), void *), void *(*start)(void *),
                                       void *argument);
struct mazurka_thread *__mazurka_self(void);
_Noreturn void __mazurka_end_thread(void);
_Noreturn void __mazurka_exit(int status);
void *__mazurka_allocate(size_t size, _Bool zeroed);
void __mazurka_free(void *block);
size_t __mazurka_block_size(const void *block);
void __mazurka_output(char byte);

#endif
