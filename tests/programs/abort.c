// expect: bug abort
// line: 10
#include <pthread.h>
#include <stdlib.h>

static int x;

static void *thread(void *unused) {
    if (x == 1)
        abort();
    return unused;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, thread, NULL);
    x = 1;
    x = 0;
    pthread_join(other, NULL);
    return 0;
}
