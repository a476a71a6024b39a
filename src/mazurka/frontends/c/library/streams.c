/* Streams for files, and what is said of streams. (What is printed to the standard output is in stdio.c, what is read
 * in reading.c.) */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"

static int flags_of(const char *mode) {
    _Bool updates = strchr(mode, '+') != NULL;
    int exclusive = strchr(mode, 'x') ? O_EXCL : 0;
    switch (*mode) {
    case 'r':
        return updates ? O_RDWR : O_RDONLY;
    case 'w':
        return (updates ? O_RDWR : O_WRONLY) | O_CREAT | O_TRUNC | exclusive;
    case 'a':
        return (updates ? O_RDWR : O_WRONLY) | O_CREAT | O_APPEND | exclusive;
    }
    return -1;
}

FILE *fdopen(int descriptor, const char *mode) {
    (void)mode;
    struct stream *stream = malloc(sizeof *stream);
    if (stream) {
        struct stream fresh = {descriptor, 0, 0, 0};
        *stream = fresh;
    }
    return (FILE *)stream;
}

FILE *fopen(const char *restrict name, const char *restrict mode) {
    int flags = flags_of(mode);
    if (flags < 0) {
        errno = EINVAL;
        return NULL;
    }
    int descriptor = open(name, flags, 0644);
    return descriptor < 0 ? NULL : fdopen(descriptor, mode);
}

FILE *fopen64(const char *restrict name, const char *restrict mode) { return fopen(name, mode); }

FILE *tmpfile(void) {
    FILE *stream = fopen("/tmp/temporary", "w+");
    unlink("/tmp/temporary");
    return stream;
}

extern FILE *const standard_input __asm__("stdin");
extern FILE *const standard_output __asm__("stdout");
extern FILE *const standard_error __asm__("stderr");

int fclose(FILE *stream) {
    int result = close(stream_of(stream)->descriptor);
    if (stream != standard_input && stream != standard_output && stream != standard_error)
        free(stream);
    return result;
}

int fileno(FILE *stream) { return stream_of(stream)->descriptor; }

int feof(FILE *stream) {
    __mazurka_atomic_begin();
    _Bool result = stream_of(stream)->at_end;
    __mazurka_atomic_end();
    return result;
}

int ferror(FILE *stream) {
    __mazurka_atomic_begin();
    _Bool result = stream_of(stream)->failed;
    __mazurka_atomic_end();
    return result;
}

void clearerr(FILE *stream) {
    __mazurka_atomic_begin();
    stream_of(stream)->at_end = stream_of(stream)->failed = 0;
    __mazurka_atomic_end();
}

int fseeko(FILE *stream, off_t offset, int from) {
    __mazurka_atomic_begin();
    if (from == SEEK_CUR && stream_of(stream)->pushed_back)
        offset--;
    off_t result = lseek(stream_of(stream)->descriptor, offset, from);
    if (result >= 0) {
        stream_of(stream)->pushed_back = 0;
        stream_of(stream)->at_end = 0;
    }
    __mazurka_atomic_end();
    return result < 0 ? -1 : 0;
}

int fseek(FILE *stream, long offset, int from) { return fseeko(stream, offset, from); }

off_t ftello(FILE *stream) {
    __mazurka_atomic_begin();
    off_t result = lseek(stream_of(stream)->descriptor, 0, SEEK_CUR);
    if (result > 0 && stream_of(stream)->pushed_back)
        result--;
    __mazurka_atomic_end();
    return result;
}

long ftell(FILE *stream) { return ftello(stream); }

void rewind(FILE *stream) {
    fseek(stream, 0, SEEK_SET);
    clearerr(stream);
}
