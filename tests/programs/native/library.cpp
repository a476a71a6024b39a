// What the standard library does in one thread, printed: every implementation of it prints the same.
#include <algorithm>
#include <array>
#include <bitset>
#include <cctype>
#include <deque>
#include <functional>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <sstream>
#include <stack>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>
template <class C> void show(const char *what, const C &c) {
    std::cout << what << ':';
    for (const auto &x : c)
        std::cout << ' ' << x;
    std::cout << '\n';
}
struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};
struct Square : Shape {
    double s;
    explicit Square(double s) : s(s) {}
    double area() const override { return s * s; }
};
struct Rect : Shape {
    double a, b;
    Rect(double a, double b) : a(a), b(b) {}
    double area() const override { return a * b; }
};
int main() {
    std::vector<int> v(20);
    std::iota(v.begin(), v.end(), -5);
    std::mt19937 gen(42);
    for (auto &x : v)
        x = static_cast<int>(gen() % 100);
    show("random", v);
    std::sort(v.begin(), v.end());
    show("sorted", v);
    std::stable_sort(v.begin(), v.end(), std::greater<int>());
    show("down", v);
    std::nth_element(v.begin(), v.begin() + 5, v.end());
    std::cout << v[5] << '\n';
    std::sort(v.begin(), v.end());
    std::cout << std::count_if(v.begin(), v.end(), [](int x) { return x % 2; }) << ' '
              << *std::max_element(v.begin(), v.end()) << ' ' << (std::find(v.begin(), v.end(), 1000) == v.end())
              << '\n';
    v.erase(std::unique(v.begin(), v.end()), v.end());
    std::reverse(v.begin(), v.end());
    std::rotate(v.begin(), v.begin() + 3, v.end());
    std::partition(v.begin(), v.end(), [](int x) { return x < 50; });
    std::sort(v.begin(), v.end());
    show("set", v);
    std::make_heap(v.begin(), v.end());
    std::pop_heap(v.begin(), v.end());
    std::cout << v.back() << '\n';
    std::map<std::string, int> m;
    for (auto w : {"one", "two", "three", "two", "one", "two"})
        ++m[w];
    for (auto &[k, n] : m)
        std::cout << k << '=' << n << ';';
    std::cout << '\n';
    std::unordered_map<int, std::string> u;
    for (int i = 0; i < 50; i++)
        u[i * 7] = std::to_string(i);
    std::cout << u.size() << ' ' << u[70] << ' ' << u.count(8) << '\n';
    std::multiset<char> ms;
    for (char c : std::string("mississippi"))
        ms.insert(c);
    show("letters", ms);
    std::list<int> l{3, 1, 2};
    l.sort();
    l.splice(l.begin(), std::list<int>{9, 8});
    show("list", l);
    std::deque<int> d;
    for (int i = 0; i < 600; i++)
        (i % 2 ? d.push_back(i) : d.push_front(i));
    std::cout << d.front() << ' ' << d.back() << ' ' << d[300] << ' ' << d.size() << '\n';
    std::string s = "The quick brown fox";
    std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return std::toupper(c); });
    std::cout << s << ' ' << s.find("BROWN") << ' ' << s.substr(4, 5) << '\n';
    std::istringstream words("alpha beta gamma 12 13 x");
    std::vector<std::string> ws{std::istream_iterator<std::string>(words), {}};
    show("words", ws);
    std::ostringstream o;
    o << std::setw(8) << 42 << '|' << std::left << std::setw(8) << 42 << '|' << std::hex << std::showbase << 255 << '|'
      << std::oct << 8 << '|' << std::dec << 1.5 << '|' << std::fixed << std::setprecision(2) << 3.14159 << '|'
      << std::scientific << 12345.678 << '|' << std::boolalpha << true;
    std::cout << o.str() << '\n';
    std::bitset<16> b("1010");
    b.set(7);
    std::cout << b << ' ' << b.count() << ' ' << b.to_ulong() << '\n';
    std::variant<int, double, std::string> var = 2.5;
    std::visit([](auto &&x) { std::cout << x << '\n'; }, var);
    var = std::string("str");
    std::visit([](auto &&x) { std::cout << x << '\n'; }, var);
    std::optional<std::string> op;
    std::cout << op.value_or("none") << '\n';
    std::vector<std::unique_ptr<Shape>> shapes;
    shapes.push_back(std::make_unique<Square>(2));
    shapes.push_back(std::make_unique<Rect>(2, 3.5));
    double total = 0;
    for (auto &p : shapes)
        total += p->area();
    std::cout << total << '\n';
    std::function<int(int)> fib = [&](int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); };
    std::cout << fib(15) << '\n';
    auto t = std::make_tuple(1, 'c', std::string("t"));
    std::cout << std::get<1>(t) << std::get<2>(t) << '\n';
    std::vector<bool> vb(70, true);
    vb[3] = false;
    vb.flip();
    std::cout << std::count(vb.begin(), vb.end(), true) << '\n';
    long long big = 0;
    std::istringstream("-9223372036854775808") >> big;
    std::cout << big << '\n';
    unsigned char uc = 'a';
    std::cout << uc << ' ' << static_cast<void *>(nullptr) << '\n';
    int bad = 7;
    std::istringstream fails("xyz");
    fails >> bad;
    std::cout << bad << ' ' << fails.fail() << '\n';
    bool bo;
    std::istringstream("1") >> bo;
    std::cout << bo << '\n';
    int hx;
    std::istringstream("ff") >> std::hex >> hx;
    std::cout << hx << '\n';
    auto sp = std::make_shared<std::string>("shared");
    std::weak_ptr<std::string> wp = sp;
    auto sp2 = sp;
    std::cout << sp.use_count() << *wp.lock() << '\n';
    std::priority_queue<int, std::vector<int>, std::greater<int>> pq;
    for (int x : {5, 1, 4})
        pq.push(x);
    while (!pq.empty()) {
        std::cout << pq.top() << ' ';
        pq.pop();
    }
    std::cout << '\n';
    std::cout << std::accumulate(v.begin(), v.end(), 0LL) << ' ' << std::inner_product(v.begin(), v.end(), v.begin(), 0)
              << ' ' << std::gcd(12, 18) << '\n';
    std::string ln;
    std::istringstream lines("a b\nc\n\nd");
    int n = 0;
    while (std::getline(lines, ln))
        std::cout << n++ << '[' << ln << ']';
    std::cout << std::endl;
}
