// expect: ok
// traces: 2
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

static pthread_spinlock_t lock;
static int counter;

static void *thread(void *unused) {
    pthread_spin_lock(&lock);
    counter++;
    pthread_spin_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    assert(pthread_spin_trylock(&lock) == 0);
    assert(pthread_spin_trylock(&lock) == EBUSY);
    pthread_spin_unlock(&lock);
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_spin_destroy(&lock);
    assert(counter == 2);
    return 0;
}
