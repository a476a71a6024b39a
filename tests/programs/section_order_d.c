// expect: bug assertion
// Found by the explorers only if sections are reversed in every order.
#include <assert.h>
#include <pthread.h>
void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int x;
void *t1(void *a){ __VERIFIER_atomic_begin(); pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m); __VERIFIER_atomic_end(); return 0; }
void *t2(void *a){ pthread_mutex_lock(&m); int r = x; pthread_mutex_unlock(&m); assert(r != 0); return 0; }
int main(){ pthread_t a,b; pthread_create(&a,0,t1,0); pthread_create(&b,0,t2,0); return 0; }
