// expect: ok
// A stack without locks, whose nodes are never freed.
#include <atomic>
#include <cassert>
#include <pthread.h>
#include <sched.h>

template <typename T>
class Stack {
public:
    void push(T value) {
        Node *node = new Node{value, head_.load()};
        while (!head_.compare_exchange_weak(node->next, node)) {
        }
    }
    bool pop(T &value) {
        Node *node = head_.load();
        while (node && !head_.compare_exchange_weak(node, node->next)) {
        }
        if (!node)
            return false;
        value = node->value;
        return true; // the node is kept: somebody may look at it
    }

private:
    struct Node {
        T value;
        Node *next;
    };
    std::atomic<Node *> head_{nullptr};
};

static Stack<int> stack;
static std::atomic<int> sum{0};

static void *push(void *value) {
    stack.push(static_cast<int>(reinterpret_cast<long>(value)));
    return nullptr;
}

static void *pop(void *) {
    int value = 0;
    if (stack.pop(value))
        sum += value;
    return nullptr;
}

int main() {
    pthread_t threads[3];
    pthread_create(&threads[0], nullptr, push, reinterpret_cast<void *>(1));
    pthread_create(&threads[1], nullptr, push, reinterpret_cast<void *>(2));
    pthread_create(&threads[2], nullptr, pop, nullptr);
    for (pthread_t &thread : threads)
        pthread_join(thread, nullptr);
    int rest;
    while (stack.pop(rest))
        sum += rest;
    assert(sum == 3);
}
