/* Time.
 *
 * Sleeping has no effect, since every order of the threads is explored anyway, sleep or no sleep.
 *
 * Reading the clock is allowed in order to compute deadlines, which is what most concurrent programs do it for: whether
 * an operation times out does not depend on its deadline here, because all outcomes are explored. The clock therefore
 * stands still, at one second after its epoch. Other ways to ask for the time (time, gettimeofday, clock) are not
 * modelled: what a program decides by them has no bounds. */
#include <errno.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
    (void)clock;
    now->tv_sec = 1;
    now->tv_nsec = 0;
    return 0;
}

int timespec_get(struct timespec *now, int base) {
    if (base != TIME_UTC)
        return 0;
    clock_gettime(CLOCK_REALTIME, now);
    return base;
}

unsigned sleep(unsigned seconds) {
    (void)seconds;
    return 0;
}

int usleep(useconds_t microseconds) {
    (void)microseconds;
    return 0;
}

int nanosleep(const struct timespec *duration, struct timespec *remaining) {
    (void)duration;
    (void)remaining;
    return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *duration, struct timespec *remaining) {
    (void)clock;
    (void)flags;
    (void)duration;
    (void)remaining;
    return 0;
}
