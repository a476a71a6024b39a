// expect: ok
// traces: 1
// What the C++ library throws, and what it does about exceptions of the program in the middle of its work.
#include <any>
#include <cassert>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

struct Fragile {
    int number;
    explicit Fragile(int n) : number(n) {
        if (n == 3)
            throw std::string("three");
    }
    Fragile(const Fragile &other) : number(other.number) {
        if (number == 2)
            throw 2;
    }
};

template <class Exception, class Function> static bool throws(Function function) {
    try {
        function();
        return false;
    } catch (const Exception &) {
        return true;
    }
}

int main() {
    std::vector<Fragile> vector;
    vector.reserve(4);
    for (int i = 0; i < 4; i++)
        assert(throws<std::string>([&] { vector.emplace_back(i); }) == (i == 3));
    assert(vector.size() == 3);
    assert(throws<int>([&] { std::vector<Fragile> copy(vector); }));
    std::map<std::string, int> map{{"a", 1}};
    assert(throws<std::out_of_range>([&] { map.at("b"); }));
    std::optional<int> nothing;
    assert(throws<std::bad_optional_access>([&] { nothing.value(); }));
    std::variant<int, std::string> variant = 1;
    assert(throws<std::bad_variant_access>([&] { std::get<std::string>(variant); }));
    std::any any = 1;
    assert(throws<std::bad_any_cast>([&] { std::any_cast<long>(any); }));
    std::function<void()> function;
    assert(throws<std::bad_function_call>([&] { function(); }));
    std::weak_ptr<int> weak;
    assert(throws<std::bad_weak_ptr>([&] { std::shared_ptr<int> shared(weak); }));
    assert(throws<std::invalid_argument>([] { std::stoi("x"); }));
    assert(throws<std::length_error>([] { std::vector<int>().reserve(~0ul); }));
    assert(throws<std::out_of_range>([] { std::string("abc").substr(5); }));
}
