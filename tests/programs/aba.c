// expect: bug assertion
// line: 52
// check: --reuse-addresses
// Nothing is looked at after it was freed. But by the time of the compare-exchange, there may be another block at the
// address that was seen: an update is lost (the ABA problem).
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct settings {
    int version;
};

static _Atomic(struct settings *) current;
static atomic_int updates;
static pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER;

static struct settings *make(int version) {
    struct settings *made = malloc(sizeof *made);
    made->version = version;
    return made;
}

static void *replace(void *argument) {
    pthread_mutex_lock(&looking);
    struct settings *old = current;
    int version = old->version;
    if (version == 1 && atomic_compare_exchange_strong(&current, &old, NULL)) {
        free(old);
        current = make(2);
        updates++;
    }
    pthread_mutex_unlock(&looking);
    return argument;
}

int main(void) {
    current = make(1);
    pthread_t thread;
    pthread_create(&thread, 0, replace, 0);
    pthread_mutex_lock(&looking);
    struct settings *seen = current;
    int version = seen->version;
    pthread_mutex_unlock(&looking);
    struct settings *next = make(version + 1);
    if (version == 1) {
        if (atomic_compare_exchange_strong(&current, &seen, next))
            updates++;
    }
    pthread_join(thread, 0);
    assert(current->version == 1 + updates);
    return 0;
}
