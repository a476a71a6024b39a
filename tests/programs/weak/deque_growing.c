// expect: ok
// weakened: -DGROWN=memory_order_relaxed -> assertion; sc: ok
// weakened: -DARRAY=memory_order_relaxed -> assertion; sc: ok
// weakened: -DPUSHED=memory_order_relaxed -> assertion; sc: ok
// weakened: -DSTEAL=memory_order_acq_rel -DTAKE=memory_order_acq_rel -> assertion; sc: ok; tso: assertion
// weakened: -DTAKE=memory_order_acq_rel -> assertion; sc: ok; tso: assertion
// The deque of Chase and Lev, whose array is replaced by a larger one when it is full. In the code as it was published
// (PPoPP 2013), the new array is stored by a relaxed access: a thief finds it without what was copied, as CDSChecker
// has shown.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

// Releases the copies. The fence of the next push comes too late for a thief who wants what was there before.
#ifndef GROWN
#define GROWN memory_order_release
#endif
// Acquires them.
#ifndef ARRAY
#define ARRAY memory_order_acquire
#endif
#ifndef PUSHED
#define PUSHED memory_order_release
#endif
#ifndef TAKE
#define TAKE memory_order_seq_cst
#endif
#ifndef STEAL
#define STEAL memory_order_seq_cst
#endif

enum { NONE = 0 };

struct array {
    int size;
    atomic_int *tasks;
};

static atomic_int one[1], two[2];
static struct array small = {1, one}, large = {2, two};
static _Atomic(struct array *) array = &small;
static atomic_int top, bottom;
static atomic_int done[3];

static struct array *grow(struct array *from, int first, int end) {
    for (int i = first; i < end; i++) {
        int task = atomic_load_explicit(&from->tasks[i % from->size], memory_order_relaxed);
        atomic_store_explicit(&large.tasks[i % large.size], task, memory_order_relaxed);
    }
    atomic_store_explicit(&array, &large, GROWN);
    return &large;
}

static void push(int task) {
    int end = atomic_load_explicit(&bottom, memory_order_relaxed);
    int first = atomic_load_explicit(&top, memory_order_acquire);
    struct array *in = atomic_load_explicit(&array, memory_order_relaxed);
    if (end - first >= in->size)
        in = grow(in, first, end);
    atomic_store_explicit(&in->tasks[end % in->size], task, memory_order_relaxed);
    atomic_thread_fence(PUSHED);
    atomic_store_explicit(&bottom, end + 1, memory_order_relaxed);
}

static int take(void) {
    int last = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    struct array *in = atomic_load_explicit(&array, memory_order_relaxed);
    atomic_store_explicit(&bottom, last, memory_order_relaxed);
    atomic_thread_fence(TAKE);
    int first = atomic_load_explicit(&top, memory_order_relaxed);
    int task = NONE;
    if (first <= last)
        task = atomic_load_explicit(&in->tasks[last % in->size], memory_order_relaxed);
    if (first < last)
        return task;
    if (first == last && !atomic_compare_exchange_strong_explicit(&top, &first, first + 1, memory_order_seq_cst,
                                                                  memory_order_relaxed))
        task = NONE;
    atomic_store_explicit(&bottom, last + 1, memory_order_relaxed);
    return task;
}

static int steal(void) {
    int first = atomic_load_explicit(&top, memory_order_acquire);
    atomic_thread_fence(STEAL);
    int end = atomic_load_explicit(&bottom, memory_order_acquire);
    if (first >= end)
        return NONE;
    struct array *in = atomic_load_explicit(&array, ARRAY);
    int task = atomic_load_explicit(&in->tasks[first % in->size], memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(&top, &first, first + 1, memory_order_seq_cst, memory_order_relaxed))
        return NONE;
    assert(task != NONE);
    return task;
}

static void work(int task) {
    if (task != NONE)
        assert(atomic_fetch_add_explicit(&done[task], 1, memory_order_relaxed) == 0);
}

static void *own(void *unused) {
    push(1);
    push(2);
    work(take());
    work(take());
    return unused;
}

static void *thieve(void *unused) {
    work(steal());
    work(steal());
    return unused;
}

int main(void) {
    pthread_t owner, thief;
    pthread_create(&owner, NULL, own, NULL);
    pthread_create(&thief, NULL, thieve, NULL);
    pthread_join(owner, NULL);
    pthread_join(thief, NULL);
    assert(done[1] == 1 && done[2] == 1);
    return 0;
}
