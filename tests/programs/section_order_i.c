// expect: ok
// traces: 6
// Sections that touch other things in other orders.
#include <assert.h>
#include <pthread.h>
void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void);
_Atomic int x, y;
int r1=9,r2=9,r3=9;
void *t1(void *a){ int e = 0; __atomic_compare_exchange_n((int*)&x,&e,1,0,5,5); return 0; }
void *t2(void *a){ return 0; }
void *t3(void *a){ y = 0; return 0; }
int main(){ pthread_t a,b,c; pthread_create(&a,0,t1,0); pthread_create(&b,0,t2,0); pthread_create(&c,0,t3,0);
 __VERIFIER_atomic_begin(); if (y==0) x=1; else (void)x; __VERIFIER_atomic_end();
 __VERIFIER_atomic_begin(); if (x==0) y=0; else (void)*(volatile int*)&y; __VERIFIER_atomic_end();
 return 0; }
