// expect: bug sync
// line: 8
// message: joins itself
#include <pthread.h>
#include <stddef.h>

int main(void) {
    pthread_join(pthread_self(), NULL);
    return 0;
}
