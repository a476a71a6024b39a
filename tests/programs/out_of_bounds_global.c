// expect: bug memory
// line: 8
static int table[4] = {1, 2, 3, 4};
static int next_to_it = 5;

int main(void) {
    volatile int index = 4;
    return table[index] + next_to_it;
}
