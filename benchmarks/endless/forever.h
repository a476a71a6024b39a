/* What the programs here have in common: threads that run for ever, and choices.
 *
 * For a tool that needs an end, ROUNDS says how often each loop goes round instead. */
#ifndef FOREVER_H
#define FOREVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Both are tried, each time. */
bool __VERIFIER_nondet_bool(void);
#define maybe __VERIFIER_nondet_bool

#ifdef ROUNDS
#define forever for (int round = 0; round < ROUNDS; round++)
#define for_a_while for (int round = 0; round < ROUNDS && maybe(); round++)
#else
#define forever for (;;)
#define for_a_while while (maybe())
#endif

/* What a thread does on its own: it goes from stage to stage, and starts again, for as long as it likes. */
static inline void be_busy(void) {
    int stage = 0;
    for_a_while {
        stage = maybe() ? (stage + 1) % 8 : 0;
    }
}

/* Start a thread that knows its number. */
static inline void start(void *(*run)(void *), int number) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, (void *)(intptr_t)number);
}

#endif
