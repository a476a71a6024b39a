// expect: bug sync
// line: 13
// message: joined before
#include <pthread.h>
#include <stddef.h>

static void *thread(void *unused) { return unused; }

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, thread, NULL);
    pthread_join(other, NULL);
    pthread_join(other, NULL);
    return 0;
}
