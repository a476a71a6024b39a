// expect: bug assertion
// line: 20
#include <pthread.h>
#include <stddef.h>

void reach_error(void);

static volatile int x;

static void *thread(void *unused) {
    x = 1;
    x = 2;
    return unused;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, thread, NULL);
    if (x == 1)
        reach_error();
    pthread_join(other, NULL);
    return 0;
}
