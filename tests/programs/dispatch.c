// expect: ok
// Threads run through a table of functions.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

typedef int operation(int, int);

static int add(int a, int b) { return a + b; }
static int subtract(int a, int b) { return a - b; }
static int multiply(int a, int b) { return a * b; }

static operation *const table[] = {add, subtract, multiply};

struct task {
    int code, left, right, result;
};

static void *run(void *argument) {
    struct task *task = argument;
    task->result = table[task->code](task->left, task->right);
    return argument;
}

int main(void) {
    struct task tasks[2] = {{1, 7, 9, 0}, {2, 6, 7, 0}};
    pthread_t threads[2];
    void *(*start)(void *) = run;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, start, &tasks[i]);
    for (int i = 0; i < 2; i++) {
        void *value;
        pthread_join(threads[i], &value);
        assert(value == &tasks[i]);
    }
    assert(tasks[0].result == -2 && tasks[1].result == 42 && (*table[0])(1, 2) == 3);
    return 0;
}
