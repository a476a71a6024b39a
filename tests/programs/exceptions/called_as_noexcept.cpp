// expect: bug abort
// line: 11
// message: an exception leaves a function that is called as one that never throws
// A pointer says that a function is noexcept, which it is not.
static void work() { throw 1; }

using Quiet = void (*)() noexcept;

static void call(Quiet quiet, int number) {
    if (number > 1) throw number;
    quiet();
}

int main() {
    try {
        call((Quiet)(void *)&work, 0);
    } catch (int) {
    }
}
