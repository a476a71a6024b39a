// expect: bug assertion
// line: 22
// Two threads write different bit-fields, which share a byte.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static struct {
    unsigned a : 1, b : 1;
} flags;

static void *thread(void *unused) {
    flags.a = 1;
    return unused;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, thread, NULL);
    flags.b = 1;
    pthread_join(other, NULL);
    assert(flags.a && flags.b);
    return 0;
}
