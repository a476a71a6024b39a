/* How much a program gets done that never ends: its threads call `useful()` once for each iteration that was not in
 * vain. After SECONDS (of the environment; 2 if it is not there) the program ends and prints the number of all such
 * iterations, those of each thread, in the order in which the threads have first called it, and how long it really took.
 * If there were none in the last half of the time, it says since when:
 *
 *     useful iterations: 1200 = 400 + 400 + 400 in 2.00 s
 *     useful iterations: 172 = 90 + 82 in 2.00 s, none after 0.2 s
 *
 * Each thread counts for itself, so that counting costs next to nothing and no thread waits for another because of it.
 * Nothing of this is there when the program is checked. */
#ifndef USEFUL_H
#define USEFUL_H

#ifdef __MAZURKA__

static inline void useful(void) {}

#else

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 64, TICKS = 20 };

static struct {
    _Alignas(128) volatile long iterations;
} useful_counts[MOST_THREADS];
static atomic_int useful_threads;
static _Thread_local volatile long *useful_mine;
static double useful_seconds = 2, useful_start;

static double useful_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline void useful(void) {
    if (useful_mine == NULL)
        useful_mine = &useful_counts[atomic_fetch_add(&useful_threads, 1)].iterations;
    *useful_mine += 1;
}

/* On a signal, about TICKS times. The other threads go on meanwhile, so that each counter is read only once. Nobody else
 * prints, so that printf is safe here. */
static void useful_tick(int signal) {
    (void)signal;
    static double last_progress;
    static long last_sum;
    long counts[MOST_THREADS], sum = 0;
    int threads = useful_threads;
    double seconds = useful_time() - useful_start;
    for (int i = 0; i < threads; i++)
        sum += counts[i] = useful_counts[i].iterations;
    if (sum != last_sum)
        last_progress = seconds;
    last_sum = sum;
    if (seconds < useful_seconds)
        return;
    printf("useful iterations: %ld", sum);
    for (int i = 0; i < threads; i++)
        printf("%s%ld", i ? " + " : " = ", counts[i]);
    printf(" in %.2f s", seconds);
    if (last_progress < seconds / 2)
        printf(", none after %.2g s", last_progress);
    printf("\n");
    fflush(stdout);
    _exit(0);
}

__attribute__((constructor)) static void useful_begin(void) {
    const char *text = getenv("SECONDS");
    if (text != NULL)
        useful_seconds = atof(text);
    useful_start = useful_time();
    long microseconds = (long)(useful_seconds * 1e6 / TICKS);
    struct timeval interval = {microseconds / 1000000, microseconds % 1000000};
    signal(SIGALRM, useful_tick);
    setitimer(ITIMER_REAL, &(struct itimerval){interval, interval}, NULL);
}

#endif
#endif
