/* The library's operations that are events: each asks the scheduler, then does what it is for, unless the schedule does that.
 *
 * An operation that would wait inside the library is done in its two halves: by the schedule, what it waits for has happened
 * when its second half comes. What `point` names is its first event; the second one has the next number. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <threads.h>
#include <unistd.h>

#include "schedule.h"
#include "scheduler.h"

/* A signal does not make it come back. */
static int undisturbed_sem_wait(sem_t *semaphore) {
    int result;
    while ((result = sem_wait(semaphore)) != 0 && errno == EINTR)
        continue;
    return result;
}

/* One event, which gives 0 if it is omitted. */
#define OPERATION(name, parameters, call)              \
    int mazurka_do_##name parameters {                 \
        mazurka_before(point, NULL);                   \
        int result = mazurka_has(OMIT) ? 0 : call;     \
        mazurka_after();                               \
        return result;                                 \
    }

OPERATION(pthread_mutex_init, (uint32_t point, pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes), pthread_mutex_init(mutex, attributes))
OPERATION(pthread_mutex_destroy, (uint32_t point, pthread_mutex_t *mutex), pthread_mutex_destroy(mutex))
OPERATION(pthread_mutex_lock, (uint32_t point, pthread_mutex_t *mutex), pthread_mutex_lock(mutex))
OPERATION(pthread_mutex_trylock, (uint32_t point, pthread_mutex_t *mutex), pthread_mutex_trylock(mutex))
OPERATION(pthread_mutex_unlock, (uint32_t point, pthread_mutex_t *mutex), pthread_mutex_unlock(mutex))
OPERATION(mtx_init, (uint32_t point, mtx_t *mutex, int type), mtx_init(mutex, type))
OPERATION(mtx_lock, (uint32_t point, mtx_t *mutex), mtx_lock(mutex))
OPERATION(mtx_trylock, (uint32_t point, mtx_t *mutex), mtx_trylock(mutex))
OPERATION(mtx_unlock, (uint32_t point, mtx_t *mutex), mtx_unlock(mutex))
OPERATION(pthread_rwlock_rdlock, (uint32_t point, pthread_rwlock_t *lock), pthread_rwlock_rdlock(lock))
OPERATION(pthread_rwlock_wrlock, (uint32_t point, pthread_rwlock_t *lock), pthread_rwlock_wrlock(lock))
OPERATION(pthread_rwlock_tryrdlock, (uint32_t point, pthread_rwlock_t *lock), pthread_rwlock_tryrdlock(lock))
OPERATION(pthread_rwlock_trywrlock, (uint32_t point, pthread_rwlock_t *lock), pthread_rwlock_trywrlock(lock))
OPERATION(pthread_rwlock_unlock, (uint32_t point, pthread_rwlock_t *lock), pthread_rwlock_unlock(lock))
OPERATION(pthread_spin_lock, (uint32_t point, pthread_spinlock_t *lock), pthread_spin_lock(lock))
OPERATION(pthread_spin_trylock, (uint32_t point, pthread_spinlock_t *lock), pthread_spin_trylock(lock))
OPERATION(pthread_spin_unlock, (uint32_t point, pthread_spinlock_t *lock), pthread_spin_unlock(lock))
OPERATION(sem_wait, (uint32_t point, sem_t *semaphore), undisturbed_sem_wait(semaphore))
OPERATION(sem_trywait, (uint32_t point, sem_t *semaphore), sem_trywait(semaphore))
OPERATION(sem_post, (uint32_t point, sem_t *semaphore), sem_post(semaphore))
OPERATION(pthread_cond_init, (uint32_t point, pthread_cond_t *condition, const pthread_condattr_t *attributes), pthread_cond_init(condition, attributes))
OPERATION(pthread_cond_destroy, (uint32_t point, pthread_cond_t *condition), pthread_cond_destroy(condition))
OPERATION(cnd_init, (uint32_t point, cnd_t *condition), cnd_init(condition))
OPERATION(pthread_barrier_init, (uint32_t point, pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes, unsigned count), pthread_barrier_init(barrier, attributes, count))
OPERATION(pthread_barrier_destroy, (uint32_t point, pthread_barrier_t *barrier), pthread_barrier_destroy(barrier))
OPERATION(pthread_detach, (uint32_t point, pthread_t thread), pthread_detach(thread))
OPERATION(thrd_detach, (uint32_t point, thrd_t thread), thrd_detach(thread))

/* Nobody ever waits inside the library, so there is nobody to wake there. */
OPERATION(pthread_cond_signal, (uint32_t point, pthread_cond_t *condition), ((void)condition, 0))
OPERATION(pthread_cond_broadcast, (uint32_t point, pthread_cond_t *condition), ((void)condition, 0))

OPERATION(cnd_signal, (uint32_t point, cnd_t *condition), ((void)condition, 0))
OPERATION(cnd_broadcast, (uint32_t point, cnd_t *condition), ((void)condition, 0))

int mazurka_do_pthread_cond_wait(uint32_t point, pthread_cond_t *condition, pthread_mutex_t *mutex) {
    (void)condition;
    mazurka_before(point, NULL);
    if (!mazurka_has(OMIT))
        pthread_mutex_unlock(mutex);
    mazurka_after();
    mazurka_before(point + 1, NULL);
    if (!mazurka_has(OMIT))
        pthread_mutex_lock(mutex);
    mazurka_after();
    return 0;
}

int mazurka_do_cnd_wait(uint32_t point, cnd_t *condition, mtx_t *mutex) {
    return mazurka_do_pthread_cond_wait(point, (pthread_cond_t *)condition, (pthread_mutex_t *)mutex);
}

