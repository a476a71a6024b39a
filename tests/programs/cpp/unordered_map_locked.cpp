// expect: ok
// facility: containers and algorithms
// A cache behind a mutex.
#include <cassert>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

class Cache {
    std::mutex mutex;
    std::unordered_map<std::string, int> entries;

  public:
    int computed = 0;
    int get(const std::string &key) {
        std::lock_guard<std::mutex> guard(mutex);
        auto found = entries.find(key);
        if (found == entries.end()) {
            computed++;
            found = entries.emplace(key, static_cast<int>(key.size())).first;
        }
        return found->second;
    }
};

int main() {
    Cache cache;
    std::thread other([&] { assert(cache.get("four") == 4); });
    assert(cache.get("four") == 4);
    other.join();
    assert(cache.computed == 1);
}
