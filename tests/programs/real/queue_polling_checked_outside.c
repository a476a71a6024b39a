// expect: bug memory
// Whether there is an item is looked at outside of the lock: two workers may both have seen the last one.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *head, *tail;
static int queued;
static atomic_int sum;

static void push(int value) {
    struct node *node = malloc(sizeof *node);
    node->next = NULL;
    node->value = value;
    pthread_mutex_lock(&lock);
    if (tail)
        tail->next = node;
    else
        head = node;
    tail = node;
    queued++;
    pthread_mutex_unlock(&lock);
}

static struct node *try_pop(void) {
    if (__atomic_load_n(&queued, __ATOMIC_SEQ_CST) == 0)
        return NULL;
    pthread_mutex_lock(&lock);
    struct node *node = head;
    if (true) {
        head = node->next;
        if (!head)
            tail = NULL;
        queued--;
    } else {
        node = NULL;
    }
    pthread_mutex_unlock(&lock);
    return node;
}

static void *work(void *unused) {
    struct node *node;
    while (!(node = try_pop()))
        sched_yield();
    atomic_fetch_add(&sum, node->value);
    free(node);
    return unused;
}

static void *produce(void *unused) {
    push(1);
    push(2);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, produce, NULL);
    pthread_create(&threads[1], NULL, work, NULL);
    pthread_create(&threads[2], NULL, work, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(sum == 3 && !head && queued == 0);
    return 0;
}