void mazurka_do_mtx_destroy(uint32_t point, mtx_t *mutex) {
    mazurka_before(point, NULL);
    mtx_destroy(mutex);
    mazurka_after();
}

void mazurka_do_cnd_destroy(uint32_t point, cnd_t *condition) {
    mazurka_before(point, NULL);
    cnd_destroy(condition);
    mazurka_after();
}

/* Who is not the last to arrive has a second event, when the last one has arrived. */
int mazurka_do_pthread_barrier_wait(uint32_t point, pthread_barrier_t *barrier) {
    (void)barrier;
    mazurka_before(point, NULL);
    bool is_last = !mazurka_has(CONTINUES);
    mazurka_after();
    if (is_last)
        return PTHREAD_BARRIER_SERIAL_THREAD;
    mazurka_before(point + 1, NULL);
    mazurka_after();
    return 0;
}

/* Null is not freed, which is no event. */
void mazurka_do_free(uint32_t point, void *block) {
    if (block == NULL)
        return;
    mazurka_before(point, NULL);
    free(block);
    mazurka_after();
}

/* The first one to come calls the function, whose events are its own, and has a second event when that has returned. By the
 * schedule, nobody else comes in between. */
int mazurka_do_pthread_once(uint32_t point, pthread_once_t *once, void (*routine)(void)) {
    enum { DONE = 2 }; /* as the library has it */
    mazurka_before(point, NULL);
    const bool is_first = *once != DONE;
    mazurka_after();
    if (is_first) {
        routine();
        mazurka_before(point + 1, NULL);
        *once = DONE;
        mazurka_after();
    }
    return 0;
}

void mazurka_do_call_once(uint32_t point, once_flag *flag, void (*routine)(void)) {
    mazurka_do_pthread_once(point, (pthread_once_t *)flag, routine);
}

/* ------------------------------------------------------------------------------------------ threads */

/* The new thread may run before its creator knows its name. */
int mazurka_do_pthread_create(uint32_t point, pthread_t *handle, const pthread_attr_t *attributes, void *(*function)(void *),
                              void *argument) {
    pthread_t created;
    int result = mazurka_create_thread(&created, attributes, function, argument);
    if (result != 0)
        mazurka_stop("a thread could not be created");
    int state = PTHREAD_CREATE_JOINABLE;
    if (attributes != NULL)
        pthread_attr_getdetachstate(attributes, &state);
    if (state == PTHREAD_CREATE_DETACHED) {
        mazurka_before(point++, NULL);
        mazurka_after();
    }
    *(pthread_t *)mazurka_before(point, handle) = created;
    mazurka_after();
    return 0;
}

static int join(uint32_t point, pthread_t thread, void **returned) {
    mazurka_before(point, NULL);
    mazurka_wait_outside();
    int result = pthread_join(thread, returned);
    mazurka_waited_outside();
    mazurka_after();
    return result;
}

int mazurka_do_pthread_join(uint32_t point, pthread_t thread, void **value) {
    void *returned;
    int result = join(point, thread, &returned);
    if (result == 0 && value != NULL) {
        *(void **)mazurka_before(point + 1, value) = returned;
        mazurka_after();
    }
    return result;
}

struct c11_beginning {
    thrd_start_t function;
    void *argument;
};

static void *run_c11(void *raw) {
    struct c11_beginning beginning = *(struct c11_beginning *)raw;
    free(raw);
    return (void *)(intptr_t)beginning.function(beginning.argument);
}

/* Unlike pthread_create, it is one event: the new thread can rely on its handle. */
int mazurka_do_thrd_create(uint32_t point, thrd_t *handle, thrd_start_t function, void *argument) {
    pthread_t created;
    struct c11_beginning *beginning = malloc(sizeof *beginning);
    if (beginning == NULL)
        mazurka_stop("a thread could not be created");
    *beginning = (struct c11_beginning){function, argument};
    mazurka_before(point, NULL);
    if (mazurka_create_thread(&created, NULL, run_c11, beginning) != 0)
        mazurka_stop("a thread could not be created");
    *handle = created;
    mazurka_after();
    return thrd_success;
}

int mazurka_do_thrd_join(uint32_t point, thrd_t thread, int *value) {
    void *returned;
    if (join(point, thread, &returned) != 0)
        return thrd_error;
    if (value != NULL) {
        *(int *)mazurka_before(point + 1, value) = (int)(intptr_t)returned;
        mazurka_after();
    }
    return thrd_success;
}

_Noreturn void mazurka_do_thrd_exit(uint32_t point, int value) {
    mazurka_end_thread(point);
    thrd_exit(value);
}

_Noreturn void mazurka_do_pthread_exit(uint32_t point, void *value) {
    mazurka_end_thread(point);
    pthread_exit(value);
}

/* First it looks for functions to be called at exit. */
_Noreturn void mazurka_do_exit(uint32_t point, int status) {
    mazurka_before(point, NULL);
    mazurka_after();
    mazurka_before(point + 1, NULL);
    exit(status);
}

_Noreturn void mazurka_do__exit(uint32_t point, int status) {
    mazurka_before(point, NULL);
    _exit(status);
}

/* ------------------------------------------------------------------------------------------ atomic sections */

void mazurka_begin_call(uint32_t point) {
    mazurka_before(point, NULL);
    mazurka_begin_section();
}

void mazurka_end_call(void) {
    if (mazurka_end_section())
        mazurka_after();
}

void mazurka_do___VERIFIER_atomic_begin(uint32_t point) { mazurka_begin_call(point); }

void __VERIFIER_atomic_begin(void) { mazurka_begin_section(); }

void __VERIFIER_atomic_end(void) { mazurka_end_call(); }
