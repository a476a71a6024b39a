// expect: bug memory
// line: 6
static int sum(const int *numbers, int count) {
    int total = 0;
    for (int i = count; i >= -1; i--)
        total += i == count ? 0 : numbers[i];
    return total;
}

int main(void) {
    int numbers[3] = {1, 2, 3};
    return sum(numbers, 3);
}
