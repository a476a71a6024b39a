/* The destructors of C++ objects that are thread-local. The compiler registers each when its object has been made. They
 * run when their thread ends, before those of thread-specific data, the latest first; those of the thread that ends the
 * process run before whatever was registered with `atexit`. */
#include <stddef.h>

#include "mazurka.h"
#include "unwinding.h"

#define MOST_OBJECTS 256

struct object {
    void (*destructor)(void *);
    void *address;
};

static _Thread_local unsigned count;
static _Thread_local struct object objects[MOST_OBJECTS];

int __cxa_thread_atexit(void (*destructor)(void *), void *address, void *library) {
    (void)library;
    if (count == MOST_OBJECTS)
        __mazurka_fail("abort", "more than 256 thread-local objects with destructors are not supported");
    objects[count].destructor = destructor;
    objects[count].address = address;
    count++;
    return 0;
}

/* In programs that have such objects, this is the first that the end of a thread calls (frontends/c/__init__.py). No
 * handler is for what their destructors throw. */
void __mazurka_destroy_thread_locals(void) {
    __mazurka_handlers = NULL;
    while (count) {
        struct object last = objects[--count];
        last.destructor(last.address);
    }
}
