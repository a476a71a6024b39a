// expect: ok
// traces: 1
// A thread begins after thrd_create is complete, so that it can read its own handle.
#include <assert.h>
#include <stddef.h>
#include <threads.h>

static thrd_t handle;

static int thread(void *unused) {
    (void)unused;
    assert(thrd_equal(handle, thrd_current()));
    return 0;
}

int main(void) {
    thrd_create(&handle, thread, NULL);
    thrd_join(handle, NULL);
    return 0;
}
