// expect: bug memory
// line: 8
// check: --leaks
// What `new` made is lost when an exception passes over `delete`.
static void check(int number) { if (number < 0) throw number; }

static void work(int number) {
    int *copy = new int(number);
    check(*copy);
    delete copy;
}

int main() {
    try {
        work(1);
        work(-1);
    } catch (int) {
    }
}
