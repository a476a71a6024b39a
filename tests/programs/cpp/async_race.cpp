// expect: bug assertion
// line: 14
// facility: `future`, `promise`, `async`, `packaged_task`
// What a future's thread writes is read before anybody waits for it.
#include <cassert>
#include <future>

int result;

int main() {
    auto task = std::async(std::launch::async, [] { result = 1; });
    int early = result;
    task.wait();
    assert(early == 1);
}
