// expect: ok
// traces: 1
// Readers do not wait for each other, and their order makes no difference.
#include <pthread.h>
#include <stddef.h>

static pthread_rwlock_t lock;

static void *reader(void *unused) {
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_rwlock_init(&lock, NULL);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, reader, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
