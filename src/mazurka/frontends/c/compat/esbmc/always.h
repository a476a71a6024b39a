/* What ESBMC knows without a declaration. */
#ifndef MAZURKA_COMPAT_ESBMC
#define MAZURKA_COMPAT_ESBMC

#include <pthread.h>

#include "../verifier.h"

#ifdef __cplusplus
extern "C" {
#define _Bool bool
#endif

void __VERIFIER_error(void);
void reach_error(void);

static inline void __ESBMC_assume(_Bool condition) { __VERIFIER_assume(condition); }
static inline void __ESBMC_atomic_begin(void) { __VERIFIER_atomic_begin(); }
static inline void __ESBMC_atomic_end(void) { __VERIFIER_atomic_end(); }
static inline void __ESBMC_yield(void) {}
static inline void __ESBMC_unreachable(void) { reach_error(); }
static inline unsigned long __ESBMC_get_thread_id(void) { return (unsigned long)pthread_self(); }
static inline _Bool nondet_bool(void) { return __VERIFIER_nondet_bool(); }
static inline char nondet_char(void) { return __VERIFIER_nondet_char(); }
static inline unsigned char nondet_uchar(void) { return __VERIFIER_nondet_uchar(); }
static inline short nondet_short(void) { return __VERIFIER_nondet_short(); }
static inline unsigned short nondet_ushort(void) { return __VERIFIER_nondet_ushort(); }
static inline int nondet_int(void) { return __VERIFIER_nondet_int(); }
static inline unsigned int nondet_uint(void) { return __VERIFIER_nondet_uint(); }
static inline long nondet_long(void) { return __VERIFIER_nondet_long(); }
static inline unsigned long nondet_ulong(void) { return __VERIFIER_nondet_ulong(); }

#ifdef __cplusplus
#undef _Bool
}
#endif

#include <assert.h>
#define __ESBMC_assert(condition, message) ((condition) ? (void)0 : __assert_fail(message, __FILE__, __LINE__, __func__))

#endif
