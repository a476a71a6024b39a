// expect: ok
// An atomic structure of 16 bytes, such as a pointer with a count of its changes, is accessed as a whole.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct tagged {
    int *pointer;
    long changes;
};
static int cells[3];
static _Atomic struct tagged top;

static void *change(void *argument) {
    struct tagged old = atomic_load(&top), new;
    do {
        new.pointer = argument;
        new.changes = old.changes + 1;
    } while (!atomic_compare_exchange_strong(&top, &old, new));
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct tagged first = {&cells[0], 0};
    atomic_store(&top, first);
    pthread_create(&thread, NULL, change, &cells[1]);
    change(&cells[2]);
    pthread_join(thread, NULL);
    struct tagged last = atomic_exchange(&top, first);
    assert(last.changes == 2 && (last.pointer == &cells[1] || last.pointer == &cells[2]));
    first = top;
    assert(first.pointer == cells && first.changes == 0);
    return 0;
}
