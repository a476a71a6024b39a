// expect: bug memory
// line: 9
// A mutex on the heap that nobody initialised.
#include <pthread.h>
#include <stdlib.h>

int main(void) {
    pthread_mutex_t *lock = malloc(sizeof *lock);
    pthread_mutex_lock(lock);
    return 0;
}
