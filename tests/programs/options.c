// expect: ok
// options: -DSIZE=3 -D NAME="abc" -UUNWANTED -DUNWANTED -UUNWANTED -std=c11
#include <assert.h>

#ifdef UNWANTED
#error "should be undefined"
#endif

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

int main(void) {
    assert(SIZE == 3 && sizeof TEXT(NAME) == 4 && __STDC_VERSION__ == 201112L);
    return 0;
}
