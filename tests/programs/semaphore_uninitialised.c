// expect: bug sync
// line: 9
// message: never initialised
#include <semaphore.h>

static sem_t semaphore;

int main(void) {
    sem_post(&semaphore);
    return 0;
}
