// expect: bug memory
// The count is lowered and looked at in two steps: both may see 0 and free.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct object {
    atomic_int references;
    int value;
};

static atomic_int freed;

static struct object *retain(struct object *object) {
    atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed);
    return object;
}

static void release(struct object *object) {
    atomic_fetch_sub(&object->references, 1);
    if (atomic_load(&object->references) == 0) {
        free(object);
        atomic_fetch_add(&freed, 1);
    }
}

static void *use(void *argument) {
    struct object *object = argument;
    assert(object->value == 5);
    release(object);
    return NULL;
}

static struct object *make(void) {
    struct object *object = malloc(sizeof *object);
    atomic_init(&object->references, 1);
    object->value = 5;
    return object;
}

int main(void) {
    pthread_t threads[2];
    struct object *object = make();
    pthread_create(&threads[0], NULL, use, retain(object));
    pthread_create(&threads[1], NULL, use, object);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(freed == 1);
    return 0;
}
