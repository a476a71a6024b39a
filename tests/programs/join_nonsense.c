// expect: bug sync
// line: 8
// message: handle
#include <pthread.h>
#include <stddef.h>

int main(void) {
    pthread_join((pthread_t)12345, NULL);
    return 0;
}
