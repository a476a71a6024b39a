// expect: bug memory
// line: 13
// message: index -1
static struct {
    int size;
    int matrix[2][3];
    long rest;
} table;

int main(void) {
    volatile int column = 2;
    table.matrix[1][column] = 7;
    table.matrix[1][column - 3] = 8;
    return 0;
}
