// expect: bug assertion
// line: 22
// A section that waits for one thread and reads what another one writes: it cannot come before the post, but, with the
// post, before the store.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>

void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static sem_t semaphore;
static atomic_int stored;

static void *waiter(void *unused) {
    __VERIFIER_atomic_begin();
    sem_wait(&semaphore);
    int found = stored;
    __VERIFIER_atomic_end();
    assert(found);
    return unused;
}

static void *writer(void *unused) {
    stored = 1;
    return unused;
}

static void *poster(void *unused) {
    sem_post(&semaphore);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    sem_init(&semaphore, 0, 0);
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, poster, NULL);
    pthread_create(&threads[2], NULL, waiter, NULL);
    return 0;
}
