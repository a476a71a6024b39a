/* One-time initialisation: a word that says not yet, done, or which thread is at it (whom the others await). */
#include <pthread.h>

#include "waiting.h"

enum { NOT_YET = 0, DONE = 1, RUNNING = 2 }; /* running: the slot of the thread is in the higher bits */

int pthread_once(pthread_once_t *once, void (*routine)(void)) {
    __mazurka_atomic_begin();
    int state = *once;
    struct mazurka_thread *runner = thread_in((unsigned)state >> 2);
    __mazurka_await((state & 3) != RUNNING, "once", once, runner);
    if (state == NOT_YET)
        *once = (int)(slot_of(__mazurka_self()) << 2 | RUNNING);
    __mazurka_atomic_end();
    if (state == NOT_YET) {
        routine();
        __mazurka_atomic_begin(); /* an event even while there is one thread, as the first section is */
        *once = DONE;
        __mazurka_atomic_end();
    }
    return 0;
}
