// expect: bug deadlock
// line: 14
// facility: `mutex`, `recursive_mutex`, `lock_guard`, `unique_lock`, `scoped_lock`
// A mutex that is not recursive is taken by a function that its holder calls.
#include <mutex>
#include <thread>

class Tree {
    std::mutex mutex;
    int size = 0;

  public:
    void add() {
        std::lock_guard<std::mutex> guard(mutex);
        size++;
    }
    void add_two() {
        std::lock_guard<std::mutex> guard(mutex);
        add();
        add();
    }
};

int main() {
    Tree tree;
    std::thread other([&] { tree.add_two(); });
    other.join();
}
