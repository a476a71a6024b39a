// expect: bug sync
// line: 10
// message: locked
#include <pthread.h>

int main(void) {
    pthread_mutex_t lock;
    pthread_mutex_init(&lock, NULL);
    pthread_mutex_lock(&lock);
    pthread_mutex_destroy(&lock);
    return 0;
}
