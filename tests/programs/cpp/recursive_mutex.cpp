// expect: ok
// facility: `mutex`, `recursive_mutex`, `lock_guard`, `unique_lock`, `scoped_lock`
// A recursive mutex is taken again by a function that its holder calls.
#include <cassert>
#include <mutex>
#include <thread>

class Tree {
    std::recursive_mutex mutex;
    int size = 0;

  public:
    void add() {
        std::lock_guard<std::recursive_mutex> guard(mutex);
        size++;
    }
    void add_two() {
        std::lock_guard<std::recursive_mutex> guard(mutex);
        add();
        add();
    }
    int count() {
        std::lock_guard<std::recursive_mutex> guard(mutex);
        return size;
    }
};

int main() {
    Tree tree;
    std::thread other([&] { tree.add_two(); });
    int seen = tree.count();
    assert(seen == 0 || seen == 2);
    other.join();
    assert(tree.count() == 2);
}
