// expect: ok
// weakened: -DPUSHED=memory_order_relaxed -> assertion; sc: ok
// weakened: -DTAKE=memory_order_acq_rel -> assertion; sc: ok; tso: assertion
// weakened: -DSTEAL=memory_order_acq_rel -> assertion; sc: ok
// weakened: -DBOTTOM=memory_order_relaxed -> assertion; sc: ok
// unbroken: -DLAST=memory_order_relaxed -DTHEFT=memory_order_relaxed -DTOP=memory_order_relaxed
// unbroken: -DTHIEVES=2
// weakened: -DTHIEVES=2 -DTAKE=memory_order_acq_rel -> assertion; sc: ok; tso: assertion
// weakened: -DTHIEVES=2 -DSTEAL=memory_order_acq_rel -> assertion; sc: ok
// unbroken: -DTHIEVES=2 -DLAST=memory_order_relaxed -DTHEFT=memory_order_relaxed
// The deque of Chase and Lev as it is in "Correct and efficient work-stealing for weak memory models" (PPoPP 2013): the
// owner pushes and takes at the bottom, thieves steal at the top. Here the array is large enough.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

// Before the new bottom: who sees it sees the task.
#ifndef PUSHED
#define PUSHED memory_order_release
#endif
// Acquires the task.
#ifndef BOTTOM
#define BOTTOM memory_order_acquire
#endif
// Between taking the bottom task away and the look at the top; otherwise, thieves may have come that far already, and
// owner and thief have the same task.
#ifndef TAKE
#define TAKE memory_order_seq_cst
#endif
// Between the looks at the top and at the bottom: a bottom from before the owner took the tasks, seen with a top
// from after that, would be tasks that are gone.
#ifndef STEAL
#define STEAL memory_order_seq_cst
#endif
// Who has the last one, of owner and thief or of two thieves. That these are seq_cst, and the next one acquires, is
// what the paper has, for the C11 of its time: in RC11, the fences do it all.
#ifndef LAST
#define LAST memory_order_seq_cst
#endif
#ifndef THEFT
#define THEFT memory_order_seq_cst
#endif
#ifndef TOP
#define TOP memory_order_acquire
#endif

#ifndef THIEVES
#define THIEVES 1
#endif

enum { SIZE = 2, NONE = 0 };

static atomic_int top, bottom;
static atomic_int tasks[SIZE];
static atomic_int done[SIZE + 1];

static void push(int task) {
    int end = atomic_load_explicit(&bottom, memory_order_relaxed);
    assert(end - atomic_load_explicit(&top, memory_order_acquire) < SIZE);
    atomic_store_explicit(&tasks[end % SIZE], task, memory_order_relaxed);
    atomic_thread_fence(PUSHED);
    atomic_store_explicit(&bottom, end + 1, memory_order_relaxed);
}

static int take(void) {
    int last = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, last, memory_order_relaxed);
    atomic_thread_fence(TAKE);
    int first = atomic_load_explicit(&top, memory_order_relaxed);
    int task = NONE;
    if (first <= last)
        task = atomic_load_explicit(&tasks[last % SIZE], memory_order_relaxed);
    if (first < last)
        return task;
    if (first == last &&
        !atomic_compare_exchange_strong_explicit(&top, &first, first + 1, LAST, memory_order_relaxed))
        task = NONE;
    atomic_store_explicit(&bottom, last + 1, memory_order_relaxed);
    return task;
}

static int steal(void) {
    int first = atomic_load_explicit(&top, TOP);
    atomic_thread_fence(STEAL);
    int end = atomic_load_explicit(&bottom, BOTTOM);
    if (first >= end)
        return NONE;
    int task = atomic_load_explicit(&tasks[first % SIZE], memory_order_relaxed);
    assert(task != NONE);
    if (!atomic_compare_exchange_strong_explicit(&top, &first, first + 1, THEFT, memory_order_relaxed))
        return NONE;
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
    for (int i = 0; i < 3 - THIEVES; i++)
        work(steal());
    return unused;
}

int main(void) {
    pthread_t owner, thieves[THIEVES];
    pthread_create(&owner, NULL, own, NULL);
    for (int i = 0; i < THIEVES; i++)
        pthread_create(&thieves[i], NULL, thieve, NULL);
    for (int i = 0; i < THIEVES; i++)
        pthread_join(thieves[i], NULL);
    pthread_join(owner, NULL);
    assert(done[1] == 1 && done[2] == 1);
    return 0;
}
