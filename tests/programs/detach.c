// expect: ok
// Detached threads run to their end as well; asking whether a thread is oneself.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int count;

static void *thread(void *creator) {
    assert(!pthread_equal(pthread_self(), *(pthread_t *)creator));
    pthread_detach(pthread_self());
    atomic_fetch_add(&count, 1);
    return NULL;
}

int main(void) {
    static pthread_t self;
    pthread_t other;
    self = pthread_self();
    assert(pthread_equal(self, pthread_self()));
    pthread_create(&other, NULL, thread, &self);
    assert(!pthread_equal(other, self));
    atomic_fetch_add(&count, 1);
    assert(count == 1 || count == 2);
    return 0;
}
