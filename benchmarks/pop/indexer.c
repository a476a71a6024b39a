/* The indexer of Flanagan and Godefroid (POPL 2005): N threads insert four messages each into a shared hash table.
 *
 * Only from the 12th thread on do they meet at slots: each further one multiplies the number of executions by 8. */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef N
#define N 12
#endif

enum { SLOTS = 128, MESSAGES = 4 };

static pthread_mutex_t mutexes[SLOTS];
static int table[SLOTS]; /* 0 where nothing is */

static bool insert_at(int slot, int message) {
    bool inserted = false;
    pthread_mutex_lock(&mutexes[slot]);
    if (table[slot] == 0) {
        table[slot] = message;
        inserted = true;
    }
    pthread_mutex_unlock(&mutexes[slot]);
    return inserted;
}

static void *insert_messages(void *argument) {
    int thread = (int)(intptr_t)argument;
    for (int number = 1; number <= MESSAGES; number++) {
        int message = 11 * number + thread;
        int slot = 7 * message % SLOTS;
        while (!insert_at(slot, message))
            slot = (slot + 1) % SLOTS;
    }
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (int t = 0; t < N; t++)
        pthread_create(&threads[t], NULL, insert_messages, (void *)(intptr_t)t);
    return 0;
}
