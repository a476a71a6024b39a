// expect: bug sync
// line: 16
// message: detached
#include <pthread.h>
#include <stddef.h>

static void *thread(void *unused) { return unused; }

int main(void) {
    pthread_t other;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_create(&other, &attributes, thread, NULL);
    pthread_attr_destroy(&attributes);
    pthread_join(other, NULL);
    return 0;
}
