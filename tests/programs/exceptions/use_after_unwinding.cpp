// expect: bug memory
// message: after its function
// A reference to a local variable outlives it: the exception has ended its function.
struct Failure {
    int *where;
};

static void work() {
    int local = 1;
    throw Failure{&local};
}

int main() {
    try {
        work();
    } catch (const Failure &failure) {
        return *failure.where - 1;
    }
}
