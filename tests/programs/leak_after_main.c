// expect: bug memory
// line: 8
// check: --leaks
#include <pthread.h>
#include <stdlib.h>

static void *lose(void *argument) {
    int *lost = malloc(sizeof *lost);
    *lost = 1;
    return argument;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, lose, 0);
    pthread_detach(thread);
    return 0;
}
