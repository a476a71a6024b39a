/* The alternating bit protocol: messages arrive, each once and in order, over channels that lose some.
 *
 * The sender repeats a message, with a bit, until the same bit comes back; then it goes on to the next message and the
 * other bit. The receiver sends back every bit that it gets, and accepts a message if its bit is the one whose turn it
 * is. Each channel holds up to N messages. What is sent may be lost, and is lost if the channel is full.
 *
 * Messages are numbered, and start again at 0 after MESSAGES of them; the receiver knows which number comes next.
 *
 * BROKEN: the sender goes on whatever bit comes back.
 *
 * Verdict: correct, that is, the receiver accepts all messages in order; with BROKEN, the assertion fails. */
#include <assert.h>

#include "forever.h"

#ifndef N
#define N 1
#endif

enum { MESSAGES = 3 };

struct channel {
    pthread_mutex_t lock;
    int count;
    int messages[N]; /* the oldest first, 0 where there is none */
};

static struct channel there, back;

static void put(struct channel *channel, int message) {
    pthread_mutex_lock(&channel->lock);
    if (channel->count < N && maybe())
        channel->messages[channel->count++] = message;
    pthread_mutex_unlock(&channel->lock);
}

static bool take(struct channel *channel, int *message) {
    pthread_mutex_lock(&channel->lock);
    bool any = channel->count > 0;
    if (any) {
        *message = channel->messages[0];
        for (int i = 1; i < channel->count; i++)
            channel->messages[i - 1] = channel->messages[i];
        channel->messages[--channel->count] = 0;
    }
    pthread_mutex_unlock(&channel->lock);
    return any;
}

static void *send(void *unused) {
    int number = 0, bit = 0, answer;
    forever {
        put(&there, 2 * number + bit);
        if (!take(&back, &answer))
            continue;
#ifndef BROKEN
        if (answer != bit)
            continue;
#endif
        number = (number + 1) % MESSAGES;
        bit = !bit;
    }
    return unused;
}

static void *receive(void *unused) {
    int next = 0, bit = 0, message;
    forever {
        if (!take(&there, &message))
            continue;
        if (message % 2 == bit) {
            assert(message / 2 == next);
            next = (next + 1) % MESSAGES;
            bit = !bit;
        }
        put(&back, message % 2);
    }
    return unused;
}

int main(void) {
    start(send, 1);
    start(receive, 2);
    pthread_exit(NULL);
}
