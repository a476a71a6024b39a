// expect: refused inline assembly
// Its atomic operations are written in assembly.
#include <stdbool.h>
#include <ck_ring.h>
int main(void) {
    ck_ring_t ring;
    ck_ring_buffer_t buffer[2];
    ck_ring_init(&ring, 2);
    int x;
    return !ck_ring_enqueue_spsc(&ring, buffer, &x);
}
