// expect: ok
// traces: 2
// check: --reuse-addresses
// Only blocks of the same size are used again, with nothing in them, and only by the thread that has freed them.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static void *use(void *freed) {
    int *mine = malloc(16);
    assert(mine != freed);
    free(mine);
    return NULL;
}

int main(void) {
    char *small = malloc(8);
    int *block = malloc(16);
    block[1] = 3;
    free(small);
    free(block);
    pthread_t thread;
    pthread_create(&thread, 0, use, block);
    int *again = calloc(2, 8);
    assert(again != (int *)small && again[1] == 0);
    pthread_join(thread, 0);
    free(again);
    return 0;
}
