// expect: bug memory
// facility: `string`, `string_view`
// Two threads append to the same string: one may write to the buffer that the other one has just given back.
#include <string>
#include <thread>

int main() {
    std::string text = "of more than twenty-two characters";
    auto append = [&] { text += "and it grows beyond what was reserved for it at first"; };
    std::thread other(append);
    append();
    other.join();
}
