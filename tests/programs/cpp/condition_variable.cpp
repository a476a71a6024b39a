// expect: ok
// facility: `condition_variable`, `condition_variable_any`
// A queue that waits while it is empty.
#include <cassert>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

class Queue {
    std::mutex mutex;
    std::condition_variable filled;
    std::deque<int> items;

  public:
    void push(int item) {
        {
            std::lock_guard<std::mutex> guard(mutex);
            items.push_back(item);
        }
        filled.notify_one();
    }
    int pop() {
        std::unique_lock<std::mutex> lock(mutex);
        filled.wait(lock, [this] { return !items.empty(); });
        int item = items.front();
        items.pop_front();
        return item;
    }
};

int main() {
    Queue queue;
    std::thread producer([&] {
        queue.push(1);
        queue.push(2);
    });
    assert(queue.pop() == 1);
    assert(queue.pop() == 2);
    producer.join();
}
