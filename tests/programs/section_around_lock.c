// expect: bug assertion
// line: 26
// A mutex that is locked and unlocked inside of one section is never seen locked, and yet the order in which the section
// and a lock come matters: the reader may come first.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int written;

static void *writer(void *unused) {
    __VERIFIER_atomic_begin();
    pthread_mutex_lock(&mutex);
    written = 1;
    pthread_mutex_unlock(&mutex);
    __VERIFIER_atomic_end();
    return unused;
}

static void *reader(void *unused) {
    pthread_mutex_lock(&mutex);
    assert(written);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    return 0;
}
