// expect: bug sync
// line: 10
// message: not locked
#include <pthread.h>

static pthread_spinlock_t lock;

int main(void) {
    pthread_spin_init(&lock, 0);
    pthread_spin_unlock(&lock);
    return 0;
}
