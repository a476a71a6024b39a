/* What all of these tools have in common. */
#ifndef MAZURKA_COMPAT_VERIFIER
#define MAZURKA_COMPAT_VERIFIER

#ifdef __cplusplus
extern "C" {
#define _Bool bool
#endif

void __VERIFIER_assume(int condition);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
char __VERIFIER_nondet_char(void);
unsigned char __VERIFIER_nondet_uchar(void);
short __VERIFIER_nondet_short(void);
unsigned short __VERIFIER_nondet_ushort(void);
int __VERIFIER_nondet_int(void);
unsigned int __VERIFIER_nondet_uint(void);
long __VERIFIER_nondet_long(void);
unsigned long __VERIFIER_nondet_ulong(void);
_Bool __VERIFIER_nondet_bool(void);

#ifdef __cplusplus
#undef _Bool
}
#endif

#endif
