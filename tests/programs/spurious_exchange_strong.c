// expect: ok
// check: --spurious
// A strong one does not fail.
#include <assert.h>
#include <stdatomic.h>

int main(void) {
    atomic_int owner = 0;
    int nobody = 0;
    assert(atomic_compare_exchange_strong(&owner, &nobody, 1));
    return 0;
}
