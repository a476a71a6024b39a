// expect: bug deadlock
// message: pipe
// The writing end is still open when nobody will write any more.
#include <unistd.h>

int main(void) {
    int ends[2];
    char byte;
    pipe(ends);
    write(ends[1], "x", 1);
    while (read(ends[0], &byte, 1) > 0)
        ;
    return 0;
}
