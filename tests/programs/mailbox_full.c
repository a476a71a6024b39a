// expect: bug livelock
// Two letters for a box that takes one: whoever comes second writes the time on the letter, tries, and does so for ever.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct letter {
    int time, text;
} letter;

static _Atomic(letter *) box;
static atomic_int now;

static void *send(void *unused) {
    letter *mine = malloc(sizeof *mine);
    mine->text = 42;
    letter *empty;
    do {
        mine->time = now;
        empty = NULL;
    } while (!atomic_compare_exchange_strong(&box, &empty, mine));
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, send, NULL);
    pthread_create(&b, NULL, send, NULL);
    now = 1;
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
