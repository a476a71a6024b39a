// expect: bug abort
// line: 6
// message: uncaught exception of type const char*
// An exception may not leave a function that is noexcept, whoever would catch it.
static void deliver(bool broken) {
    if (broken) throw "broken";
}

static void send(bool broken) noexcept { deliver(broken); }

int main() {
    try {
        send(false);
        send(true);
    } catch (...) {
    }
}
