/* What a process finds around it: the root of the file system is its folder. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

char *getcwd(char *buffer, size_t size) {
    if (!buffer)
        buffer = malloc(size = size ? size : 2);
    if (size < 2) {
        errno = ERANGE;
        return NULL;
    }
    buffer[0] = '/';
    buffer[1] = '\0';
    return buffer;
}

/* Handlers run on the stack of whoever raises their signals. */
int sigaltstack(const stack_t *restrict stack, stack_t *restrict before) {
    (void)stack;
    if (before) {
        before->ss_sp = NULL;
        before->ss_flags = SS_DISABLE;
        before->ss_size = 0;
    }
    return 0;
}
