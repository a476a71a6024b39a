// expect: ok
// The same, with a lock around both.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct node {
    int value;
};
static struct node *current;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *reader(void *unused) {
    pthread_mutex_lock(&lock);
    if (current != NULL)
        assert(current->value == 7);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *owner(void *unused) {
    pthread_mutex_lock(&lock);
    free(current);
    current = NULL;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t a, b;
    current = malloc(sizeof *current);
    current->value = 7;
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, owner, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
