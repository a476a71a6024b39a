// expect: bug memory
// facility: `shared_ptr`, `weak_ptr`, `unique_ptr`, atomic access to `shared_ptr`
// One pointer is read by one thread while another one replaces it: its object may be gone.
#include <memory>
#include <thread>

std::shared_ptr<int> current = std::make_shared<int>(1);

int main() {
    std::thread reader([] { std::shared_ptr<int> copy = current; });
    current = std::make_shared<int>(2);
    reader.join();
}
