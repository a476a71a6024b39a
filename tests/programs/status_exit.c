// expect: bug exit
// line: 13
// message: exit status 3: exit(259)
// A thread ends the process, in some executions. Only the last 8 bits of a status count.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int x;

static void *check(void *unused) {
    if (x)
        exit(259);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, check, NULL);
    x = 1;
    x = 0;
    pthread_join(thread, NULL);
    exit(256);
}
