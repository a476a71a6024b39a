/* Thread-specific data.
 *
 * The values are thread-local variables, which no other thread can reach. Which keys exist, and their destructors, is
 * shared. The number of a deleted key is not used again, so that a new key has no value in any thread. */
#include <limits.h>
#include <pthread.h>
#include <stdint.h>

#include "keys.h"
#include "mazurka.h"

#define MOST_KEYS 64

static struct {
    unsigned created;                       /* how many keys, ever */
    uint64_t alive;                         /* the keys that were not deleted */
    void (*destructors[MOST_KEYS])(void *); /* null: none */
} keys;

static _Thread_local void *values[MOST_KEYS];
static _Thread_local uint64_t present; /* the keys whose value is not null */

int pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
    __mazurka_atomic_begin();
    unsigned number = keys.created;
    if (number == MOST_KEYS)
        __mazurka_fail("sync", "creating more than 64 thread-specific keys is not supported");
    keys.created = number + 1;
    keys.alive |= (uint64_t)1 << number;
    keys.destructors[number] = destructor;
    __mazurka_atomic_end();
    *key = number;
    return 0;
}

static void require_key(uint64_t existing, pthread_key_t key) {
    if (key >= MOST_KEYS || !(existing >> key & 1))
        __mazurka_fail("sync", "use of a thread-specific key that was deleted or never created");
}

int pthread_key_delete(pthread_key_t key) {
    __mazurka_atomic_begin();
    uint64_t existing = keys.alive;
    require_key(existing, key);
    keys.alive = existing & ~((uint64_t)1 << key);
    __mazurka_atomic_end();
    return 0;
}

int pthread_setspecific(pthread_key_t key, const void *value) {
    require_key(__atomic_load_n(&keys.alive, __ATOMIC_SEQ_CST), key);
    values[key] = (void *)value;
    if (value)
        present |= (uint64_t)1 << key;
    else
        present &= ~((uint64_t)1 << key);
    return 0;
}

void *pthread_getspecific(pthread_key_t key) {
    require_key(__atomic_load_n(&keys.alive, __ATOMIC_SEQ_CST), key);
    return values[key];
}

static void destroy_value(unsigned key) {
    void *value = values[key];
    void (*destructor)(void *) = NULL;
    values[key] = NULL;
    present &= ~((uint64_t)1 << key);
    __mazurka_atomic_begin();
    if (keys.alive >> key & 1)
        destructor = keys.destructors[key];
    __mazurka_atomic_end();
    if (destructor)
        destructor(value);
}

void __mazurka_destroy_thread_data(void) {
    for (int round = 0; present && round < PTHREAD_DESTRUCTOR_ITERATIONS; round++)
        for (uint64_t rest = present; rest; rest &= rest - 1)
            destroy_value((unsigned)__builtin_ctzll(rest));
}
