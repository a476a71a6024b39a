/* Waiting for others in a loop without a body. Checkers have long recognised these and put an assumption in their
 * place; the first column of the table begins there, and is compiled with ASSUME_SPINS. */
#ifndef SPIN_H
#define SPIN_H

#ifdef ASSUME_SPINS
void __VERIFIER_assume(int condition);
#define spin_until(condition) __VERIFIER_assume(condition)
#else
#define spin_until(condition) \
    do {                      \
    } while (!(condition))
#endif

#endif
