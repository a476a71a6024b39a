// expect: incomplete limit
// message: --stdin
#include <stdio.h>

int main(void) { return getchar() == 'x'; }
