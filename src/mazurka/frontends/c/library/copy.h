/* Copying and filling, as the front end and other models call it. */
#ifndef MAZURKA_COPY_H
#define MAZURKA_COPY_H

#include <stdint.h>

#include "mazurka.h"

void __mazurka_copy(void *to, const void *from, uint64_t size, uint64_t unit);
void __mazurka_move(void *to, const void *from, uint64_t size, uint64_t unit);
void __mazurka_fill(void *to, uint64_t byte, uint64_t size);

#endif
