// expect: bug assertion
// Found by the explorers only if sections are reversed in every order.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void); void __VERIFIER_assume(int);
atomic_int x, z;
void *t1(void *a){ atomic_fetch_add(&x, 1); return 0; }
void *t2(void *a){ z = 1; return 0; }
void *t3(void *a){
  __VERIFIER_atomic_begin();
  int r = z;
  if (r == 0) __VERIFIER_assume(x == 0);
  atomic_fetch_add(&x, 1);
  __VERIFIER_atomic_end();
  assert(r != 0);
  return 0; }
int main(){ pthread_t a,b,c; pthread_create(&a,0,t1,0); pthread_create(&b,0,t2,0); pthread_create(&c,0,t3,0); return 0; }
