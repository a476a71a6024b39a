// expect: bug assertion
// check: --compat=esbmc --nondet=0..4
// line: 11
// message: not four
int main(void) {
    int number = nondet_int();
    __ESBMC_assume(number != 3);
    __ESBMC_atomic_begin();
    __ESBMC_assert(number < 5, "small");
    __ESBMC_atomic_end();
    __ESBMC_assert(number != 4, "not four");
    return 0;
}
