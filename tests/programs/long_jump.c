// expect: ok
// traces: 1
// A jump out of calls: variables of the function are what they were last set to, and it may be taken again.
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>

static _Thread_local jmp_buf errors;

static int descend(int depth) {
    int own = depth;
    if (depth == 0)
        longjmp(errors, 0); /* arrives as 1 */
    return descend(depth - 1) + own;
}

static void *run(void *unused) {
    jmp_buf outer;
    volatile int tries = 0;
    int before = 42;
    if (setjmp(outer) == 0) {
        switch (setjmp(errors)) {
        case 0:
            tries++;
            descend(3);
        case 1:
            tries++;
            longjmp(errors, 5);
        case 5:
            tries++;
            longjmp(outer, 2);
        }
        assert(0);
    }
    assert(tries == 3 && before == 42);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    run(NULL);
    pthread_join(thread, NULL);
    return 0;
}
