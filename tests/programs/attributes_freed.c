// expect: ok
// What pthread_create wants to know of its attributes it knows before the thread starts, which may free them.
#include <pthread.h>
#include <stdlib.h>

static void *thread(void *attributes) {
    pthread_attr_destroy(attributes);
    free(attributes);
    return NULL;
}

int main(void) {
    pthread_attr_t *attributes = malloc(sizeof *attributes);
    pthread_t handle;
    pthread_attr_init(attributes);
    pthread_create(&handle, attributes, thread, attributes);
    pthread_join(handle, NULL);
    return 0;
}
