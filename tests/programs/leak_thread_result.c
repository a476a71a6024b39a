// expect: bug memory
// line: 8
// check: --leaks
#include <pthread.h>
#include <stdlib.h>

static void *make(void *argument) {
    int *made = malloc(sizeof *made);
    *made = argument != 0;
    return made;
}

int main(void) {
    pthread_t thread;
    void *made;
    pthread_create(&thread, 0, make, 0);
    pthread_join(thread, &made);
    return *(int *)made;
}
