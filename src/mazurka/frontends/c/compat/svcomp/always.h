/* What programs of the SV-COMP collection use without declaring it. */
#ifndef MAZURKA_COMPAT_SVCOMP
#define MAZURKA_COMPAT_SVCOMP

#include "../verifier.h"

#ifdef __cplusplus
extern "C" {
#define _Bool bool
#endif

void __VERIFIER_error(void);
void reach_error(void);

#ifdef __cplusplus
#undef _Bool
}
#endif

#endif
