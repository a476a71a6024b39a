// expect: ok
#include <assert.h>
#include <stdint.h>

union value {
    uint32_t word;
    uint8_t bytes[4];
    float real;
    struct {
        uint16_t low, high;
    };
};

int main(void) {
    union value value = {.word = 0x11223344};
    assert(value.bytes[0] == 0x44 && value.bytes[3] == 0x11 && value.low == 0x3344 && value.high == 0x1122);
    value.real = 1.0f;
    assert(value.word == 0x3f800000);
    value.bytes[3] |= 0x80;
    assert(value.real == -1.0f);
    union value copy = value;
    copy.high = 0;
    assert(copy.word == 0 && value.word != 0);
    return 0;
}
