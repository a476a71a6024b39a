// expect: bug memory
// message: call of a null function pointer
#include <pthread.h>
#include <stddef.h>

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, NULL, NULL);
    return 0;
}
