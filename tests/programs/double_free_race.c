// expect: bug memory
// line: 12
// message: double free
// Both threads find the block before one of them has forgotten it.
#include <pthread.h>
#include <stdlib.h>

static void *block;

static void *clean(void *unused) {
    if (block) {
        free(block);
        block = NULL;
    }
    return unused;
}

int main(void) {
    pthread_t a, b;
    block = malloc(16);
    pthread_create(&a, NULL, clean, NULL);
    pthread_create(&b, NULL, clean, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
