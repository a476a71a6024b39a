// expect: bug memory
// line: 10
// facility: `shared_ptr`, `weak_ptr`, `unique_ptr`, atomic access to `shared_ptr`
// What was moved into a thread is not there any more.
#include <memory>
#include <thread>

int main() {
    auto number = std::make_unique<int>(1);
    auto use = [](std::unique_ptr<int> &pointer) { ++*pointer; };
    std::thread thread([own = std::move(number)] { ++*own; });
    use(number);
    thread.join();
}
