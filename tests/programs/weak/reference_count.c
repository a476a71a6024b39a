// expect: ok
// weakened: -DDROP=memory_order_relaxed -> race; sc: race
// weakened: -DLAST=memory_order_relaxed -> race; sc: race
// weakened: -DLAST=memory_order_release -> race; sc: race
// weakened: -DUNIQUE=memory_order_relaxed -> race; sc: race
// unbroken: -DGRAB=memory_order_relaxed
// unbroken: -DDROP=memory_order_acq_rel -DLAST=memory_order_relaxed
// Reference counting: who drops the last reference frees the object; who has the only one may write to it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

// Who has a reference may make another one: there is nothing to wait for.
#ifndef GRAB
#define GRAB memory_order_acq_rel
#endif
// Each reference that is dropped releases what was done by it,
#ifndef DROP
#define DROP memory_order_release
#endif
// and the last one acquires all of that. As a fence, so that only the last one pays for it.
#ifndef LAST
#define LAST memory_order_acquire
#endif
// To be the only one is to be after those who are gone.
#ifndef UNIQUE
#define UNIQUE memory_order_acquire
#endif

struct object {
    atomic_int references;
    int value;
};

static void grab(struct object *object) { atomic_fetch_add_explicit(&object->references, 1, GRAB); }

static void drop(struct object *object) {
    if (atomic_fetch_sub_explicit(&object->references, 1, DROP) > 1)
        return;
    atomic_thread_fence(LAST);
    object->value = -1;
    free(object);
}

static void *reader(void *argument) {
    struct object *object = argument;
    int value = object->value;
    assert(value == 1);
    drop(object);
    return NULL;
}

static void *writer(void *argument) {
    struct object *object = argument;
    if (atomic_load_explicit(&object->references, UNIQUE) == 1)
        object->value = 2;
    drop(object);
    return NULL;
}

int main(void) {
    struct object *object = malloc(sizeof *object);
    object->references = 1;
    object->value = 1;
    grab(object);
    pthread_t a, b;
    pthread_create(&a, NULL, reader, object);
    pthread_create(&b, NULL, writer, object);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
