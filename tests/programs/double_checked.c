// expect: ok
// Double-checked initialisation, done right: the pointer is atomic and published last.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct config {
    int size, depth;
};
static _Atomic(struct config *) shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int created;

static struct config *get(void) {
    struct config *config = atomic_load_explicit(&shared, memory_order_acquire);
    if (config == NULL) {
        pthread_mutex_lock(&lock);
        config = atomic_load_explicit(&shared, memory_order_relaxed);
        if (config == NULL) {
            config = malloc(sizeof *config);
            config->size = 4;
            config->depth = 2;
            created++;
            atomic_store_explicit(&shared, config, memory_order_release);
        }
        pthread_mutex_unlock(&lock);
    }
    return config;
}

static void *use(void *unused) {
    struct config *config = get();
    assert(config->size == 4 && config->depth == 2);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, use, NULL);
    pthread_create(&b, NULL, use, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(created == 1);
    free(shared);
    return 0;
}
