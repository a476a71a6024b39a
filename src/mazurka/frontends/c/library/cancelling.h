/* What the functions do at which POSIX lets a thread be cancelled. Programs that never cancel one are spared it. */
#ifndef MAZURKA_CANCELLING_H
#define MAZURKA_CANCELLING_H

#include "waiting.h"

/* Whether this thread has to end here, although it could go on if it is `ready`: both may happen. Only in an atomic
 * section, before what the thread waits for. */
_Bool __mazurka_cancelled_in_section(_Bool ready);

/* End this thread, if that was asked for. The beginning of what is a cancellation point. */
void __mazurka_cancellation_point(void);
_Noreturn void __mazurka_end_cancelled(void);

#define CANCELLATION_POINT()                                                                                           \
    do {                                                                                                               \
        if (__mazurka_named("pthread_cancel"))                                                                         \
            __mazurka_cancellation_point();                                                                            \
    } while (0)

#endif
