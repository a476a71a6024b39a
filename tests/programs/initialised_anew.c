// expect: ok
// What looks like initialising something twice and is not: other objects in the same place, copies, what was destroyed
// or freed, what had a static initialiser.
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

struct connection {
    int requests;
    union {
        pthread_mutex_t lock;
        char space[64];
    };
    sem_t slots[2];
    pthread_cond_t changed;
};

static void *serve(void *argument) {
    struct connection *connection = argument;
    pthread_mutex_lock(&connection->lock);
    connection->requests++;
    pthread_mutex_unlock(&connection->lock);
    return NULL;
}

static void set_up(struct connection *connection) {
    connection->requests = 0;
    pthread_mutex_init(&connection->lock, NULL);
    sem_init(&connection->slots[0], 0, 1);
    sem_init(&connection->slots[1], 0, 1);
    pthread_cond_init(&connection->changed, NULL);
}

int main(void) {
    for (int i = 0; i < 3; i++) { /* another object in each round */
        struct connection local;
        pthread_t thread;
        set_up(&local);
        pthread_create(&thread, NULL, serve, &local);
        serve(&local);
        pthread_join(thread, NULL);
    }
    for (int i = 0; i < 2; i++) {
        struct connection *block = malloc(sizeof *block);
        set_up(block);
        struct connection copy = *block;
        set_up(&copy);
        pthread_mutex_lock(&block->lock);
        memcpy(&copy, block, sizeof copy);
        set_up(&copy);
        pthread_mutex_unlock(&block->lock);
        memset(block, 0, sizeof *block);
        set_up(block);
        free(block);
    }
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    static pthread_barrier_t barrier;
    pthread_spinlock_t spinlock, other;
    for (int i = 0; i < 3; i++) {
        pthread_mutex_init(&mutex, NULL);
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        pthread_mutex_destroy(&mutex);
        pthread_rwlock_init(&lock, NULL);
        pthread_rwlock_destroy(&lock);
        pthread_cond_init(&condition, NULL);
        pthread_cond_destroy(&condition);
        pthread_barrier_init(&barrier, NULL, 1);
        pthread_barrier_wait(&barrier);
        pthread_barrier_destroy(&barrier);
        pthread_spin_init(&spinlock, 0);
        pthread_spin_lock(&spinlock);
        other = spinlock;
        pthread_spin_init(&other, 0);
        pthread_spin_unlock(&spinlock);
    }
    return 0;
}
