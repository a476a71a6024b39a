// expect: ok
#include <assert.h>
#include <string.h>

struct flags {
    unsigned ready : 1;
    unsigned mode : 3;
    signed level : 4;
    unsigned : 0;
    unsigned rest : 20;
};

int main(void) {
    struct flags flags;
    memset(&flags, 0, sizeof flags);
    flags.ready = 1;
    flags.mode = 9;
    flags.level = -3;
    flags.rest = 0xfffff;
    flags.rest += 2;
    assert(flags.ready == 1 && flags.mode == 1 && flags.level == -3 && flags.rest == 1);
    flags.level = 7;
    flags.mode--;
    assert(flags.level == 7 && flags.mode == 0 && flags.ready);
    assert(sizeof flags == 8);
    return 0;
}
