// expect: bug assertion
// line: 16
// options: -std=c++20
// facility: `counting_semaphore`, `binary_semaphore`
// Two places, and code that is for one at a time.
#include <cassert>
#include <semaphore>
#include <thread>

std::counting_semaphore<2> places(2);
int inside;

static void enter() {
    places.acquire();
    inside++;
    assert(inside == 1);
    inside--;
    places.release();
}

int main() {
    std::thread thread(enter);
    enter();
    thread.join();
}
