"""Random C programs that call functions of the C library and print what these give: sequential, deterministic, without
undefined behaviour. Each maker takes a source of chance and gives the statements of one program's `main`."""

from __future__ import annotations

import random

HEAD = r"""
#define _GNU_SOURCE
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void show(int line, double x) {
    unsigned long bits;
    memcpy(&bits, &x, 8);
    if (x != x)
        printf("%d nan\n", line);
    else
        printf("%d %lx\n", line, bits);
}
#define SHOW(x) show(__LINE__, x)

static void show_wide(int line, unsigned __int128 x) {
    printf("%d %016lx%016lx\n", line, (unsigned long)(x >> 64), (unsigned long)x);
}
#define WIDE(x) show_wide(__LINE__, x)

static unsigned __int128 through(int count, ...) {
    va_list list;
    va_start(list, count);
    unsigned __int128 sum = va_arg(list, int);
    sum += va_arg(list, unsigned __int128);
    sum += (unsigned)va_arg(list, double);
    sum += va_arg(list, unsigned __int128);
    sum += va_arg(list, __int128);
    va_end(list);
    return sum;
}

static struct {
    char first;
    __int128 low;
    unsigned __int128 high;
} pair, copy;
static __int128 initialised = -5;

int main(void) {
    unsigned __int128 u = initialised, v;
    __int128 s, t;
    volatile double x, y, z;
    volatile float f, g, h;
    volatile int k;
    double d, e;
    float single;
    int n, count, at = 0;
    long number;
    char word[64], *end;
    const char *format;
"""
TAIL = """#ifdef __MAZURKA__
    return 0;
#endif
    return 7;
}
"""

UNARY = [
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "exp2",
    "expm1", "log", "log2", "log10", "log1p", "cbrt", "erf", "erfc", "tgamma", "lgamma", "sqrt", "floor", "ceil",
    "trunc", "round", "rint", "nearbyint", "fabs", "logb",
]  # fmt: skip
BINARY = ["pow", "atan2", "hypot", "remainder", "nextafter", "fmod", "fmax", "fmin", "fdim", "copysign"]
SPECIAL = [
    "0.0", "-0.0", "1.0", "-1.0", "INFINITY", "-INFINITY", "NAN", "0.5", "2.5", "-2.5", "1e308", "5e-324",
    "2.2250738585072014e-308",
]  # fmt: skip


def number(r: random.Random) -> str:
    chance = r.random()
    if chance < 0.15:
        return r.choice(SPECIAL)
    if chance < 0.6:
        return repr(r.uniform(-10, 10))
    return repr(r.choice([-1, 1]) * r.random() * 10.0 ** r.randint(-300, 300))


def mathematics(r: random.Random) -> list[str]:
    lines = []
    for name in UNARY:
        lines.append(f"x = {number(r)}; f = (float){number(r)}; SHOW({name}(x)); SHOW({name}f(f));")
    for name in BINARY:
        zero = " + 0" if name in ("fmin", "fmax") else ""  # which of two zeros is the smaller one is open
        lines.append(f"x = {number(r)}; y = {number(r)}; SHOW({name}(x, y){zero});")
        lines.append(f"f = (float){number(r)}; g = (float){number(r)}; SHOW({name}f(f, g){zero});")
    lines.append(f"x = {number(r)}; k = {r.randint(-2200, 2200)}; SHOW(ldexp(x, k)); SHOW(scalbln(x, k));")
    lines.append(f'x = {number(r)}; d = frexp(x, &n); SHOW(d); if (isfinite(x)) printf("%d\\n", n);')
    lines.append(f'x = {number(r)}; d = modf(x, &e); SHOW(d); SHOW(e); printf("%d\\n", ilogb(x));')
    lines.append(f'x = {r.uniform(-1e6, 1e6)}; printf("%ld %ld\\n", lround(x), lrint(x));')
    lines.append(f'y = {r.uniform(-1e3, 1e3)}; SHOW(remquo(x, y, &n)); printf("%d\\n", n & 7);')
    lines.append(f"x = {number(r)}; y = {number(r)}; z = {number(r)}; SHOW(fma(x, y, z));")
    lines.append(f"f = (float){number(r)}; g = 1.5f; h = (float){number(r)}; SHOW(fmaf(f, g, h));")
    lines.append(f"x = {number(r)}; sincos(x, &d, &e); SHOW(d); SHOW(e);")
    return lines


def wide(r: random.Random) -> list[str]:
    """Expressions of __int128, signed ones within bounds."""

    def literal(bits: int) -> str:
        value = r.getrandbits(r.randint(1, bits))
        return f"((unsigned __int128)0x{value >> 64:x}ull << 64 | 0x{value & (1 << 64) - 1:x}ull)"

    lines = []
    for _ in range(8):
        lines.append(f"u = {literal(128)}; v = {literal(128)}; if (v == 0) v = 1; k = {r.randint(0, 127)};")
        for op in "+-*/%&|^":
            lines.append(f"WIDE(u {op} v);")
        lines.append("WIDE(u << k); WIDE(u >> k); WIDE((unsigned __int128)((__int128)u >> k)); WIDE(~u); WIDE(-u);")
        lines.append('printf("%d%d%d\\n", u < v, u <= v, u == v);')
        lines.append('printf("%d%d\\n", (__int128)u < (__int128)v, (__int128)u >= (__int128)v);')
        lines.append(f"s = (__int128){literal(60)} - (__int128){literal(60)}; t = (__int128){literal(60)} - 1000;")
        lines.append("if (t == 0) t = -7; WIDE(s + t); WIDE(s - t); WIDE(s * t); WIDE(s / t); WIDE(s % t); WIDE(-s);")
        lines.append("SHOW((double)u); SHOW((double)s); SHOW((float)u); SHOW((float)(__int128)u);")
        lines.append(
            "x = (double)s; WIDE((__int128)x); WIDE((unsigned __int128)(x < 0 ? -x : x)); WIDE((int)u); WIDE((long)u);"
        )
        lines.append("k = (signed char)u; WIDE((__int128)k); x = (double)(long)s / 3; WIDE((__int128)x);")
        lines.append(
            "WIDE(through(6, 1, u, 2.0, v, s)); pair.low = s; pair.high = u; copy = pair; WIDE(copy.low ^ copy.high);"
        )
    return lines


