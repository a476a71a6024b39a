/* A use after free that needs one particular interleaving.
 *
 *     mazurka check examples/use_after_free.c
 *
 * A thread replaces the configuration and frees the old one. The pointer is atomic, so that no reader ever sees half of
 * it, and yet there is a gap: between taking the pointer and following it, the configuration may be gone. Tests hardly
 * ever hit the gap. The trace shows the three steps that matter: take the pointer, free, follow it.
 *
 * To repair it, free the old one only when nobody can hold it any more: after the readers were joined, or under a lock
 * that readers hold as long as they use it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct configuration {
    int port;
};

static _Atomic(struct configuration *) current;

static struct configuration *configure(int port) {
    struct configuration *configuration = malloc(sizeof *configuration);
    configuration->port = port;
    return configuration;
}

static void *serve(void *unused) {
    struct configuration *configuration = atomic_load(&current);
    if (configuration->port == 0)
        abort();
    return unused;
}

static void *update(void *unused) {
    struct configuration *old = atomic_exchange(&current, configure(8080));
    free(old);
    return unused;
}

int main(void) {
    pthread_t server, updater;
    current = configure(80);
    pthread_create(&server, NULL, serve, NULL);
    pthread_create(&updater, NULL, update, NULL);
    pthread_join(server, NULL);
    pthread_join(updater, NULL);
    free(current);
    return 0;
}
