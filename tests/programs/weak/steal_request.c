// expect: ok
// weakened: -DANSWER=memory_order_relaxed -> race; sc: race
// weakened: -DTAKE=memory_order_relaxed -> race; sc: race
// weakened: -DCOUNT=memory_order_release -> race; sc: race
// weakened: -DFINISH=memory_order_relaxed -> race; sc: race
// unbroken: -DASK=memory_order_relaxed
// unbroken: -DPOLL=memory_order_relaxed
// Work stealing where nobody takes anything by himself: the thief asks, and the owner, who looks for such requests
// between two tasks, hands one over. Who has done the last task knows all results.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

// The request says nothing but that somebody would like to have something.
#ifndef ASK
#define ASK memory_order_release
#endif
#ifndef POLL
#define POLL memory_order_acquire
#endif
// Releases the task that is handed over, and the thief acquires it.
#ifndef ANSWER
#define ANSWER memory_order_release
#endif
#ifndef TAKE
#define TAKE memory_order_acquire
#endif
// Releases a result, and acquires those that are there already: an update that does both.
#ifndef COUNT
#define COUNT memory_order_acq_rel
#endif
// "There is nothing": has to release that the owner's tasks are done, for the thief goes home.
#ifndef FINISH
#define FINISH memory_order_release
#endif

enum { TASKS = 3, NOTHING = -1 };
enum { QUIET, ASKED, ANSWERED };

struct task {
    int input;
};

static struct task tasks[TASKS];
static struct task *handed;
static atomic_int request, missing = TASKS;
static int results[TASKS], owned;

static void run(struct task *task) {
    results[task - tasks] = task->input * 2;
    if (atomic_fetch_sub_explicit(&missing, 1, COUNT) == 1)
        for (int i = 0; i < TASKS; i++)
            assert(results[i] == 2 * (i + 1));
}

static void *owner(void *unused) {
    int left = TASKS;
    for (int i = 0; i < TASKS; i++)
        tasks[i].input = i + 1;
    while (left > 0) {
        if (left > 1 && atomic_load_explicit(&request, POLL) == ASKED) {
            handed = &tasks[--left];
            atomic_store_explicit(&request, ANSWERED, ANSWER);
        }
        owned++;
        run(&tasks[--left]);
    }
    atomic_exchange_explicit(&request, ANSWERED, FINISH);
    return unused;
}

static void *thief(void *unused) {
    int quiet = QUIET;
    if (atomic_compare_exchange_strong_explicit(&request, &quiet, ASKED, ASK, TAKE))
        while (atomic_load_explicit(&request, TAKE) != ANSWERED)
            ;
    if (handed)
        run(handed);
    else
        assert(owned == TASKS);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, owner, NULL);
    pthread_create(&b, NULL, thief, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(missing == 0);
    return 0;
}
