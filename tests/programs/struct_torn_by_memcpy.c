// expect: bug assertion
// line: 25
// The same by a call of memcpy.
#include <assert.h>
#include <pthread.h>
#include <string.h>

struct record {
    long id;
    long check;
};
static struct record shared = {10, -10};

static void *writer(void *unused) {
    struct record next = {20, -20};
    memcpy(&shared, &next, sizeof next);
    return unused;
}

int main(void) {
    pthread_t thread;
    struct record copy;
    pthread_create(&thread, NULL, writer, NULL);
    memcpy(&copy, &shared, sizeof copy);
    assert(copy.id == -copy.check);
    pthread_join(thread, NULL);
    return 0;
}
