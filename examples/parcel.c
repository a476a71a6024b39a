/* A livelock, and a deadlock.
 *
 *     mazurka check examples/parcel.c
 *     mazurka check --allow-livelock examples/parcel.c
 *
 * A courier waits for a parcel, which a packer makes ready. Both lock the door and the van. If the courier gets both, the
 * packer cannot come in, and the courier waits for ever: not in a lock, but in a loop, which goes round and round. That
 * is a livelock, and the report says which loop it is and which variable should have changed. If each gets one of the
 * two, they wait for each other: that is a deadlock. The option says that livelocks are acceptable, so that the other
 * one is found.
 *
 * To repair it, let the courier wait for the parcel first, and let both lock in the same order. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t van = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool ready;

static void *courier(void *unused) {
    pthread_mutex_lock(&door);
    pthread_mutex_lock(&van);
    while (!atomic_load(&ready))
        ;
    pthread_mutex_unlock(&van);
    pthread_mutex_unlock(&door);
    return unused;
}

static void *packer(void *unused) {
    pthread_mutex_lock(&van);
    pthread_mutex_lock(&door);
    atomic_store(&ready, true);
    pthread_mutex_unlock(&door);
    pthread_mutex_unlock(&van);
    return unused;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, courier, NULL);
    pthread_create(&other, NULL, packer, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
