// expect: ok
// facility: `thread`, `vector` of threads
// A thread takes copies of its arguments, or what std::ref refers to; a method and its object will do.
#include <cassert>
#include <functional>
#include <memory>
#include <string>
#include <thread>

struct Account {
    int balance = 0;
    void deposit(int amount) { balance += amount; }
};

static void add(int &sum, std::unique_ptr<int> number, const std::string &text) {
    sum += *number + static_cast<int>(text.size());
}

int main() {
    int sum = 1;
    std::thread adder(add, std::ref(sum), std::make_unique<int>(4), "three");
    Account account;
    std::thread depositor(&Account::deposit, &account, 7);
    std::thread moved = std::move(adder);
    assert(!adder.joinable() && moved.joinable());
    moved.join();
    depositor.join();
    assert(sum == 10 && account.balance == 7);
}
