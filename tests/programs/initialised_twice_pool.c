// expect: bug sync
// line: 15
// message: initialising a mutex that was initialised before and not destroyed
// A pool that hands out a connection again, which it had never cleaned up.
#include <pthread.h>
#include <stddef.h>

struct connection {
    pthread_mutex_t lock;
    int requests;
};
static struct connection pool[1];

static struct connection *open_connection(void) {
    pthread_mutex_init(&pool[0].lock, NULL);
    return &pool[0];
}

static void *serve(void *argument) {
    struct connection *connection = argument;
    pthread_mutex_lock(&connection->lock);
    connection->requests++;
    pthread_mutex_unlock(&connection->lock);
    return NULL;
}

int main(void) {
    for (int round = 0; round < 2; round++) {
        struct connection *connection = open_connection();
        pthread_t thread;
        pthread_create(&thread, NULL, serve, connection);
        serve(connection);
        pthread_join(thread, NULL);
    }
    return 0;
}
