/* A dispatcher hands N requests to N servers. Which server gets a request depends on how far a picker thread has come
 * with naming all of them, and whether the server sees the request on when it looks. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#ifndef N
#define N 4
#endif

static pthread_mutex_t server_mutexes[N], picked_mutex;
static int input[N], output[N];
static int picked;

static void *serve(void *argument) {
    intptr_t id = (intptr_t)argument;
    pthread_mutex_lock(&server_mutexes[id]);
    if (input[id] > 0)
        output[id] = input[id];
    pthread_mutex_unlock(&server_mutexes[id]);
    return NULL;
}

static void *pick(void *unused) {
    for (int id = 0; id < N; id++) {
        pthread_mutex_lock(&picked_mutex);
        picked = id;
        pthread_mutex_unlock(&picked_mutex);
    }
    return unused;
}

static void dispatch(void) {
    pthread_t picker;
    pthread_create(&picker, NULL, pick, NULL);
    pthread_mutex_lock(&picked_mutex);
    int id = picked;
    pthread_mutex_unlock(&picked_mutex);
    pthread_mutex_lock(&server_mutexes[id]);
    input[id]++;
    pthread_mutex_unlock(&server_mutexes[id]);
    pthread_join(picker, NULL);
}

int main(void) {
    pthread_t servers[N];
    for (int id = 0; id < N; id++)
        pthread_create(&servers[id], NULL, serve, (void *)(intptr_t)id);
    for (int request = 0; request < N; request++)
        dispatch();
    return 0;
}
