// expect: ok
// races: 1
// facility: containers and algorithms
// Two threads look into a map while one of them writes to what it finds.
#include <map>
#include <thread>

int main() {
    std::map<int, int> map{{1, 1}, {2, 2}};
    std::thread other([&] { map.find(1)->second++; });
    int seen = map.find(1)->second;
    other.join();
    return seen > 2;
}
