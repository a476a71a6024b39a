// expect: bug sync
// line: 10
// message: without holding
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

int main(void) {
    pthread_cond_wait(&condition, &lock);
    return 0;
}
