// expect: bug assertion
// The buffers are swapped before the picture is complete.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct frame {
    int left;
    int right;
};

static struct frame frames[2] = {{1, 1}, {0, 0}};
static atomic_int shown;
static atomic_int looking;

static void *draw(void *unused) {
    struct frame *back = &frames[1];
    atomic_store(&shown, 1);
    back->left = 2;
    back->right = 2;
    while (atomic_load(&looking) != 0)
        sched_yield();
    return unused;
}

static void *show(void *unused) {
    atomic_fetch_add(&looking, 1);
    struct frame *front = &frames[atomic_load(&shown)];
    int left = front->left;
    int right = front->right;
    atomic_fetch_sub(&looking, 1);
    assert(left == right);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, draw, NULL);
    pthread_create(&threads[1], NULL, show, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(frames[atomic_load(&shown)].left == 2);
    return 0;
}
