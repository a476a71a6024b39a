/* What is inside a pthread_mutex_t, and the steps that condition variables share with mutexes. */
#ifndef MAZURKA_MUTEX_H
#define MAZURKA_MUTEX_H

#include <errno.h>
#include <pthread.h>

#include "waiting.h"

/* On the layout of the C library, so that static initialisers work: they are zeros, but for the kind. */
struct mutex {
    struct mazurka_thread *owner;
    unsigned depth; /* of a recursive mutex: how many more times than once it is held */
    unsigned unused;
    int kind;
};
_Static_assert(offsetof(struct mutex, kind) == offsetof(pthread_mutex_t, __data.__kind), "static initialisers");
_Static_assert(sizeof(struct mutex) == MAZURKA_LOCK_SIZE, "claims stand for all of it");

enum { NORMAL = 0, RECURSIVE = 1, ERRORCHECK = 2, ADAPTIVE = 3, DESTROYED = -1 };

INLINE void require_usable_mutex(int kind, const struct mazurka_thread *owner) {
    if ((unsigned)kind > ADAPTIVE || !is_thread_or_null(owner)) {
        if (kind == DESTROYED)
            __mazurka_fail("sync", "use of a destroyed mutex");
        __mazurka_fail("sync", "use of a mutex that was never initialised");
    }
}

/* Both are for use in an atomic section. A normal mutex that its owner locks again awaits what can never come. */
INLINE int lock_in_section(struct mutex *mutex) {
    struct mazurka_thread *self = __mazurka_self();
    struct mazurka_thread *owner = mutex->owner;
    int kind = mutex->kind;
    require_usable_mutex(kind, owner);
    if (owner == self) {
        if (kind == RECURSIVE) {
            __mazurka_claim(mutex, "keep");
            mutex->depth++;
            return 0;
        }
        if (kind == ERRORCHECK) {
            __mazurka_claim(mutex, "keep");
            return EDEADLK;
        }
    }
    __mazurka_claim(mutex, "acquire");
    __mazurka_await(owner == NULL, "mutex", mutex, owner);
    mutex->owner = self;
    return 0;
}

INLINE int unlock_in_section(struct mutex *mutex) {
    struct mazurka_thread *owner = mutex->owner;
    int kind = mutex->kind;
    require_usable_mutex(kind, owner);
    if (owner != __mazurka_self()) {
        if (kind == RECURSIVE || kind == ERRORCHECK) {
            __mazurka_claim(mutex, "look");
            return EPERM;
        }
        if (owner == NULL)
            __mazurka_fail("sync", "unlocking a mutex that is not locked");
        __mazurka_fail("sync", "unlocking a mutex that another thread holds");
    }
    if (kind == RECURSIVE && mutex->depth > 0) {
        __mazurka_claim(mutex, "keep");
        mutex->depth--;
    } else {
        __mazurka_claim(mutex, "release");
        mutex->owner = NULL;
    }
    return 0;
}

#endif
