// expect: ok
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static pid_t found;

static void *run(void *unused) {
    prctl(PR_SET_NAME, "worker");
    found = gettid();
    assert(syscall(SYS_gettid) == found);
    return unused;
}

int main(void) {
    pthread_t thread;
    assert(sysconf(_SC_NPROCESSORS_ONLN) > 0 && sysconf(_SC_PAGESIZE) == getpagesize());
    assert(gettid() == getpid());
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    assert(found != getpid());
    return 0;
}
