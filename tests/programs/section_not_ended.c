// expect: bug sync
// message: the thread ends inside an atomic section
#include <pthread.h>
#include <stddef.h>

void __VERIFIER_atomic_begin(void);

static void *work(void *unused) {
    __VERIFIER_atomic_begin();
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
}
