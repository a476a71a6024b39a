// expect: bug assertion
// line: 17
// An __int128 is written in two steps, which others can see.
#include <assert.h>
#include <pthread.h>

static unsigned __int128 shared;

static void *run(void *unused) {
    shared = ~(unsigned __int128)0;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    assert(shared == 0 || shared == ~(unsigned __int128)0);
    pthread_join(thread, 0);
    return 0;
}
