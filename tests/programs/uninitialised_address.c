// expect: bug memory
// line: 9
// message: never written
int main(void) {
    int numbers[2] = {1, 2};
    int indexes[2];
    int *where = &indexes[0];
    where[0] = 1;
    return numbers[where[1]];
}
