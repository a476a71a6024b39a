/* The clock, for searches that try values one by one (inputs.c has another one).
 *
 * Time never decides anything by itself: each time that somebody reads the clock, it shows what it showed before, or
 * has gone on by far. So whatever waits for a deadline, by reading the clock again, finds that it has passed or that it
 * has not; both are explored. There is one clock: it never goes back, and all threads see the same. In between there is
 * nothing: that one of two deadlines has passed and not the other is not explored. A thread lets time go on at most
 * twice, since a program that polls would have no end. (Executions with more count as blocked: a loop that would end
 * then is no livelock.) Whether an operation of the library times out does not depend on its deadline at all.
 *
 * The choice comes first, so that the clock is read in a step that all readers share, and written only where it goes
 * on. */
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#include "mazurka.h"
#include "timeout.h"

enum { START = 1, FAR = 100000 /* seconds: more than a day */, MOST = 2 };

static long leaps;
static _Thread_local int chosen;

static time_t now(void) {
    if (!__mazurka_choose(2))
        return START + __atomic_load_n(&leaps, __ATOMIC_SEQ_CST) * FAR;
    __mazurka_assume(++chosen <= MOST);
    return START + __atomic_add_fetch(&leaps, 1, __ATOMIC_SEQ_CST) * FAR;
}

int clock_gettime(clockid_t clock, struct timespec *result) {
    (void)clock;
    result->tv_sec = now();
    result->tv_nsec = 0;
    return 0;
}

int gettimeofday(struct timeval *restrict result, void *restrict zone) {
    (void)zone;
    result->tv_sec = now();
    result->tv_usec = 0;
    return 0;
}

time_t time(time_t *result) {
    time_t seconds = now();
    if (result)
        *result = seconds;
    return seconds;
}

clock_t clock(void) { return now() * CLOCKS_PER_SEC; }

void __mazurka_pass_time(const struct timespec *until) {
    long seconds = until->tv_sec + (until->tv_nsec > 0) - START;
    if (seconds > 0)
        __atomic_fetch_max(&leaps, (seconds + FAR - 1) / FAR, __ATOMIC_SEQ_CST);
}

/* Where only the C++ library looks at clocks, to see whether a wait has timed out, nobody compares times of different
 * threads, nor can anybody tell whether time that has come is still there at the next look. Then each thread has a
 * clock of its own (frontends/c/__init__.py), and time that has come is forgotten after one look, so that a loop around
 * such a wait comes back to where it was. The first look leaves nothing open: there is no time yet to compare it with. */
static _Thread_local time_t seconds_of_thread;
static _Thread_local struct timespec come; /* until the next look; 0: nothing */

int __mazurka_time_of_thread(clockid_t clock, struct timespec *now) {
    (void)clock;
    if (come.tv_sec) {
        now->tv_sec = come.tv_sec;
        now->tv_nsec = come.tv_nsec;
        come.tv_sec = 0;
        come.tv_nsec = 0;
        return 0;
    }
    if (seconds_of_thread == 0) {
        seconds_of_thread = START;
    } else if (__mazurka_choose(2)) {
        __mazurka_assume(++chosen <= MOST);
        seconds_of_thread += FAR;
    }
    now->tv_sec = seconds_of_thread;
    now->tv_nsec = 0;
    return 0;
}

void __mazurka_pass_time_of_thread(const struct timespec *until) {
    come.tv_sec = until->tv_sec;
    come.tv_nsec = until->tv_nsec;
}
