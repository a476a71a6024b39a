// expect: bug assertion
// line: 9
// What others do after main has returned, they might have done before.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static void *fail(void *unused) {
    assert(0);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, fail, NULL);
    return 0;
}
