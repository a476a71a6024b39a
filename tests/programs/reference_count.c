// expect: ok
// races: 1
// Whoever drops the last reference frees the object.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object {
    atomic_int references;
    int value;
};

static void *drop(void *argument) {
    struct object *object = argument;
    object->value = 1;
    if (atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel) == 1)
        free(object);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    struct object *object = malloc(sizeof *object);
    atomic_init(&object->references, 2);
    pthread_create(&a, NULL, drop, object);
    pthread_create(&b, NULL, drop, object);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
