// expect: bug assertion
// line: 21
// A thread-local variable can be shared after all, by its address.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static _Thread_local int mine;

static void *thread(void *address) {
    assert(address != &mine && mine == 0);
    *(int *)address = 1;
    return NULL;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, thread, &mine);
    int before = mine;
    pthread_join(other, NULL);
    assert(before == 0 && mine == 1);
    return 0;
}
