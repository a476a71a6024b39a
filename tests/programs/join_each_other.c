// expect: bug deadlock
// A thread waits for its creator, which waits for it.
#include <pthread.h>
#include <stddef.h>

static pthread_t creator;

static void *thread(void *unused) {
    pthread_join(creator, NULL);
    return unused;
}

int main(void) {
    pthread_t other;
    creator = pthread_self();
    pthread_create(&other, NULL, thread, NULL);
    pthread_join(other, NULL);
    return 0;
}
