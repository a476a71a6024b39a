/* Time.
 *
 * Sleeping has no effect, since every order of the threads is explored anyway, sleep or no sleep. What the time is is
 * said in clock.c or inputs.c. */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "cancelling.h"

int timespec_get(struct timespec *now, int base) {
    if (base != TIME_UTC)
        return 0;
    clock_gettime(CLOCK_REALTIME, now);
    return base;
}

double difftime(time_t end, time_t start) { return (double)(end - start); }

int clock_getres(clockid_t clock, struct timespec *result) {
    (void)clock;
    if (result) {
        result->tv_sec = 0;
        result->tv_nsec = 1;
    }
    return 0;
}

unsigned sleep(unsigned seconds) {
    CANCELLATION_POINT();
    (void)seconds;
    return 0;
}

int usleep(useconds_t microseconds) {
    CANCELLATION_POINT();
    (void)microseconds;
    return 0;
}

int nanosleep(const struct timespec *duration, struct timespec *remaining) {
    CANCELLATION_POINT();
    (void)duration;
    (void)remaining;
    return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *duration, struct timespec *remaining) {
    CANCELLATION_POINT();
    (void)clock;
    (void)flags;
    (void)duration;
    (void)remaining;
    return 0;
}
