// expect: bug assertion
// line: 28
// Double-checked initialisation, done wrong: published before it is complete.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct config {
    int size;
};
static struct config storage;
static struct config *volatile shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct config *get(void) {
    if (shared == NULL) {
        pthread_mutex_lock(&lock);
        if (shared == NULL) {
            shared = &storage;
            storage.size = 4;
        }
        pthread_mutex_unlock(&lock);
    }
    return shared;
}

static void *use(void *unused) {
    assert(get()->size == 4);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, use, NULL);
    pthread_create(&b, NULL, use, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
