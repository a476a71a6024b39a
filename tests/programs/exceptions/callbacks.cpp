// expect: ok
// traces: 1
// Exceptions go through code in C, calls through pointers and virtual functions.
#include <cassert>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

static int compare(const void *, const void *) { throw 5; }

struct Task {
    virtual void run() = 0;
    virtual ~Task() {}
};
struct Quiet : Task {
    void run() override {}
};
struct Loud : Task {
    void run() override { throw 6; }
};

static int run(Task &task) {
    try {
        task.run();
        return 0;
    } catch (int thrown) {
        return thrown;
    }
}

int main() {
    int numbers[] = {3, 1, 2};
    try {
        std::qsort(numbers, 3, sizeof(int), compare);
        assert(false);
    } catch (int thrown) {
        assert(thrown == 5);
    }
    std::unique_ptr<Task> quiet = std::make_unique<Quiet>(), loud = std::make_unique<Loud>();
    assert(run(*quiet) == 0 && run(*loud) == 6);
    std::function<int(int)> half = [](int number) { return number % 2 ? throw number : number / 2; };
    assert(half(4) == 2);
    try {
        half(7);
    } catch (int number) {
        assert(number == 7);
    }
    std::vector<int> vector{1, 2};
    try {
        vector.at(2) = 0;
        assert(false);
    } catch (const std::out_of_range &) {
    }
}
