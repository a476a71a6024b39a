// expect: bug memory
// line: 14
// message: index 2 of a member array of 2 elements
struct pair {
    struct {
        int x, y;
    } points[2];
    int count;
};

int main(void) {
    struct pair pair = {.count = 3};
    struct pair *all = &pair;
    all->points[2].x = 1;
    return 0;
}
