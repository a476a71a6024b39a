// expect: bug memory
// line: 12
// facility: `string`, `string_view`
// A view of a string that is gone.
#include <string>
#include <string_view>

static std::string make() { return "a text that is too long to be kept inside of the object"; }

int main() {
    std::string_view view = make();
    return view[0] == 'b';
}
