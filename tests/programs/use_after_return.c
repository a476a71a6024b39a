// expect: bug memory
// line: 11
static int *dangling(void) {
    int local = 1;
    int *address = &local;
    return address;
}

int main(void) {
    int *address = dangling();
    return *address;
}
