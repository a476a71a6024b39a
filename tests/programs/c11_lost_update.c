// expect: bug assertion
// line: 21
#include <assert.h>
#include <stddef.h>
#include <threads.h>

static int counter;

static int increment(void *amount) {
    counter += *(int *)amount;
    return 0;
}

int main(void) {
    static int five = 5;
    thrd_t a, b;
    thrd_create(&a, increment, &five);
    thrd_create(&b, increment, &five);
    thrd_join(a, NULL);
    thrd_join(b, NULL);
    assert(counter == 10);
    return 0;
}
