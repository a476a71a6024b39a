// expect: ok
// facility: `iostream`, `sstream`
// All threads may print to the standard streams: that is no data race.
#include <iostream>
#include <thread>

int main() {
    std::thread thread([] { std::cout << "a\n"; });
    std::cout << "b\n";
    thread.join();
}
