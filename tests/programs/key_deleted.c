// expect: bug sync
// line: 11
// message: deleted
#include <pthread.h>
#include <stddef.h>

int main(void) {
    pthread_key_t key;
    pthread_key_create(&key, NULL);
    pthread_key_delete(key);
    pthread_setspecific(key, &key);
    return 0;
}
