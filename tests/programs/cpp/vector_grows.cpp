// expect: bug memory
// line: 12
// facility: containers and algorithms
// A reference to an element of a vector that has grown.
#include <vector>

int main() {
    std::vector<int> numbers{1};
    int &first = numbers[0];
    for (int i = 0; i < 3; i++)
        numbers.push_back(i);
    first++;
}
