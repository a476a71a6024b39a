// expect: bug assertion
// line: 25
// files: parts/counter.c
// options: -Itests/programs/parts
// A program in two files, each with a `static` of the same name.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#include "counter.h"

static int value = 100;

static void *thread(void *unused) {
    counter_increment();
    return unused;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, thread, NULL);
    counter_increment();
    pthread_join(other, NULL);
    assert(value == 100 && counter_limit == 10);
    assert(counter_get() == 2);
    return 0;
}
