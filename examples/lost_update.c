/* A lost update.
 *
 *     mazurka check examples/lost_update.c
 *
 * `counter++` looks like one step, but it is two: read the old value, write the new one. If both threads read before
 * either has written, one increment is lost. In the trace, look for two reads of `counter` that both give 0.
 *
 * To repair it, make the counter atomic (`static _Atomic int counter;`), or protect the increment by a mutex. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static int counter;

static void *visit(void *name) {
    printf("%s comes in\n", (const char *)name);
    counter++;
    return NULL;
}

int main(void) {
    pthread_t alice, bob;
    pthread_create(&alice, NULL, visit, "alice");
    pthread_create(&bob, NULL, visit, "bob");
    pthread_join(alice, NULL);
    pthread_join(bob, NULL);
    assert(counter == 2);
    return 0;
}
