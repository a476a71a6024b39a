// expect: ok
// facility: `string`, `string_view`
// Short and long strings, parts of them, conversions.
#include <cassert>
#include <string>
#include <string_view>

int main() {
    std::string text = "short";
    text += " and then longer than what fits into the object itself";
    assert(text.size() == 59 && text.find("longer") == 15);
    std::string_view part = std::string_view(text).substr(0, 5);
    assert(part == "short" && part < "thin");
    std::string copy = text;
    copy.replace(0, 5, "long");
    copy.insert(4, "er");
    assert(copy.rfind("longer and", 0) == 0 && copy.compare(text) < 0);
    assert(std::to_string(-42) + std::to_string(7u) == "-427");
    assert(std::stoi("123") == 123 && std::stoul("ff", nullptr, 16) == 255);
    std::string reversed(part.rbegin(), part.rend());
    assert(reversed == "trohs");
    text.clear();
    text.shrink_to_fit();
    assert(text.empty());
}
