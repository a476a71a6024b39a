// expect: ok
// options: -std=c++20
// facility: `counting_semaphore`, `binary_semaphore`
// At most one at a time; a signal from one thread to another.
#include <cassert>
#include <semaphore>
#include <thread>

std::counting_semaphore<2> places(1);
std::binary_semaphore done(0);
int inside;

static void enter() {
    places.acquire();
    inside++;
    assert(inside == 1);
    inside--;
    places.release();
}

int main() {
    std::thread thread([] {
        enter();
        done.release();
    });
    enter();
    done.acquire();
    thread.join();
}
