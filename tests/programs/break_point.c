// expect: bug abort
// line: 9
#include <pthread.h>

static int x;

static void *thread(void *unused) {
    if (x == 1)
        __asm__("int $3\n" : :);
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
