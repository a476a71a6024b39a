// expect: bug deadlock
// A jump passes over the unlock.
#include <pthread.h>
#include <setjmp.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value;

static void update(jmp_buf errors, int new) {
    pthread_mutex_lock(&lock);
    if (new < 0)
        longjmp(errors, 1);
    value = new;
    pthread_mutex_unlock(&lock);
}

static void *run(void *unused) {
    jmp_buf errors;
    if (setjmp(errors) == 0)
        update(errors, -1);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    jmp_buf errors;
    if (setjmp(errors) == 0)
        update(errors, 1);
    pthread_join(thread, NULL);
    return 0;
}
