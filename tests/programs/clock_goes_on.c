// expect: ok
// Time goes on or stands still, never back, and all threads see the same.
#include <assert.h>
#include <pthread.h>
#include <sys/time.h>
#include <time.h>

static time_t seen;

static void *run(void *unused) {
    assert(difftime(time(NULL), seen) >= 0);
    return unused;
}

int main(void) {
    struct timespec start, end;
    struct timeval day;
    pthread_t thread;
    clock_gettime(CLOCK_MONOTONIC, &start);
    time(&seen);
    assert(seen >= start.tv_sec);
    pthread_create(&thread, NULL, run, NULL);
    gettimeofday(&day, NULL);
    pthread_join(thread, NULL);
    clock_gettime(CLOCK_MONOTONIC, &end);
    assert(end.tv_sec >= start.tv_sec && end.tv_sec >= day.tv_sec && clock() > 0);
    return 0;
}
