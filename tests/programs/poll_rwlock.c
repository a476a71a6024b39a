// expect: ok
// Readers and writers that try until they have the lock.
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int value, copy;

static void *reader(void *unused) {
    while (pthread_rwlock_tryrdlock(&lock))
        usleep(10);
    assert(value == copy);
    pthread_rwlock_unlock(&lock);
    return unused;
}

static void *writer(void *unused) {
    while (pthread_rwlock_trywrlock(&lock))
        usleep(10);
    value++;
    copy++;
    pthread_rwlock_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, i < 2 ? reader : writer, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
