// expect: bug assertion
// line: 23
// The well-known mistake: all threads get the address of the same loop variable.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int seen[2];

static void *thread(void *argument) {
    int number = *(int *)argument;
    if (number < 2)
        seen[number] = 1;
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, thread, &i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(seen[0] && seen[1]);
    return 0;
}
