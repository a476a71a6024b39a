// expect: bug exit
// line: 32
// message: exit status 1: main returns 1
// What main returns can depend on the order of events. Of several returns, the one that it was is reported.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int x;

static void *add(void *unused) {
    int seen = x;
    x = seen + 1;
    return unused;
}

static int check(void) {
    if (x == 0)
        return 0;
    return x == 2 ? 0 : 1;
}

int main(void) {
    pthread_t one, two;
    if (pthread_create(&one, NULL, add, NULL) != 0)
        return 1;
    if (pthread_create(&two, NULL, add, NULL) != 0)
        return 1;
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    if (check() != 0)
        return 1;
    return 0;
}
