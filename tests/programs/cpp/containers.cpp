// expect: ok
// facility: containers and algorithms
// Containers of all kinds, used by one thread.
#include <algorithm>
#include <array>
#include <cassert>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

int main() {
    std::vector<int> numbers{5, 3, 8, 1};
    numbers.insert(numbers.begin() + 1, 9);
    numbers.erase(numbers.end() - 1);
    std::sort(numbers.begin(), numbers.end());
    assert((numbers == std::vector<int>{3, 5, 8, 9}));
    assert(std::accumulate(numbers.begin(), numbers.end(), 0) == 25);
    assert(std::binary_search(numbers.begin(), numbers.end(), 8));

    std::map<std::string, int> ages{{"ann", 30}, {"bob", 40}};
    ages["cid"] = 50;
    assert(ages.lower_bound("b")->second == 40 && ages.size() == 3 && ages.erase("ann") == 1);

    std::unordered_map<std::string, std::vector<int>> index;
    for (int i = 0; i < 20; i++)
        index[std::to_string(i % 4)].push_back(i);
    assert(index.size() == 4 && index.at("3").back() == 19);
    std::unordered_set<int> seen(numbers.begin(), numbers.end());
    assert(seen.count(9) == 1 && seen.count(4) == 0);

    std::deque<int> both{1};
    both.push_front(0);
    both.push_back(2);
    std::list<int> list(both.begin(), both.end());
    list.reverse();
    std::forward_list<int> one_way(list.begin(), list.end());
    assert(list.front() == 2 && one_way.front() == 2 && both[1] == 1);

    std::priority_queue<int> heap;
    for (int number : numbers)
        heap.push(number);
    assert(heap.top() == 9);
    std::set<std::pair<int, char>> pairs{{2, 'b'}, {1, 'a'}};
    auto [first, letter] = *pairs.begin();
    assert(first == 1 && letter == 'a');

    std::variant<int, std::string> either = "text";
    assert(std::get<std::string>(either) == "text" && either.index() == 1);
    std::optional<int> maybe;
    assert(maybe.value_or(3) == 3);
    std::array<int, 3> fixed{3, 2, 1};
    std::stable_sort(fixed.begin(), fixed.end());
    assert(std::get<0>(fixed) == 1 && std::tuple_size<decltype(fixed)>::value == 3);
}
