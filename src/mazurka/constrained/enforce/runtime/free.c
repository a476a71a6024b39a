/* For a program that runs without a schedule: atomic sections exclude each other. */
#define _GNU_SOURCE
#include <pthread.h>

static pthread_mutex_t sections = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

__attribute__((weak)) void __VERIFIER_atomic_begin(void) { pthread_mutex_lock(&sections); }
__attribute__((weak)) void __VERIFIER_atomic_end(void) { pthread_mutex_unlock(&sections); }
