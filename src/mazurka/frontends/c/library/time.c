/* Time.
 *
 * Sleeping has no effect, since every order of the threads is explored anyway, sleep or no sleep. What the time is is
 * said in clock.c or inputs.c. */
#include <errno.h>
#include <time.h>
#include <unistd.h>

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
