/* Who and where the process is: numbers that mean nothing here, but are the same each time. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "waiting.h"

enum { PROCESS = 1000, PROCESSORS = 2, PAGE = 4096, CLOCK_TICKS = 100 };

pid_t getpid(void) { return PROCESS; }
pid_t getppid(void) { return 1; }
uid_t getuid(void) { return PROCESS; }
uid_t geteuid(void) { return PROCESS; }
gid_t getgid(void) { return PROCESS; }
gid_t getegid(void) { return PROCESS; }

/* That of the first thread is the process's. */
pid_t gettid(void) { return PROCESS - 1 + (pid_t)slot_of(__mazurka_self()); }

int getpagesize(void) { return PAGE; }

long sysconf(int name) {
    switch (name) {
    case _SC_NPROCESSORS_CONF:
    case _SC_NPROCESSORS_ONLN:
        return PROCESSORS;
    case _SC_PAGESIZE:
        return PAGE;
    case _SC_CLK_TCK:
        return CLOCK_TICKS;
    case _SC_OPEN_MAX:
        return 1024;
    case _SC_THREAD_THREADS_MAX:
        return -1; /* no limit that could be named */
    case _SC_PHYS_PAGES:
    case _SC_AVPHYS_PAGES:
        return 1l << 20;
    case _SC_LEVEL1_DCACHE_LINESIZE:
    case _SC_LEVEL1_ICACHE_LINESIZE:
    case _SC_LEVEL2_CACHE_LINESIZE:
        return 64;
    default:
        __mazurka_fail("limit",
                       "this name of sysconf is not modelled: only processors, pages, clock ticks, open files, "
                       "threads and cache lines are");
    }
}

int get_nprocs(void) { return PROCESSORS; }
int get_nprocs_conf(void) { return PROCESSORS; }

/* What concerns names, debuggers and the end of other processes has no effect here. */
int prctl(int operation, ...) {
    switch (operation) {
    case PR_SET_NAME:
    case PR_SET_PDEATHSIG:
    case PR_SET_DUMPABLE:
    case PR_SET_NO_NEW_PRIVS:
    case PR_SET_TIMERSLACK:
        return 0;
    default:
        __mazurka_fail("limit", "this operation of prctl is not modelled: only names, PR_SET_PDEATHSIG, "
                                "PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS and PR_SET_TIMERSLACK are");
    }
}

int sched_getcpu(void) { return (int)__mazurka_choose(PROCESSORS); }

int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t *set) {
    (void)thread;
    (void)size;
    (void)set;
    return 0;
}

int sched_getaffinity(pid_t thread, size_t size, cpu_set_t *set) {
    (void)thread;
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)set)[i] = i == 0 ? (1 << PROCESSORS) - 1 : 0;
    return 0;
}

int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set) {
    (void)thread;
    (void)size;
    (void)set;
    return 0;
}

int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set) {
    (void)thread;
    return sched_getaffinity(0, size, set);
}
