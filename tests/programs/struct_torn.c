// expect: bug assertion
// line: 23
// A structure is copied while another thread assigns it: the copy may be half old, half new.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct point {
    int x, y;
};
static struct point shared = {1, 1};

static void *writer(void *unused) {
    struct point next = {2, 2};
    shared = next;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, writer, NULL);
    struct point copy = shared;
    assert(copy.x == copy.y);
    pthread_join(thread, NULL);
    return 0;
}
