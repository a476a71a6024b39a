// expect: ok
// The last one to unlock may destroy the mutex and free the memory that it lives in.
#include <pthread.h>
#include <stdlib.h>

struct object {
    pthread_mutex_t lock;
    int references;
};

static void release(struct object *object) {
    pthread_mutex_lock(&object->lock);
    int last = --object->references == 0;
    pthread_mutex_unlock(&object->lock);
    if (last) {
        pthread_mutex_destroy(&object->lock);
        free(object);
    }
}

static void *thread(void *object) {
    release(object);
    return NULL;
}

int main(void) {
    pthread_t other;
    struct object *object = malloc(sizeof *object);
    pthread_mutex_init(&object->lock, NULL);
    object->references = 2;
    pthread_create(&other, NULL, thread, object);
    release(object);
    pthread_join(other, NULL);
    return 0;
}
