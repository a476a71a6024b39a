"""Random sequential C++ programs that throw, catch and unwind, and print what happens.

A program is a hierarchy of exception types and some functions, each of which may call those after it. What a statement
does depends on a number that changes from call to call, so that one program takes many ways: `main` calls the first
function again and again. Every object that is made or destroyed, every handler that is entered and what it finds in the
exception is printed. Exceptions that nobody catches end the program, by a handler that prints and exits."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

_PRELUDE = """\
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <typeinfo>

static unsigned state = 1;
static unsigned dice(unsigned sides) {
    state = state * 1103515245u + 12345u;
    return state / 65536u % sides;
}

struct Noted {
    int number;
    explicit Noted(int n) : number(n) { std::printf("+%d ", n); }
    Noted(const Noted &other) : number(other.number + 1000) { std::printf("c%d ", number); }
    ~Noted() { std::printf("-%d(%d) ", number, std::uncaught_exceptions()); }
};

struct Fragile : Noted {
    Noted member;
    explicit Fragile(int n = 500) : Noted(n), member(n + 1) {
        if (dice(5) == 0)
            throw n;
    }
    ~Fragile() noexcept(false) {
        if (std::uncaught_exceptions() == 0 && dice(9) == 0)
            throw -number;
    }
};

[[noreturn]] static void terminated() {
    std::puts("terminated");
    std::fflush(stdout);
    std::_Exit(3);
}
"""


@dataclass
class _Types:
    """Classes with their bases, each with whether it is a virtual one; the first have none."""

    bases: list[list[tuple[int, bool]]] = field(default_factory=list)

    @staticmethod
    def random(r: random.Random) -> _Types:
        types = _Types()
        for number in range(r.randint(3, 7)):
            count = min(number, r.choice([0, 1, 1, 1, 2]))
            types.bases.append([(base, r.random() < 0.3) for base in sorted(r.sample(range(number), count))])
        return types

    def text(self) -> str:
        lines = []
        for number, bases in enumerate(self.bases):
            inherited = ", ".join(f"{'virtual ' if virtual else ''}T{base}" for base, virtual in bases)
            lines.append(
                f"struct T{number}{': ' + inherited if inherited else ''} {{\n"
                f"    int t{number};\n"
                f"    explicit T{number}(int n = 0) : t{number}(n + {number}) {{}}\n"
                f"    T{number}(const T{number} &) = default;\n"
                f'    virtual ~T{number}() {{ std::printf("~T{number} "); }}\n'
                f"    virtual int tag() const {{ return {number}; }}\n}};\n"
            )
        return "".join(lines)


class _Writer:
    def __init__(self, r: random.Random) -> None:
        self.r = r
        self.types = _Types.random(r)
        self.functions = r.randint(3, 6)
        self._objects = 0

    def program(self) -> str:
        functions = [self._function(number) for number in reversed(range(self.functions))]
        return (
            _PRELUDE
            + self.types.text()
            + "".join(functions)
            + "int main() {\n    std::set_terminate(terminated);\n    for (int round = 0; round < 25; round++) {\n"
            + '        try {\n            std::printf("%d: ", round);\n            std::printf("=%d", f0(round));\n'
            + '        } catch (const T0 &caught) {\n            std::printf("T0 %d %d", caught.t0, caught.tag());\n'
            + (
                '        } catch (...) {\n            std::printf("other");\n'
                if self.r.random() < 0.9
                else '        } catch (int number) {\n            std::printf("int %d", number);\n'
            )
            + '        }\n        std::printf(" %d\\n", std::uncaught_exceptions());\n    }\n    return 7;\n}\n'
        )

    def _function(self, number: int) -> str:
        r = self.r
        quiet = number > 0 and r.random() < 0.06
        body = self._block(number, r.randint(2, 3), "    ", in_handler=False)
        kind = r.random()
        head = f"static int f{number}(int x){' noexcept' if quiet else ''}"
        if kind < 0.15:
            handler = f'catch ({self._type()} &) {{\n    std::printf("ft ");\n    throw;\n}}'
            return f"{head} try {{\n{body}    return x;\n}} {handler}\n"
        return f"{head} {{\n{body}    return x;\n}}\n"

    def _type(self) -> str:
        return f"T{self.r.randrange(len(self.types.bases))}"

    def _block(self, function: int, nesting: int, indent: str, in_handler: bool) -> str:
        return "".join(self._statement(function, nesting, indent, in_handler) for _ in range(self.r.randint(1, 4)))

    def _statement(self, function: int, nesting: int, indent: str, in_handler: bool) -> str:
        r = self.r
        choice = r.random()
        if choice < 0.2:
            self._objects += 1
            name = f"o{self._objects}"
            if r.random() < 0.25:
                return f"{indent}Fragile {name}[{r.randint(1, 3)}];\n"
            if r.random() < 0.2:
                return f"{indent}delete new Fragile({self._objects});\n"
            return f"{indent}Noted {name}({self._objects});\n"
        if choice < 0.26 and in_handler:
            last = len(self.types.bases) - 1
            other = r.randint(0, last)
            derived = r.randint(min(other + 1, last), last)  # (casts to bases are no business of the runtime)
            return (
                f"{indent}try {{\n{indent}    std::exception_ptr kept = std::current_exception();\n"
                f"{indent}    if (dice(2)) std::rethrow_exception(kept);\n"
                f'{indent}}} catch (T{other} &again) {{\n{indent}    std::printf("r%d,%d ", again.tag(), '
                f"dynamic_cast<T{derived} *>(&again) != nullptr);\n{indent}}}\n"
            )
        if choice < 0.38:
            return f"{indent}if (dice({r.randint(2, 6)}) == 0) {self._throw(in_handler)}\n"
        if choice < 0.6 and function + 1 < self.functions:
            return f"{indent}x += f{r.randrange(function + 1, self.functions)}(x % 7 + {r.randrange(5)});\n"
        if nesting == 0:
            return f'{indent}std::printf("s%d ", x);\n'
        inner = indent + "    "
        if choice < 0.85:
            return self._try(function, nesting - 1, indent)
        if choice < 0.93:
            left = r.choice(["break;", "continue;", "", "return x;"])
            leave = f"{inner}if (dice(3) == 0) {left}\n" if left else ""
            block = self._block(function, nesting - 1, inner, in_handler)
            self._objects += 1
            index = f"i{self._objects}"
            head = f"for (int {index} = 0; {index} < {r.randint(1, 3)}; {index}++)"
            return f"{indent}{head} {{\n{leave}{block}{indent}}}\n"
        return f"{indent}{{\n{self._block(function, nesting - 1, inner, in_handler)}{indent}}}\n"

    def _throw(self, in_handler: bool) -> str:
        r = self.r
        if in_handler and r.random() < 0.4:
            return "throw;"
        return r.choice(
            [
                f"throw {self._type()}(x);",
                f"throw {self._type()}(x);",
                f"throw {self._type()}(x);",
                "throw x;",
                f"throw static_cast<{self._type()} *>(nullptr);",
                'throw "text";',
                f"throw {r.randrange(9)}L;",
                f"throw Noted({r.randrange(100, 999)});",
            ]
        )

    def _try(self, function: int, nesting: int, indent: str) -> str:
        r = self.r
        inner = indent + "    "
        text = f"{indent}try {{\n{self._block(function, nesting, inner, False)}"
        used: set[str] = set()
        for _ in range(r.randint(1, 3)):
            self._objects += 1
            name = f"e{self._objects}"
            type_ = self._type()
            kind = r.choice(["reference", "reference", "value", "int", "pointer", "text", "noted"])
            declared, said = {
                "reference": (f"{type_} &{name}", f'std::printf("h%d,%d ", {name}.t{type_[1:]}, {name}.tag());'),
                "value": (f"{type_} {name}", f'std::printf("v%d,%d ", {name}.t{type_[1:]}, {name}.tag());'),
                "int": (f"int {name}", f'std::printf("i%d ", {name});'),
                "pointer": (f"{type_} *{name}", f'std::printf("p%d ", {name} == nullptr);'),
                "text": (f"const char *{name}", f'std::printf("%s ", {name});'),
                "noted": (f"const Noted &{name}", f'std::printf("n%d ", {name}.number);'),
            }[kind]
            key = declared.split(name)[0].strip(" &")
            if key in used:
                continue
            used.add(key)
            text += f"{indent}}} catch ({declared}) {{\n{inner}{said}\n{self._block(function, nesting, inner, True)}"
        if r.random() < 0.25 or not used:
            text += (
                f'{indent}}} catch (...) {{\n{inner}std::printf("h ");\n{self._block(function, nesting, inner, True)}'
            )
        return f"{text}{indent}}}\n"


def exception_program(seed: int) -> str:
    return _Writer(random.Random(seed)).program()
