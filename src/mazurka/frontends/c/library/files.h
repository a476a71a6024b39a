/* Streams: a descriptor, and what was seen of it. Nothing is buffered, so that each operation on a stream is one on the
 * file, and a section keeps it in one piece, as the lock of a stream does. */
#ifndef MAZURKA_FILES_H
#define MAZURKA_FILES_H

#include <stdio.h>

#include "waiting.h"

struct stream {
    int descriptor;
    int pushed_back; /* a character plus 1; 0: none */
    _Bool at_end, failed;
};
_Static_assert(sizeof(struct stream) <= sizeof(FILE), "layout");

INLINE struct stream *stream_of(FILE *stream) { return (struct stream *)stream; }

INLINE _Bool is_output(int descriptor) { return descriptor == 1 || descriptor == 2; }

/* As read and write, for all but the standard output. */
long __mazurka_read(int descriptor, void *to, size_t size);
long __mazurka_write(int descriptor, const void *from, size_t size);

#endif
