// expect: incomplete limit
// line: 8
// message: system calls
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
    return (int)syscall(SYS_reboot, 0, 0, 0);
}
