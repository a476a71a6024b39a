// expect: bug memory
// line: 15
// Decrementing and looking are two steps here: both threads may find that nobody is left.
// message: free
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int references = 2;
static int *object;

static void *drop(void *unused) {
    references--;
    if (references == 0)
        free(object);
    return unused;
}

int main(void) {
    pthread_t a, b;
    object = malloc(sizeof *object);
    pthread_create(&a, NULL, drop, NULL);
    pthread_create(&b, NULL, drop, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
