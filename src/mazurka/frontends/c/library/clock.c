/* The clock, for searches that try values one by one (inputs.c has another one).
 *
 * Reading it is allowed in order to compute deadlines, which is what most concurrent programs do it for: whether an
 * operation times out does not depend on its deadline here, because all outcomes are explored. The clock therefore stands
 * still, at one second after its epoch. Other ways to ask for the time (time, gettimeofday, clock) are not modelled: what a
 * program decides by them has no bounds. */
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
    (void)clock;
    now->tv_sec = 1;
    now->tv_nsec = 0;
    return 0;
}
