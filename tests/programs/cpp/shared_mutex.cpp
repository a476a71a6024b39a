// expect: ok
// facility: `shared_mutex`, `shared_lock`
// Readers share, a writer is alone.
#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <thread>

std::shared_mutex mutex;
int left = 1, right = 1;

static void read() {
    std::shared_lock<std::shared_mutex> lock(mutex);
    assert(left == right);
}

int main() {
    std::thread reader(read);
    std::thread writer([] {
        std::unique_lock<std::shared_mutex> lock(mutex);
        left++;
        right++;
    });
    reader.join();
    writer.join();
    read();
}
