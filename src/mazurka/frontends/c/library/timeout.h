/* The result of an operation that ran out of time. */
#ifndef MAZURKA_TIMEOUT_H
#define MAZURKA_TIMEOUT_H

#include <errno.h>
#include <time.h>

/* A thread has waited until this time has come. In programs without the clocks of C++, this is not there
 * (frontends/c/__init__.py). */
void __mazurka_pass_time(const struct timespec *until);

static inline int timed_out(const struct timespec *deadline) {
    return deadline->tv_nsec < 0 || deadline->tv_nsec >= 1000000000 ? EINVAL : ETIMEDOUT;
}

#endif
