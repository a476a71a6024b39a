// expect: ok
// What the operations answer, in one thread.
#include <assert.h>
#include <errno.h>
#include <semaphore.h>
#include <time.h>

int main(void) {
    sem_t semaphore;
    struct timespec deadline = {0, 0}, nonsense = {0, 2000000000};
    int value;
    assert(sem_init(&semaphore, 0, 2) == 0);
    assert(sem_wait(&semaphore) == 0);
    assert(sem_trywait(&semaphore) == 0);
    assert(sem_trywait(&semaphore) == -1 && errno == EAGAIN);
    assert(sem_timedwait(&semaphore, &deadline) == -1 && errno == ETIMEDOUT);
    assert(sem_timedwait(&semaphore, &nonsense) == -1 && errno == EINVAL);
    sem_getvalue(&semaphore, &value);
    assert(value == 0);
    sem_post(&semaphore);
    sem_getvalue(&semaphore, &value);
    assert(value == 1);
    assert(sem_timedwait(&semaphore, &deadline) == 0);
    assert(sem_init(&semaphore, 0, 0xffffffff) == -1 && errno == EINVAL);
    assert(sem_destroy(&semaphore) == 0);
    return 0;
}
