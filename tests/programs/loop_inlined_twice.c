// expect: bug assertion
// message: w == 0
// A function that is called in an inner and in an outer loop, with ways out of the inner one between.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int y, a, b, c, z, w = 1;

static int read_y(void) { return y; }

static void *run(void *unused) {
    for (;;) {
        int k = z;
        for (;;) {
            if (!read_y())
                break;
            if (!a)
                break;
            if (!b)
                break;
            if (!c)
                break;
        }
        assert(w == 0);
        read_y();
        if (k == 2)
            break;
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
}
