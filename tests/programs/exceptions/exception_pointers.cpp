// expect: ok
// An exception is caught in one thread and thrown again in another one; both share it.
#include <cassert>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

static std::exception_ptr kept;
static int destroyed;

struct Failure : std::runtime_error {
    using runtime_error::runtime_error;
    Failure(const Failure &) = default;
    ~Failure() { destroyed++; }
};

int main() {
    std::thread worker([] {
        try {
            throw Failure("lost");
        } catch (...) {
            kept = std::current_exception();
        }
    });
    worker.join();
    assert(kept && destroyed == 0);
    for (int round = 0; round < 2; round++) {
        try {
            std::rethrow_exception(kept);
        } catch (const std::exception &failure) {
            assert(failure.what()[0] == 'l');
        }
    }
    assert(destroyed == 0);
    kept = nullptr;
    assert(destroyed == 1);
    try {
        try {
            throw std::logic_error("inner");
        } catch (...) {
            std::throw_with_nested(std::runtime_error("outer"));
        }
    } catch (const std::runtime_error &outer) {
        try {
            std::rethrow_if_nested(outer);
            assert(false);
        } catch (const std::logic_error &inner) {
            assert(inner.what()[0] == 'i');
        }
    }
    auto made = std::make_exception_ptr(3);
    try {
        std::rethrow_exception(made);
    } catch (int number) {
        assert(number == 3);
    }
    assert(!std::current_exception());
}