def numeral(r: random.Random) -> str:
    """A text that is, or nearly is, a number."""
    sign, space = r.choice(["", "", "-", "+"]), r.choice(["", "", " ", "\\t"])
    digits = "".join(r.choice("0123456789") for _ in range(r.choice([1, 3, 9, 17, 25, 40])))
    kind = r.randrange(8)
    if kind == 0:
        text = f"0x{r.getrandbits(r.choice([8, 40, 70])):x}{r.choice(['', '.8', '.p3', 'p-1040', 'p900', 'g'])}"
    elif kind == 1:
        text = r.choice(["inf", "infinity", "nan", "in", "0x", "0xg", "", ".", "e5", "1e", "--1", ".5", "5.", "08"])
    elif kind == 2:
        text = digits
    else:
        exponent = r.choice(["", f"e{r.randint(-345, 320)}", f"E+{r.randint(0, 20)}"])
        text = f"{digits[: len(digits) // 2]}.{digits[len(digits) // 2 :]}{exponent}"
    return f"{space}{sign}{text}{r.choice(['', '', 'x', ' 7', ','])}"


def scanning(r: random.Random) -> list[str]:
    """strtod and scanf, with texts that fit and texts that do not."""
    lines = []
    for _ in range(12):
        text = numeral(r)
        lines.append(f'd = strtod("{text}", &end); SHOW(d); printf("%s\\n", end);')
        lines.append(f'SHOW(strtof("{text}", &end)); printf("%s\\n", end);')
    for _ in range(20):
        text = " ".join(numeral(r) for _ in range(3)) + r.choice(["", " word", " [a-c]!", "%"])
        integer = r.choice(["%d", "%i", "%x", "%o", "%u", "%3d", "%2x", "%*d%d", "%hhd", "%hd"])
        letters = r.choice(["%31s", "%5s", "%31[0-9.]", "%31[^ ]", "%31[]a-c[]", "%3c", "%1c"])
        other = r.choice([" %%", "x", " ", ",", ""])
        lines.append(f'memset(word, 0, 32); n = 77; format = "{integer}{other}{letters}%n";')
        lines.append(f'count = sscanf("{text}", format, &n, word, &at);')
        lines.append('printf("%d %d %s\\n", count, (short)n, word); if (count == 2) printf("%d\\n", at);')
        wide = r.choice(["%lf %f", "%5lf%f", "%lf,%f"])
        lines.append(f'd = -1; single = -1; count = sscanf("{text}", "{wide}", &d, &single); SHOW(d); SHOW(single);')
        long = r.choice(["%ld", "%li", "%lx", "%7ld"])
        lines.append(f'number = 5; printf("%d ", sscanf("{text}", "{long}", &number));')
        lines.append('printf("%ld\\n", number);')
    return lines


def program(statements: list[str]) -> str:
    return HEAD + "".join(f"    {statement}\n" for statement in statements) + TAIL


JUMPS = r"""
#include <setjmp.h>
#include <stdio.h>

struct frame {
    jmp_buf place;
    struct frame *outer;
};
static const unsigned char decisions[] = {@};
static _Thread_local struct frame *top;
static _Thread_local unsigned at;

static int decide(int count) { return at < sizeof decisions ? decisions[at++] % count : 0; }

static int go(int depth, int given) {
    struct frame own;
    volatile int kept = given;
    char filler[1 + depth % 3];
    filler[0] = (char)depth;
    own.outer = top;
    top = &own;
    int brought = setjmp(own.place);
    printf("%d %d %d %d\n", depth, brought, kept, filler[0]);
    kept++;
    if (at < sizeof decisions && brought < 5) {
        switch (decide(5)) {
        case 0:
        case 1:
            kept += go(depth + 1, kept % 7);
            break;
        case 2: {
            struct frame *target = top;
            for (int up = decide(3); up > 0 && target->outer; up--)
                target = target->outer;
            top = target;
            longjmp(target->place, brought + 1);
        }
        case 3:
            if (depth < 20)
                kept += go(depth + 1, -kept) - go(depth + 1, kept);
        }
    }
    top = own.outer;
    printf("%d returns %d\n", depth, kept);
    return kept;
}

int main(void) {
    for (int i = 0; i < 3; i++)
        go(0, i);
"""


def jumps(r: random.Random, most: int = 60) -> str:
    """A whole program: calls that call each other and jump back out of each other."""
    return JUMPS.replace("@", ", ".join(str(r.randrange(60)) for _ in range(r.randint(3, most)))) + TAIL
