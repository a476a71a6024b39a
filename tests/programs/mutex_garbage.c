// expect: bug sync
// line: 10
// message: never initialised
#include <pthread.h>
#include <string.h>

int main(void) {
    pthread_mutex_t lock;
    memset(&lock, 0x5a, sizeof lock);
    pthread_mutex_lock(&lock);
    return 0;
}
