// expect: bug memory
// line: 19
// message: out of bounds: index 2 of the member array
// Behind the last row there is none, but its address may be taken: rows are gone through with pointers.
struct board {
    int cells[2][3];
    long moves;
};

static struct board board;

int main(void) {
    struct board *shown = &board;
    volatile int rows = 2;
    int count = 0;
    for (int *cell = shown->cells[0]; cell < shown->cells[rows]; cell++)
        count++;
    if (count == 6)
        return shown->cells[rows][0];
    return 0;
}
