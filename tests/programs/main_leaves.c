// expect: bug assertion
// line: 12
// The first thread ends by pthread_exit; the others go on.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int last;

static void *thread(void *creator) {
    pthread_join(*(pthread_t *)creator, NULL);
    assert(last == 0);
    return NULL;
}

int main(void) {
    static pthread_t self;
    pthread_t other;
    self = pthread_self();
    pthread_create(&other, NULL, thread, &self);
    last = 1;
    pthread_exit(NULL);
}
