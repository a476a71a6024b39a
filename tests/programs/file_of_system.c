// expect: incomplete limit
// line: 8
// Devices are there on every system, and not here: that is not taken for a system without them.
#include <assert.h>
#include <fcntl.h>

int main(void) {
    assert(open("/dev/null", O_WRONLY) >= 0);
    return 0;
}
