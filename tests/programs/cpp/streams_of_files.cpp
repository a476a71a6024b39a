// expect: ok
// facility: `iostream`, `sstream`
// What is written to a file, and read from it again.
#include <cassert>
#include <fstream>
#include <string>

int main() {
    {
        std::ofstream out("numbers");
        out << "ab " << 12 << "\n"
            << "second line\n";
        assert(out.good());
    }
    {
        std::ifstream in("numbers");
        std::string text;
        int number = 0;
        in >> text >> number;
        assert(text == "ab" && number == 12);
        std::getline(in, text);
        std::getline(in, text);
        assert(text == "second line" && !std::getline(in, text));
    }
    assert(!std::ifstream("nothing"));
    std::fstream both("numbers", std::ios::in | std::ios::out);
    both.seekp(3);
    both << "99";
    both.seekg(0);
    std::string text;
    int number = 0;
    both >> text >> number;
    assert(number == 99);
}
