/* Counts in how many places of some files a text occurs: grep TEXT FILE…
 *
 * The first thread hands out the files, WORKERS others search them. When the program is checked, there is any number of
 * files, each with any number of occurrences.
 *
 * Verdict: safe. The queue neither overflows nor runs empty, all files are searched, and the program ends. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef SIZE
#define SIZE 4
#endif

/* -------------------------------------------------------------------------------------- files */

#ifdef __MAZURKA__

bool __VERIFIER_nondet_bool(void);
unsigned __VERIFIER_nondet_uint(void);

static bool is_file(int number) { return __VERIFIER_nondet_bool(); }
static unsigned search(int number) { return __VERIFIER_nondet_uint(); }
static void show(unsigned occurrences) {}

#else

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char **arguments; /* the text, the files, NULL */

static bool is_file(int number) { return arguments[number + 1] != NULL; }

static unsigned search(int number) {
    const char *const text = arguments[0];
    const size_t length = strlen(text), room = 1 << 16;
    FILE *const file = fopen(arguments[number + 1], "rb");
    if (file == NULL || length == 0 || length >= room) {
        perror(arguments[number + 1]);
        exit(2);
    }
    char *const buffer = malloc(room);
    unsigned found = 0;
    size_t kept = 0, count; /* what is kept of the last block may be the beginning of the text */
    while ((count = fread(buffer + kept, 1, room - kept, file)) > 0) {
        const char *const end = buffer + kept + count;
        for (const char *at = buffer; (at = memmem(at, (size_t)(end - at), text, length)) != NULL; at++)
            found++;
        count += kept;
        kept = count < length ? count : length - 1;
        memmove(buffer, end - kept, kept);
    }
    free(buffer);
    fclose(file);
    return found;
}

static void show(unsigned occurrences) { printf("%u\n", occurrences); }

#endif

/* -------------------------------------------------------------------------------------- the queue */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t places, items; /* each worker gets one more item than there are files: the end */
static int queue[SIZE];
static int first, count;
static unsigned total;

static void put(int file) {
    sem_wait(&places);
    pthread_mutex_lock(&mutex);
    assert(count < SIZE);
    queue[(first + count) % SIZE] = file;
    count++;
    pthread_mutex_unlock(&mutex);
    sem_post(&items);
}

static bool take(int *file) {
    sem_wait(&items);
    pthread_mutex_lock(&mutex);
    bool taken = count > 0;
    if (taken) {
        *file = queue[first];
        first = (first + 1) % SIZE;
        count--;
    }
    pthread_mutex_unlock(&mutex);
    if (taken)
        sem_post(&places);
    return taken;
}

/* -------------------------------------------------------------------------------------- threads */

static void *work(void *unused) {
    int file;
    unsigned found = 0;
    while (take(&file))
        found += search(file);
    pthread_mutex_lock(&mutex);
    total += found;
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(int argc, char **argv) {
#ifndef __MAZURKA__
    if (argc < 2)
        return 2;
    arguments = argv + 1;
#endif
    pthread_t workers[WORKERS];
    sem_init(&places, 0, SIZE);
    sem_init(&items, 0, 0);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    for (int file = 0; is_file(file); file++)
        put(file);
    for (int i = 0; i < WORKERS; i++)
        sem_post(&items);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    assert(count == 0);
    show(total);
    return 0;
}
