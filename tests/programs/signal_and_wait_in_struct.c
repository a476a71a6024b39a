// expect: ok
// Synchronisation objects as members of a structure on the heap.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct channel {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int full, value;
};

static struct channel *channel_new(void) {
    struct channel *channel = malloc(sizeof *channel);
    pthread_mutex_init(&channel->lock, NULL);
    pthread_cond_init(&channel->changed, NULL);
    channel->full = 0;
    return channel;
}

static void channel_send(struct channel *channel, int value) {
    pthread_mutex_lock(&channel->lock);
    while (channel->full)
        pthread_cond_wait(&channel->changed, &channel->lock);
    channel->value = value;
    channel->full = 1;
    pthread_cond_broadcast(&channel->changed);
    pthread_mutex_unlock(&channel->lock);
}

static int channel_receive(struct channel *channel) {
    pthread_mutex_lock(&channel->lock);
    while (!channel->full)
        pthread_cond_wait(&channel->changed, &channel->lock);
    int value = channel->value;
    channel->full = 0;
    pthread_cond_broadcast(&channel->changed);
    pthread_mutex_unlock(&channel->lock);
    return value;
}

static void *sender(void *channel) {
    channel_send(channel, 1);
    channel_send(channel, 2);
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct channel *channel = channel_new();
    pthread_create(&thread, NULL, sender, channel);
    assert(channel_receive(channel) == 1);
    assert(channel_receive(channel) == 2);
    pthread_join(thread, NULL);
    pthread_cond_destroy(&channel->changed);
    pthread_mutex_destroy(&channel->lock);
    free(channel);
    return 0;
}
