// expect: ok
// facility: `iostream`, `sstream`
// What is printed, and what is read from strings.
#include <cassert>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>

int main() {
    std::ostringstream out;
    out << "x = " << 42 << ' ' << std::hex << 255 << std::dec << ' ' << std::setw(5) << std::setfill('*') << -7 << ' '
        << true << std::boolalpha << true;
    assert(out.str() == "x = 42 ff ***-7 1true");
    std::istringstream in("12 words 0x1f rest of the line\nnext");
    int number = 0;
    std::string word, line;
    in >> number >> word;
    assert(number == 12 && word == "words");
    std::getline(in, line);
    assert(line == " 0x1f rest of the line");
    in >> word;
    assert(word == "next" && in.eof() && !in.fail());
    std::cout << "done " << number << std::endl;
    std::cerr << "no error\n";
}
