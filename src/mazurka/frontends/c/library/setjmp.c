/* Jumps between functions. What setjmp puts into a jmp_buf, the front end says (translate/builtins.py): an object that
 * lives as long as the call to come back to, and which of its landings it is. The mask of signals is not kept. */
#include <setjmp.h>

#include "mazurka.h"

struct target {
    const void *call;
    unsigned long landing;
};

static _Noreturn void jump(const struct target *target, int value) {
    __mazurka_long_jump(target->call, target->landing, value ? value : 1);
}

_Noreturn void longjmp(jmp_buf buffer, int value) { jump((const struct target *)buffer, value); }

_Noreturn void _longjmp(jmp_buf buffer, int value) { jump((const struct target *)buffer, value); }

_Noreturn void siglongjmp(sigjmp_buf buffer, int value) { jump((const struct target *)buffer, value); }
