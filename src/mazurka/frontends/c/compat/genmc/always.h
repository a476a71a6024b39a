/* GenMC's annotations. Those that help its search say nothing here: loops that wait are found without them. */
#ifndef MAZURKA_COMPAT_GENMC
#define MAZURKA_COMPAT_GENMC

#include "../verifier.h"

#ifdef __cplusplus
extern "C" {
#define _Bool bool
#endif

static inline void __VERIFIER_loop_begin(void) {}
static inline void __VERIFIER_spin_start(void) {}
static inline void __VERIFIER_spin_end(int leaves) { (void)leaves; }
static inline void __VERIFIER_potential_spin_end(int leaves) { (void)leaves; }
static inline void __VERIFIER_faiZNE_spin_end(int leaves) { (void)leaves; }
static inline void __VERIFIER_kill_thread(void) { __VERIFIER_assume(0); }
static inline void __VERIFIER_opt_begin(void) {}

#ifdef __cplusplus
#undef _Bool
}
#endif

/* What they stand in front of, or around, is as it would be without them. */
#define __VERIFIER_local_write(statement) statement
#define __VERIFIER_final_write(statement) statement
#define __VERIFIER_final_CAS(expression) expression
#define __VERIFIER_speculative_read(expression) expression
#define __VERIFIER_speculative_CAS(expression) expression
#define __VERIFIER_confirming_read(expression) expression
#define __VERIFIER_confirming_CAS(expression) expression
#define __VERIFIER_helped_CAS(expression) expression
#define __VERIFIER_helping_CAS(expression) expression

#endif
