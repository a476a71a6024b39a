/* Dartagnan's annotations. */
#ifndef MAZURKA_COMPAT_DARTAGNAN
#define MAZURKA_COMPAT_DARTAGNAN

#include "../verifier.h"

#ifdef __cplusplus
extern "C" {
#define _Bool bool
#endif

void __VERIFIER_error(void);
void reach_error(void);

/* --unroll bounds loops. */
static inline void __VERIFIER_loop_bound(int rounds) { (void)rounds; }
static inline void __VERIFIER_loop_begin(void) {}
static inline void __VERIFIER_spin_start(void) {}
static inline void __VERIFIER_spin_end(int leaves) { (void)leaves; }
static inline void __VERIFIER_disable_irq(void) {}
static inline void __VERIFIER_enable_irq(void) {}
static inline void __VERIFIER_assert(int condition) {
    if (!condition)
        reach_error();
}

#ifdef __cplusplus
#undef _Bool
}
#endif

#define await_while(condition) while (condition)

#endif
