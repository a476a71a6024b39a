// expect: bug abort
// line: 8
// message: uncaught exception of type std::logic_error: too early
// Nobody catches what the constructor of a static object throws.
#include <stdexcept>

struct Configuration {
    Configuration() { throw std::logic_error("too early"); }
};

static Configuration configuration;

int main() {}
