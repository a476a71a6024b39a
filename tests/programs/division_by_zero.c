// expect: bug arithmetic
// line: 17
#include <pthread.h>
#include <stddef.h>

static int divisor = 1;

static void *thread(void *unused) {
    divisor--;
    divisor++;
    return unused;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, thread, NULL);
    int result = 10 / divisor;
    pthread_join(other, NULL);
    return result - 10;
}
