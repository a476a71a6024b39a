// expect: ok
// facility: `shared_ptr`, `weak_ptr`, `unique_ptr`, atomic access to `shared_ptr`
// The same by the functions for atomic access, which lock.
#include <cassert>
#include <memory>
#include <thread>

std::shared_ptr<int> current = std::make_shared<int>(1);

int main() {
    std::thread reader([] {
        std::shared_ptr<int> copy = std::atomic_load(&current);
        assert(*copy == 1 || *copy == 2);
    });
    std::atomic_store(&current, std::make_shared<int>(2));
    reader.join();
}
