// expect: ok
// check: --leaks
// What pointers lead to: from globals, through other blocks, into the middle, with tags, from a thread-local variable of
// the first thread, and from threads that still run when the process ends.
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};

static struct node *list;
static int *inside;
static uintptr_t tagged;
static _Thread_local int *own;
static sem_t never;

static void *wait(void *argument) {
    int *held = malloc(sizeof *held), *also[2] = {malloc(8), NULL};
    int **on_stack = also;
    sem_wait(&never);
    free(held);
    free(on_stack[0]);
    return argument;
}

int main(void) {
    for (int i = 0; i < 3; i++) {
        struct node *node = malloc(sizeof *node);
        node->next = list;
        list = node;
    }
    inside = (int *)malloc(16) + 2;
    tagged = (uintptr_t)malloc(8) | 1 | (uintptr_t)5 << 56;
    own = malloc(8);
    sem_init(&never, 0, 0);
    pthread_t thread;
    pthread_create(&thread, 0, wait, 0);
    exit(0);
}
