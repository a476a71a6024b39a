// expect: bug assertion
// line: 15
// facility: `shared_ptr`, `weak_ptr`, `unique_ptr`, atomic access to `shared_ptr`
// The counts of owners are safe, what is owned is not.
#include <cassert>
#include <memory>
#include <thread>

int main() {
    auto number = std::make_shared<int>(0);
    std::thread other([number] { ++*number; });
    ++*number;
    other.join();

    assert(*number == 2);
}
