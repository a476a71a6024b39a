// expect: bug assertion
// Found by the explorers only if sections are reversed in every order.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void);
sem_t s; _Atomic int x;
void *t1(void *a){ x = 1; return 0; }
void *t2(void *a){ sem_post(&s); return 0; }
void *t3(void *a){ __VERIFIER_atomic_begin(); sem_wait(&s); int r = x; __VERIFIER_atomic_end(); assert(r != 0); return 0; }
int main(){ pthread_t a,b,c; sem_init(&s,0,0); pthread_create(&a,0,t1,0); pthread_create(&b,0,t2,0); pthread_create(&c,0,t3,0); return 0; }
