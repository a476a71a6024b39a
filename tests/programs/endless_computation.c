// expect: incomplete too_many_instructions
// message: in the loop at
// A loop that never ends: an even number is never 1.
int main(void) {
    unsigned even = 0;
    while (even != 1)
        even += 2;
    return 0;
}
