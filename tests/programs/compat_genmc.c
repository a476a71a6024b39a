// expect: ok
// check: --compat=genmc
#include <assert.h>
#include <genmc.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag, data;

static void *run(void *unused) {
    __VERIFIER_loop_begin();
    for (;;) {
        __VERIFIER_spin_start();
        int leaves = atomic_load(&flag) != 0;
        __VERIFIER_spin_end(leaves);
        if (leaves)
            break;
    }
    assert(data == 1);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    __VERIFIER_local_write(atomic_store(&data, 1));
    __VERIFIER_final_write(atomic_store(&flag, 1));
    pthread_join(thread, NULL);
    return 0;
}
