/* errno: one per thread. */
#include <errno.h>

int *__errno_location(void) {
    static _Thread_local int error;
    return &error;
}
