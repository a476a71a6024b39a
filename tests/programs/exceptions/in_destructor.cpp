// expect: bug abort
// line: 8
// message: uncaught exception of type int
// A destructor that throws while another exception is in flight ends the program.
struct Thrower {
    ~Thrower() noexcept(false) {
        if (armed)
            throw 2;
    }
    bool armed;
};

int main() {
    try {
        Thrower fine{false}, bad{true};
        throw 1;
    } catch (int) {
    }
}
