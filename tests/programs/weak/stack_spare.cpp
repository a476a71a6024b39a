// expect: ok
// weakened: -DPUSH=std::memory_order_relaxed -> race; sc: race
// weakened: -DTAKE_ALL=std::memory_order_relaxed -> race; sc: race
// unbroken: -DLOOK=std::memory_order_acquire
// A stack of which all nodes are taken at once, so that nobody ever looks into a node that is on
// it: there is no problem of ABA.
#include <atomic>
#include <cassert>
#include <memory>
#include <thread>

// Releases the node.
#ifndef PUSH
#define PUSH std::memory_order_release
#endif
// Acquires all nodes: each push is in the release sequences of those below.
#ifndef TAKE_ALL
#define TAKE_ALL std::memory_order_acquire
#endif
// What is below the new node is not looked at.
#ifndef LOOK
#define LOOK std::memory_order_relaxed
#endif

struct Node {
    int value;
    Node* next;
};

class Stack {
public:
    void push(int value) {
        auto* node = new Node{value, top.load(LOOK)};
        while (!top.compare_exchange_strong(node->next, node, PUSH, LOOK))
            ;
    }
    int take_all() {
        int sum = 0;
        for (std::unique_ptr<Node> node(top.exchange(nullptr, TAKE_ALL)); node; node.reset(node->next))
            sum += node->value;
        return sum;
    }

private:
    std::atomic<Node*> top{nullptr};
};

static Stack stack;

int main() {
    int some = 0;
    std::thread first([] { stack.push(1); });
    std::thread second([] { stack.push(2); });
    std::thread taker([&some] { some = stack.take_all(); });
    first.join();
    second.join();
    taker.join();
    assert(some + stack.take_all() == 3);
}
