"""Random C programs that are sequential, deterministic and free of undefined behaviour, for comparing executions.

A program is a list of pieces, each a function of its own that prints what it computes, line by line, together with
the number of the source line: a difference names the statement. A `Piece` says what the function is about, how large
it is, and the seed of all its details.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from tests.support.c_generator import (
    ALL_INTEGERS,
    BOOL,
    DOUBLE,
    FLOAT,
    FLOATS,
    INT,
    INTEGERS,
    LLONG,
    LONG,
    NARROW,
    UINT,
    ULLONG,
    ULONG,
    Expression,
    Generator,
    Scalar,
    Structure,
    promoted,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """One function of a generated program."""

    subject: str
    seed: int
    size: int


def program(pieces: Sequence[Piece], threaded: bool = False) -> str:
    """The whole C file. With `threaded`, everything runs in a second thread while the first one waits for it."""
    parts, calls = [_PROLOGUE], []
    for index, piece in enumerate(pieces):
        name = f"f{index}"
        parts.append(f"/* {piece} */")
        parts.append(SUBJECTS[piece.subject](Generator(random.Random(piece.seed), name, piece.size)))
        calls.append(f"    {name}();")
    parts.append("\n".join(["static void *run(void *argument) {", *calls, "    return argument;", "}"]))
    parts.append(_MAIN_THREADED if threaded else _MAIN)
    return "\n".join(parts)


_PROLOGUE = r"""
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef signed char schar; typedef unsigned char uchar; typedef unsigned short ushort;
typedef unsigned int uint; typedef unsigned long ulong; typedef long long llong; typedef unsigned long long ullong;

static void show(int line, ullong value) {
    for (int unit = 10000; unit > 0; unit /= 10)
        putchar('0' + line / unit % 10);
    putchar(' ');
    int started = 0;
    for (int shift = 60; shift >= 0; shift -= 4) {
        int digit = (int)(value >> shift & 15);
        started |= digit != 0 || shift == 0;
        if (started)
            putchar(digit < 10 ? '0' + digit : 'a' + digit - 10);
    }
    putchar('\n');
}
static void show_double(int line, double value) {
    union { double number; ullong bits; } both = {value};
    show(line, value != value ? 0xbadULL : both.bits);
}
static void show_bytes(int line, const void *bytes, size_t size) {
    ullong sum = 1469598103934665603ULL;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ ((const uchar *)bytes)[i]) * 1099511628211ULL;
    show(line, sum);
}
#define SHOW(value) show(__LINE__, (ullong)(value))
#define SHOWF(value) show_double(__LINE__, (double)(value))
#define SIGN(value) (((value) > 0) - ((value) < 0))
"""

_MAIN = "int main(void) { run(0); return 7; }\n"
_MAIN_THREADED = """int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
    return 7;
}
"""


# ---------------------------------------------------------------------------------------------- subjects


def expressions(g: Generator) -> str:
    for _ in range(g.r.randint(2, 8)):
        g.variable(g.pick(ALL_INTEGERS))
    for _ in range(g.size * 3):
        if g.chance(40):
            target = g.pick(g.variables)
            g.say(g.update(target.text, target.type), f"SHOW({target.text});")
        else:
            g.say(f"SHOW({g.expression(4).text});")
    return g.text()


def floats(g: Generator) -> str:
    for _ in range(g.r.randint(2, 6)):
        g.variable(g.pick((*FLOATS, *FLOATS, *INTEGERS)))
    for _ in range(g.size * 3):
        value = g.expression(3, floats=True)
        if value.type.floating and g.chance(30):
            value = g.to_integer(value)
        g.say(g.show(value.text, value.type))
        if value.type.floating:
            name = g.fresh("w")
            g.say(f"double {name} = {value.text};")
            function = g.pick(["fabs", "floor", "ceil", "trunc", "sqrt", "round"])
            # sqrt of a negative number is not a number, which is shown as such
            g.say(f"SHOWF({function}({name}));", f"SHOWF({function}f((float){name}));")
            g.say(f"SHOW(isnan({name}) * 1 + !!isinf({name}) * 2 + !!signbit({name} == {name} ? {name} : 0) * 4);")
            g.say(f"SHOWF({g.pick(['fmin', 'fmax', 'copysign'])}({name} == {name} ? {name} : 1, {g.literal(DOUBLE)}));")
    return g.text()


def structures(g: Generator) -> str:
    type_ = g.structure()
    struct = f"struct {type_.name}"
    plain = [leaf for leaf in type_.leaves if leaf.width is None]
    change = g.fresh("change")
    at_offset = Generator(g.r, change, 1)
    at_offset.outside = g.outside
    leaf = g.pick(type_.leaves)
    at_offset.say(at_offset.update(f"s{at_offset.path(leaf)}", leaf.type, leaf.width))
    g.outside.append(
        f"static {struct} {change}(int before, {struct} s, double after, {struct} *other, {struct} last) {{\n    "
        + "\n    ".join(at_offset.body)
        + "\n    *other = last; SHOW(before); SHOWF(after); return s;\n}"
    )
    pointer = g.fresh("p")
    g.outside.append(f"static {struct} (*{pointer})(int, {struct}, double, {struct} *, {struct}) = {change};")
    a, b, many = g.fresh("a"), g.fresh("b"), g.fresh("many")
    g.say(f"{struct} {a};", f"{g.pick(['', 'static '])}{struct} {b} = {g.initialiser(type_)};")
    g.say(f"static {struct} {many}[3] = {{[1] = {g.initialiser(type_)}}};")
    g.fill(a, type_)
    g.say(f"SHOW(sizeof({struct}));", f"SHOW(_Alignof({struct}));")
    targets = [a, b, f"{many}[0]", f"{many}[1]", f"{many}[2]"]
    for _ in range(g.size * 2):
        target, other = g.pick(targets), g.pick(targets)
        if "[" in target:
            target = f"{many}[{g.index(int(target[-2]))}]"
        leaf = g.pick(type_.leaves)
        choice = g.r.randrange(9)
        if choice == 0:
            g.say(f"{target} = {other};")
        elif choice == 1:
            spare = g.fresh("spare")
            g.say(f"{struct} {spare};")
            called = g.pick([change, pointer, f"(*{pointer})"])
            g.say(f"{target} = {called}({g.literal(INT)}, {other}, {g.literal(DOUBLE)}, &{spare}, {g.pick(targets)});")
            g.show_structure(spare, type_)
        elif choice == 2 and plain:
            leaf = g.pick(plain)
            name = g.fresh("q")
            if "packed" not in "".join(g.outside):
                g.say(f"{leaf.type.name} *{name} = &{target}{g.path(leaf)};", g.update(f"*{name}", leaf.type))
                g.say(g.show(f"{target}{leaf.path}", leaf.type))
        elif choice == 3:
            g.say(f"{target} = ({struct}){g.initialiser(type_)};")
        elif choice == 4:
            name = g.fresh("q")
            g.say(f"{struct} *{name} = &{target};")
            if g.chance(50):
                g.say(f"{struct} **{name}2 = &{name};")
                name = f"(*{name}2)"
            g.say(g.update(f"(*{name}){g.path(leaf)}", leaf.type, leaf.width))
            g.say(f"{name}->{g.path(leaf)[1:]} = {g.literal(leaf.type)};")
        elif choice == 5:
            copied = g.pick(["memcpy", "memmove", "__builtin_memcpy"])
            g.say(f"if (&{target} != &{other}) {copied}(&{target}, &{other}, sizeof({struct}));")
        elif choice == 6:
            g.say(f"SHOW((char *)&{target} - (char *)&{target});")
            first = g.pick(type_.fields)
            if first.width is None:
                g.say(f"SHOW(offsetof({struct}, {first.name}));")
        else:
            g.say(g.update(f"{target}{g.path(leaf)}", leaf.type, leaf.width))
            g.say(g.show(f"{target}{g.path(leaf)}", leaf.type))
    for target in targets:
        g.show_structure(target, type_)
    return g.text()


def control(g: Generator) -> str:
    for _ in range(3):
        g.variable(g.pick((UINT, ULONG)))
    _statements(g, depth=3, count=g.size)
    for variable in g.variables:
        g.say(f"SHOW({variable.text});")
    return g.text()


def _statements(g: Generator, depth: int, count: int, in_loop: bool = False) -> None:
    for _ in range(count):
        _statement(g, depth, in_loop)


def _statement(g: Generator, depth: int, in_loop: bool) -> None:
    target = g.pick(g.variables)
    condition = g.expression(2).text
    choice = g.r.randrange(9) if depth > 0 else 0
    inner = partial(_statements, g, depth - 1, g.r.randint(1, 3))
    counter = g.fresh("c")
    bound = g.r.randint(0, 4)
    if in_loop and g.chance(25):
        g.say(f"if ({condition}) {g.pick(['break', 'continue'])};")
    match choice:
        case 0 | 1:
            g.say(f"{target.text} = {target.text} * 31 ^ {g.expression(2).text};")
            if g.chance(30):
                g.say(f"SHOW({target.text});")
        case 2:
            g.say(f"if ({condition}) {{")
            inner(in_loop=in_loop)
            g.say("} else {")
            inner(in_loop=in_loop)
            g.say("}")
        case 3:
            g.say(f"for (int {counter} = 0; {counter} < {bound}; {counter}++) {{")
            inner(in_loop=True)
            g.say("}")
        case 4:
            g.say(f"int {counter} = {bound};", f"while ({counter}-- > 0) {{")
            inner(in_loop=True)
            g.say("}")
        case 5:
            g.say(f"uint {counter} = 0;", "do {")
            inner(in_loop=True)
            g.say(f"}} while (++{counter} < {bound});")
        case 6:
            type_ = g.pick((UINT, ULONG, *NARROW))
            g.say(f"switch (({type_.name})({target.text} & 7)) {{")
            default = g.chance(60)
            for number in g.r.sample(range(8), g.r.randint(1, 5)):
                g.say(f"case {number}: {{" if g.chance(70) else f"case {number}: case {number + 10}: {{")
                inner(in_loop=False)
                g.say("}")
                if g.chance(60):
                    g.say("break;")
                if default and g.chance(50):
                    g.say("default:;")
                    default = False
            g.say("}")
        case 7:
            label = g.fresh("label")
            g.say(f"for (int {counter} = 0; {counter} < {bound + 1}; {counter}++)", "    for (int j = 0; j < 3; j++) {")
            inner(in_loop=True)
            g.say(f"if ({condition}) goto {label};", "}", f"{label}:;")
        case 8:
            label = g.fresh("again")
            g.say(f"int {counter} = 0;", f"{label}:;", "{")
            inner(in_loop=False)
            g.say("}", f"if ({counter}++ < {bound}) goto {label};")


def calls(g: Generator) -> str:
    """Functions with many parameters of all types, in tables, and recursive."""
    structures = [g.structure(depth=0, most_fields=3) for _ in range(2)]
    functions = []
    types: list[Scalar | Structure] = [*ALL_INTEGERS, *FLOATS, *FLOATS, *structures]
    parameters = [g.pick(types) for _ in range(g.r.randint(1, 12))]
    result = g.pick([*types, *structures])
    declared = ", ".join(f"{_type_name(type_)} p{index}" for index, type_ in enumerate(parameters))
    for _ in range(3):
        function = Generator(g.r, g.fresh("callee"), 1)
        function.outside = g.outside
        for index, type_ in enumerate(parameters):
            if isinstance(type_, Structure):
                function.show_structure(f"p{index}", type_)
            else:
                function.say(function.show(f"p{index}", type_))
                if not type_.floating:
                    function.variables.append(Expression(f"p{index}", type_))
        if isinstance(result, Structure):
            function.say(f"struct {result.name} r;")
            function.fill("r", result)
            function.say("return r;")
        else:
            function.say(f"return {function.expression(2).text if not result.floating else g.literal(result)};")
        header = f"static {_type_name(result)} {function.name}({declared})"
        g.outside.append("\n    ".join([f"{header} {{", *function.body]) + "\n}")
        functions.append(function.name)
    table = g.fresh("table")
    names = ", ".join(map(_type_name, parameters))
    g.outside.append(f"static {_type_name(result)} (*{table}[])({names}) = {{{', '.join(functions)}}};")
    for type_ in structures:
        g.say(f"struct {type_.name} value_{type_.name};")
        g.fill(f"value_{type_.name}", type_)
    for number in range(g.size):
        arguments = ", ".join(
            f"value_{type_.name}" if isinstance(type_, Structure) else g.literal(type_) for type_ in parameters
        )
        called = g.pick([g.pick(functions), f"{table}[{g.index(g.r.randrange(3))}]", f"(*{table}[{number % 3}])"])
        name = g.fresh("r")
        g.say(f"{_type_name(result)} {name} = {called}({arguments});")
        if isinstance(result, Structure):
            g.show_structure(name, result)
            leaf = g.pick(result.leaves)
            g.say(g.show(f"{called}({arguments}){leaf.path}", leaf.type))
        else:
            g.say(g.show(name, result))
    deep = g.fresh("deep")
    g.outside.append(
        f"static ulong {deep}(uint n, ulong a, uchar b) {{ ulong local[2] = {{a, b}}; "
        f"return n == 0 ? local[0] : {deep}(n - 1, a * 3 + local[1], (uchar)(b + n)) ^ local[n & 1]; }}"
    )
    g.say(f"SHOW({deep}({g.r.randint(0, 40)}, {g.literal(ULONG)}, {g.literal(UINT)}));")
    return g.text()


def _type_name(type_: Scalar | Structure) -> str:
    return f"struct {type_.name}" if isinstance(type_, Structure) else type_.name


def variadic(g: Generator) -> str:
    structures = [g.structure(depth=0, most_fields=3) for _ in range(2)]
    kinds: list[Scalar | Structure] = [INT, UINT, LONG, ULLONG, DOUBLE, *structures]
    take, outer = g.fresh("take"), g.fresh("outer")
    inner = Generator(g.r, take, 1)
    inner.outside = g.outside
    inner.say("for (; *kinds; kinds++) switch (*kinds) {")
    for index, type_ in enumerate(kinds):
        name = _type_name(type_)
        inner.say(f"case {index + 1}: {{ {name} x = va_arg(*arguments, {name});")
        if isinstance(type_, Structure):
            inner.show_structure("x", type_)
        else:
            inner.say(inner.show("x", type_))
        inner.say("break; }")
    inner.say("}")
    lines = "\n    ".join(inner.body)
    g.outside.append(f"static void {take}(const char *kinds, va_list *arguments) {{\n    {lines}\n}}")
    fixed = g.r.randint(0, 8)
    parameters = "".join(f", long x{index}" if index % 3 else f", double x{index}" for index in range(fixed))
    g.outside.append(
        f"static int {outer}(const char *kinds{parameters}, ...) {{\n"
        f"    va_list arguments, again;\n    va_start(arguments, {f'x{fixed - 1}' if fixed else 'kinds'});\n"
        f"    va_copy(again, arguments);\n    {take}(kinds, &arguments);\n    {take}(kinds, &again);\n"
        f"    va_end(again);\n    va_end(arguments);\n    return 5;\n}}"
    )
    for type_ in structures:
        g.say(f"struct {type_.name} value_{type_.name};")
        g.fill(f"value_{type_.name}", type_)
    for _ in range(g.size):
        chosen = [g.r.randrange(len(kinds)) for _ in range(g.pick([0, 3, 8, 14, 20]))]
        text = "".join(f"\\{index + 1:03o}" for index in chosen)
        arguments = [g.literal(DOUBLE) if index % 3 == 0 else g.literal(LONG) for index in range(fixed)]
        for index in chosen:
            type_ = kinds[index]
            arguments.append(f"value_{type_.name}" if isinstance(type_, Structure) else g.literal(type_))
        g.say(f"SHOW({outer}({', '.join([f'{chr(34)}{text}{chr(34)}', *arguments])}));")
    return g.text()


def atomics(g: Generator) -> str:
    for _ in range(g.size):
        choice = g.r.randrange(10)
        if choice == 0:
            _atomic_float(g)
        elif choice == 1:
            _atomic_pointer(g)
        elif choice == 2:
            _atomic_structure(g)
        elif choice < 6:
            _atomic_c11(g)
        else:
            _atomic_builtin(g)
    return g.text()


_ORDERS = ("memory_order_relaxed", "memory_order_acquire", "memory_order_release", "memory_order_acq_rel")
_GNU_ORDERS = ("__ATOMIC_RELAXED", "__ATOMIC_ACQUIRE", "__ATOMIC_RELEASE", "__ATOMIC_ACQ_REL", "__ATOMIC_SEQ_CST")


def _place(g: Generator, declaration: str, name: str, value: str) -> None:
    """A variable in one of the places where variables are."""
    storage = g.pick(["", "static ", "outside"])
    if storage == "outside":
        g.outside.append(f"static {declaration} {name} = {value};")
    else:
        g.say(f"{storage}{declaration} {name} = {value};")


def _atomic_c11(g: Generator) -> None:
    type_ = g.pick(ALL_INTEGERS)
    x, e = g.fresh("x"), g.fresh("e")
    _place(g, f"{g.pick(['', 'volatile '])}_Atomic {type_.name}", x, g.literal(type_))
    g.say(f"{type_.name} {e} = {g.literal(type_)};")
    for _ in range(4):
        value = g.literal(type_)
        choice = g.r.randrange(8)
        if choice < 3 and type_ is not BOOL:
            op = g.pick(["add", "sub", "or", "xor", "and"])
            unused = g.chance(30)
            call = f"atomic_fetch_{op}(&{x}, {value})"
            if g.chance(40):
                call = f"atomic_fetch_{op}_explicit(&{x}, {value}, {g.pick(_ORDERS)})"
            g.say(f"{call};" if unused else f"SHOW({call});")
        elif choice == 3:
            g.say(f"SHOW(atomic_exchange(&{x}, {value}));")
        elif choice == 4:
            if g.chance(50):
                g.say(f"{e} = {x};")
            g.say(f"SHOW(atomic_compare_exchange_{g.pick(['strong', 'weak'])}(&{x}, &{e}, {value}));", f"SHOW({e});")
        elif choice == 5:
            g.say(f"atomic_store_explicit(&{x}, {value}, memory_order_release);")
        elif choice == 6 and type_ is not BOOL:
            if not type_.signed or type_.rank < INT.rank:
                operation = g.pick(["++", "--", " += 3", " -= 5", " *= 3", " <<= 1", " /= 3", " %= 7", " ^= 1"])
            else:
                operation = g.pick([" /= 3", " %= 7", " ^= 1", " |= 64", " &= 1023", " >>= 2"])
            g.say(f"SHOW({x}{operation});")
        else:
            g.say(f"{x} = {value};")
        g.say(f"SHOW(atomic_load(&{x}));")


def _atomic_builtin(g: Generator) -> None:
    type_ = g.pick(INTEGERS)
    x, e, d, out = g.fresh("x"), g.fresh("e"), g.fresh("d"), g.fresh("o")
    _place(g, type_.name, x, g.literal(type_))
    g.say(f"{type_.name} {e} = {g.literal(type_)}, {d} = {g.literal(type_)}, {out} = 0;")
    order = partial(g.pick, _GNU_ORDERS)
    for _ in range(4):
        value = g.literal(type_)
        op = g.pick(["add", "sub", "or", "xor", "and", "nand"])
        choices = [
            f"SHOW(__atomic_fetch_{op}(&{x}, {value}, {order()}));",
            f"SHOW(__atomic_{op}_fetch(&{x}, {value}, {order()}));",
            f"__atomic_fetch_{op}(&{x}, {value}, {order()});",
            f"SHOW(__sync_fetch_and_{op}(&{x}, {value}));",
            f"SHOW(__sync_{op}_and_fetch(&{x}, {value}));",
            f"SHOW(__sync_bool_compare_and_swap(&{x}, {e}, {value}));",
            f"SHOW(__sync_val_compare_and_swap(&{x}, {x}, {value}));",
            f"SHOW(__sync_lock_test_and_set(&{x}, {value}));",
            f"__sync_lock_release(&{x}); __sync_synchronize();",
            f"SHOW(__atomic_exchange_n(&{x}, {value}, {order()}));",
            f"__atomic_exchange(&{x}, &{d}, &{out}, __ATOMIC_SEQ_CST); SHOW({out});",
            f"__atomic_store_n(&{x}, {value}, __ATOMIC_RELEASE);",
            f"__atomic_load(&{x}, &{out}, __ATOMIC_ACQUIRE); SHOW({out});",
            f"{e} = {x}; SHOW(__atomic_compare_exchange_n(&{x}, &{e}, {value}, 0, __ATOMIC_SEQ_CST, {order()}));",
            f"SHOW(__atomic_compare_exchange(&{x}, &{e}, &{d}, 1, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); SHOW({e});",
            f"SHOW(__atomic_fetch_max(&{x}, {value}, {order()}));",
            f"SHOW(__atomic_fetch_min(&{x}, {value}, {order()}));",
            f"SHOW(__atomic_max_fetch(&{x}, {value}, {order()}));",
        ]
        g.say(g.pick(choices), f"SHOW({x});")
    flag = g.fresh("flag")
    g.say(f"static atomic_flag {flag} = ATOMIC_FLAG_INIT;", f"SHOW(atomic_flag_test_and_set(&{flag}));")
    g.say(f"SHOW(atomic_flag_test_and_set(&{flag}));", f"atomic_flag_clear(&{flag});")
    g.say(f"SHOW(__atomic_test_and_set(&{flag}, __ATOMIC_SEQ_CST));", f"__atomic_clear(&{flag}, __ATOMIC_RELEASE);")


def _atomic_float(g: Generator) -> None:
    type_ = g.pick(FLOATS)
    x, e = g.fresh("x"), g.fresh("e")
    _place(g, f"_Atomic {type_.name}", x, g.literal(type_))
    g.say(f"{type_.name} {e} = {x};")
    for _ in range(3):
        value = g.literal(type_)
        g.say(
            g.pick([f"SHOWF({x} += {value});", f"SHOWF({x} *= {value});", f"SHOWF({x} -= {value});", f"{x} = {value};"])
        )
        g.say(f"SHOWF(atomic_exchange(&{x}, {value}));", f"SHOW(atomic_compare_exchange_strong(&{x}, &{e}, {value}));")
        g.say(f"SHOWF({x});", f"SHOWF({e});")


def _atomic_pointer(g: Generator) -> None:
    type_ = g.pick(INTEGERS)
    array, x, e = g.fresh("array"), g.fresh("x"), g.fresh("e")
    g.say(f"static {type_.name} {array}[10] = {{{', '.join(g.literal(type_) for _ in range(10))}}};")
    g.say(f"{type_.name} *_Atomic {x} = {array} + 4, *{e} = {array} + {g.r.randrange(10)};")
    for _ in range(3):
        g.say(g.pick([f"atomic_fetch_add(&{x}, 1);", f"atomic_fetch_sub(&{x}, 1);", f"{x}++;", f"--{x};"]))
        g.say(f"SHOW({x} - {array});", f"SHOW(*{x});")
        g.say(f"SHOW(atomic_compare_exchange_strong(&{x}, &{e}, {array} + 5));", f"SHOW({e} - {array});")
        g.say(f"SHOW(atomic_exchange(&{x}, &{array}[4]) - {array});")


def _atomic_structure(g: Generator) -> None:
    """Of bytes, so that there is no padding to compare."""
    size = g.pick([1, 2, 3, 4, 8])
    name, x, e, d = g.fresh("B"), g.fresh("x"), g.fresh("e"), g.fresh("d")
    values = [", ".join(str(g.r.randrange(256)) for _ in range(size)) for _ in range(3)]
    g.outside.append(f"struct {name} {{ uchar bytes[{size}]; }};")
    g.outside.append(f"static _Atomic struct {name} {x};")
    g.say(f"struct {name} {e} = {{{{{values[1]}}}}}, {d} = {{{{{values[2]}}}}};")
    g.say(f"atomic_store(&{x}, ((struct {name}){{{{{values[0]}}}}}));")
    g.say(f"SHOW(atomic_compare_exchange_strong(&{x}, &{e}, {d}));", f"show_bytes(__LINE__, &{e}, {size});")
    g.say(f"{d} = atomic_exchange(&{x}, {d});", f"show_bytes(__LINE__, &{d}, {size});")
    g.say(f"{x} = {e}; {d} = {x};", f"show_bytes(__LINE__, &{d}, {size});")


def builtins(g: Generator) -> str:
    for _ in range(4):
        g.variable(g.pick(INTEGERS))
    for _ in range(g.size * 2):
        value = g.expression(2).text
        suffix, type_ = g.pick([("", UINT), ("l", ULONG), ("ll", ULLONG)])
        nonzero = f"(({type_.name}){value} | {1 << g.r.randrange(31)}u)"
        width, narrow = g.pick([(8, "uchar"), (16, "ushort"), (32, "uint"), (64, "ulong")])
        choices = [
            f"__builtin_clz{suffix}({nonzero})", f"__builtin_ctz{suffix}({nonzero})",
            f"__builtin_popcount{suffix}({value})", f"__builtin_parity{suffix}({value})",
            f"__builtin_ffs{suffix}({value})", f"__builtin_clrsb{suffix}({value})",
            f"__builtin_bswap{max(width, 16)}({value})", f"__builtin_bitreverse{width}({value})",
            f"__builtin_rotateleft{width}({value}, ({narrow}){g.literal(UINT)})",
            f"__builtin_rotateright{width}({value}, ({narrow}){g.literal(UINT)})",
            f"__builtin_expect({value}, 1)", f"abs((short){value})",
            f"labs((int){value})", f"__builtin_abs((short){value})", f"__builtin_llabs((int){value})",
        ]  # fmt: skip
        g.say(f"SHOW({g.pick(choices)});")
        _overflow(g)
    return g.text()


def _overflow(g: Generator) -> None:
    """Types that together fit into 64 bits: larger ones are not supported."""
    same = g.pick(INTEGERS)
    types = [same] * 3 if g.chance(50) else [g.pick((*NARROW, INT)) for _ in range(3)]
    out = g.fresh("out")
    g.say(f"{types[2].name} {out} = 0;")
    operation = g.pick(["add", "sub", "mul"])
    operands = []
    alike = g.number(types[0]) if types[0] == types[1] and g.chance(30) else None
    for type_ in types[:2]:
        operand = g.fresh("n")
        g.say(f"{type_.name} {operand} = {g.literal(type_, alike)};")
        operands.append(operand)
    g.say(f"SHOW(__builtin_{operation}_overflow({', '.join(operands)}, &{out}));", f"SHOW({out});")


def _string(g: Generator, most: int = 12) -> str:
    return "".join(g.pick("aAbBcC ,.09z") for _ in range(g.r.randint(0, most)))


def strings(g: Generator) -> str:
    buffer, other = g.fresh("buffer"), g.fresh("other")
    g.say(f"char {buffer}[80] = {{0}}; char {other}[80] = {{0}};")
    g.say(f'const char *s = "{_string(g)}"; const char *t = "{_string(g, 3)}"; char *end; char *rest = 0;')
    for _ in range(g.size * 2):
        text, short, n, c = _string(g), _string(g, 3), g.r.randint(0, 12), g.pick("aAb ,.0z")
        choices = [
            [f'strcpy({buffer}, "{text}");', f"SHOW(strlen({buffer}));"],
            [f'strncpy({other}, "{text}", {n});'],
            [f'if (strlen({buffer}) < 60) strcat({buffer}, "{short}");'],
            [f'if (strlen({buffer}) < 60) strncat({buffer}, "{text}", {n});'],
            [f'SHOW(SIGN(strcmp({buffer}, "{text}")));', 'SHOW(SIGN(strcmp("\\377", "a")));'],
            [f'SHOW(SIGN(strncmp({buffer}, "{text}", {n})));', f"SHOW(SIGN(strcmp({buffer}, {other})));"],
            [f"end = strchr({buffer}, '{c}');", f"SHOW(end ? end - {buffer} : -1);"],
            [f"end = strrchr({buffer}, '{c}');", f"SHOW(end ? end - {buffer} : -1);"],
            [f'end = strstr({buffer}, "{short}");', f"SHOW(end ? end - {buffer} : -1);"],
            [f'SHOW(strspn({buffer}, "{text}"));', f'SHOW(strcspn({buffer}, "{short}"));'],
            [f'end = strpbrk({buffer}, "{short}");', f"SHOW(end ? end - {buffer} : -1);"],
            [f"SHOW(strnlen({buffer}, {n}));", f"SHOW(strchr({buffer}, 0) - {buffer});"],
            [f'strcpy({buffer}, "{text}");', f'for (end = strtok_r({buffer}, " ,", &rest); end; '
             f'end = strtok_r(0, " ,", &rest)) {{ SHOW(end - {buffer}); SHOW(strlen(end)); }}'],
            [f"end = strdup({buffer});", "SHOW(strlen(end));", "free(end);"],
            [f"for (int i = 0; i < 5; i++) {{ int c = (uchar){buffer}[i]; {buffer}[i] = toupper(c); SHOW(!!isalpha(c) "
             "+ 2 * !!isdigit(c) + 4 * !!isspace(c) + 8 * !!ispunct(c) + 16 * !!isupper(c)); }"],
            _number_text(g),
        ]  # fmt: skip
        g.say(*g.pick(choices))
        g.say(f"show_bytes(__LINE__, {buffer}, 80); show_bytes(__LINE__, {other}, 80);")
    g.say("SHOW(strlen(s)); SHOW(SIGN(strcmp(s, t)));")
    return g.text()


def _number_text(g: Generator) -> list[str]:
    base = g.pick([0, 2, 8, 10, 10, 16, 36])
    text = g.pick(["", " ", "+", "-", "\\t-"]) + g.pick(["", "", "0", "0x", "0X", "x"])
    text += "".join(g.pick("0123456789abcdefzZ"[: g.pick([2, 10, 18])]) for _ in range(g.pick([0, 3, 8, 25])))
    function = g.pick(["strtol", "strtoul", "strtoll", "strtoull"])
    return [
        f'errno = 0; {{ const char *number = "{text}"; ullong read = (ullong){function}(number, &end, {base}); '
        f"SHOW(read); SHOW(end - number); SHOW(errno == ERANGE); }}",
        f'SHOW(atoi("{text[:8]}"));',
    ]


def memory(g: Generator) -> str:
    """Copies of all sizes, between objects of all alignments, at all offsets."""
    type_ = g.pick(INTEGERS)
    bytes_ = type_.bits // 8
    count = 200 // bytes_
    a, b = g.fresh("a"), g.fresh("b")
    _place(g, type_.name, f"{a}[{count}]", "{0}")
    g.say(f"{type_.name} *{b} = {g.pick(['malloc(200)', 'calloc(50, 4)'])};")
    g.say(
        f"for (int i = 0; i < {count}; i++) {{ {a}[i] = ({type_.name})(i * 77 + 5); {b}[i] = ({type_.name})(i * 31); }}"
    )
    for _ in range(g.size * 2):
        size = g.r.randint(0, 100) if g.chance(50) else g.r.randint(0, 17)
        first, second = g.r.randint(0, 100), g.r.randint(0, 100)
        length = g.index(size)
        by_type = g.chance(40)
        if by_type:
            first, second = first // bytes_, second // bytes_
        to, source = g.pick([(a, b), (b, a)])
        cast = "" if by_type else "(char *)"
        left, right = f"{cast}{to} + {g.index(first)}", f"{cast}{source} + {g.index(second)}"
        same = f"{cast}{to} + {g.index(second)}"
        choice = g.r.randrange(7)
        if choice < 2:
            g.say(f"{g.pick(['memcpy', '__builtin_memcpy', 'memmove'])}({left}, {right}, {length});")
        elif choice == 2:
            g.say(f"memmove({left}, {same}, {length});")
        elif choice == 3:
            g.say(f"memset({left}, {g.literal(g.pick([INT, UINT]))}, {length});")
        elif choice == 4:
            g.say(f"SHOW(SIGN(memcmp({left}, {same}, {length})));", f"SHOW(SIGN(memcmp({left}, {right}, {length})));")
        elif choice == 5:
            found = g.fresh("found")
            g.say(f"char *{found} = memchr({left}, {g.r.randrange(256)}, {length});")
            g.say(f"SHOW({found} ? {found} - (char *){to} : -1);")
        else:
            g.say(f"{b} = realloc({b}, {g.pick([200, 250, 300])});")
        g.say(f"show_bytes(__LINE__, {a}, 200); show_bytes(__LINE__, {b}, 200);")
    g.say(f"free({b});")
    return g.text()


def printing(g: Generator) -> str:
    for _ in range(g.size * 2):
        flags = "".join(flag for flag in "-+ #0" if g.chance(20))
        width = g.pick(["", "", "3", "12", "*"])
        precision = g.pick(["", "", ".0", ".3", ".12", ".*", "."])
        arguments = [
            str(g.r.randint(-14, 14)) if width == "*" else "",
            str(g.r.randint(-1, 12)) if "*" in precision else "",
        ]
        length, type_ = g.pick(
            [("", INT), ("l", LONG), ("ll", LLONG), ("z", ULONG), ("h", INT), ("hh", INT), ("j", LONG), ("t", LONG)]
        )
        conversion = g.pick("diuxXocsfFeEgGaA%")
        if conversion in "diuxXo":
            directive, value = length + conversion, g.literal(type_)
        elif conversion == "c":
            directive, value, precision = "c", str(g.r.randint(32, 126)), ""
        elif conversion == "s":
            directive, value = "s", f'"{_string(g)}"'
        elif conversion == "%":
            directive, value, flags, width, precision, arguments = "%", "", "", "", "", []
        else:
            directive, value = conversion, g.pick([g.literal(DOUBLE), g.literal(FLOAT), "1e300", "INFINITY", "5e-324"])
            value = f"{value} * {g.r.random()!r}" if g.chance(30) else value
        values = "".join(f", {argument}" for argument in [*arguments, value] if argument)
        form = f'"{_string(g, 4)}<%{flags}{width}{precision}{directive}>'
        if g.chance(70):
            g.say(f'SHOW(printf({form}\\n"{values}));')
        else:
            buffer, room = g.fresh("buffer"), g.r.randint(0, 40)
            g.say(
                f"char {buffer}[40] = {{0}};", f'SHOW(snprintf({buffer}, {room}, {form}"{values}));', f"puts({buffer});"
            )
    return g.text()


def pointers(g: Generator) -> str:
    type_ = g.pick((*INTEGERS, *FLOATS))
    x, y, z = (g.r.randint(1, 4) for _ in range(3))
    cube, p, rows = g.fresh("cube"), g.fresh("p"), g.fresh("rows")
    flat = x * y * z
    _place(g, type_.name, f"{cube}[{x}][{y}][{z}]", "{0}")
    g.say(f"for (int i = 0; i < {x}; i++) for (int j = 0; j < {y}; j++) for (int k = 0; k < {z}; k++)")
    g.say(f"    {cube}[i][j][k] = ({type_.name})(i * 100 + j * 10 + k);")
    g.say(f"{type_.name} *{p} = &{cube}[0][0][0];", f"{type_.name} (*{rows})[{z}] = {cube}[{g.index(x - 1)}];")
    static, table = g.fresh("static"), g.fresh("table")
    g.outside.append(f"static {type_.name} {static}[6] = {{{', '.join(g.literal(type_) for _ in range(6))}}};")
    entries = ", ".join(
        f"&{static}[{g.r.randrange(6)}]" if g.chance(60) else f"{static} + {g.r.randrange(6)}" for _ in range(4)
    )
    g.outside.append(f"static {type_.name} *{table}[4] = {{{entries}}};")
    g.outside.append(
        f"static {type_.name} **{table}_end = {table} + 4; static long {table}_address = (long)&{static}[2];"
    )
    for _ in range(g.size * 2):
        i, j, k = g.r.randrange(x), g.r.randrange(y), g.r.randrange(z)
        at = (i * y + j) * z + k
        element = f"{cube}[{g.index(i)}][{g.index(j)}][{g.index(k)}]"
        choice = g.r.randrange(9)
        if choice == 0:
            g.say(g.update(element, type_), g.show(f"{p}[{g.index(at)}]" if flat else "0", type_))
        elif choice == 1:
            g.say(f"SHOW(&{element} - {p});", f"SHOW((char *)&{element} - (char *){cube});")
        elif choice == 2:
            g.say(g.show(f"*(*(*({cube} + {g.index(i)}) + {g.index(j)}) + {g.index(k)})", type_))
        elif choice == 3:
            g.say(g.show(f"{rows}[{g.index(j)}][{g.index(k)}]", type_), g.show(f"(*({rows} + {j}))[{k}]", type_))
        elif choice == 4:
            end = g.fresh("end")
            g.say(f"{type_.name} *{end} = {p} + {g.index(flat)};", g.show(f"{end}[-{g.r.randint(1, flat)}]", type_))
            g.say(f"while ({end}-- > {p}) *{end} = ({type_.name})(*{end} / 2);")
        elif choice == 5:
            walk = g.fresh("walk")
            g.say(
                f"{type_.name} **{walk} = {table};",
                f"do {{ {g.show(f'**{walk}++', type_)} }} while ({walk} != {table}_end);",
            )
        elif choice == 6:
            index = g.r.randrange(4)
            g.say(g.update(f"*{table}[{g.index(index)}]", type_), f"SHOW({table}[{index}] - {static});")
            g.say(
                f"SHOW({table}_address == (long)({static} + 2));",
                f"{table}[{index}] = {static} + {g.index(g.r.randrange(6))};",
            )
        elif choice == 7:
            g.say(
                f"SHOW({p} + {at} < {p} + {g.index(at)});",
                f"SHOW({p} <= &{element});",
                f"SHOW(&{element} == {p} + {at});",
            )
        else:
            copied = g.fresh("u")
            g.say(f"uintptr_t {copied} = (uintptr_t)&{element};", g.show(f"*({type_.name} *){copied}", type_))
            g.say(f"SHOW(({copied} - (uintptr_t){cube}) / sizeof({type_.name}));")
    g.say(f"show_bytes(__LINE__, {cube}, sizeof {cube});" if not type_.floating else "")
    return g.text()


def unions(g: Generator) -> str:
    """Writing one member and reading another."""
    name, u = g.fresh("U"), g.fresh("u")
    g.outside.append(
        f"union {name} {{ uchar c[8]; schar sc[8]; short s[4]; ushort us[4]; int i[2]; uint ui[2]; long l; ulong ul; "
        "float f[2]; double d; struct { uchar a; uchar b[3]; int c; } m; "
        "struct { uint low : 5; int middle : 9; uint high : 18; ulong : 0; } bits; "
        "struct { ulong low : 20; long middle : 33; ulong high : 11; } wide; };"
    )
    _place(g, f"union {name}", u, f"{{.ul = {g.literal(ULONG)}}}")
    members = [
        ("c[%d]", 8, NARROW[2]), ("sc[%d]", 8, NARROW[1]), ("s[%d]", 4, NARROW[3]), ("us[%d]", 4, NARROW[4]),
        ("i[%d]", 2, INT), ("ui[%d]", 2, UINT), ("l", 0, LONG), ("ul", 0, ULONG), ("m.a", 0, NARROW[2]),
        ("m.b[%d]", 3, NARROW[2]), ("m.c", 0, INT), ("bits.low", 0, UINT), ("bits.middle", 0, INT),
        ("bits.high", 0, UINT), ("wide.low", 0, ULONG), ("wide.middle", 0, LONG), ("wide.high", 0, ULONG),
        ("f[%d]", 2, FLOAT), ("d", 0, DOUBLE),
    ]  # fmt: skip

    def member() -> tuple[str, Scalar]:
        path, count, type_ = g.pick(members)
        return f"{u}.{path.replace('%d', g.index(g.r.randrange(count)) if count else '')}", type_

    for _ in range(g.size * 3):
        path, type_ = member()
        g.say(f"{path} = {g.literal(type_)};")
        path, type_ = member()
        g.say(g.show(path, type_), f"show_bytes(__LINE__, &{u}, 8);")
    return g.text()


def arrays(g: Generator) -> str:
    """Arrays whose size is known at run time, sorting, searching, the heap."""
    type_ = g.pick((*INTEGERS, *FLOATS))
    n, m = g.r.randint(1, 9), g.r.randint(1, 5)
    rows, columns, vla, compare = g.fresh("n"), g.fresh("m"), g.fresh("vla"), g.fresh("compare")
    g.outside.append(
        f"static int {compare}(const void *a, const void *b) {{ {type_.name} x = *(const {type_.name} *)a, "
        f"y = *(const {type_.name} *)b; return (x > y) - (x < y); }}"
    )
    g.say(f"int {rows} = {n}; {g.pick(['long', 'uchar'])} {columns} = {m};", f"{type_.name} {vla}[{rows}][{columns}];")
    g.say(
        f"for (int i = 0; i < {rows}; i++) for (int j = 0; j < {columns}; j++)",
        f"    {vla}[i][j] = ({type_.name})(i * 37 % 11 + j);",
    )
    g.say(f"SHOW(sizeof {vla});", f"SHOW(sizeof {vla}[0]);", f"SHOW(&{vla}[{rows} - 1][0] - &{vla}[0][0]);")
    total = n * m
    heap = g.fresh("heap")
    g.say(f"{type_.name} *{heap} = malloc({total} * sizeof *{heap});", f"memcpy({heap}, {vla}, sizeof {vla});")
    for _ in range(g.size):
        g.say(g.update(f"{heap}[{g.index(g.r.randrange(total))}]", type_))
        g.say(g.update(f"{vla}[{g.index(g.r.randrange(n))}][{g.index(g.r.randrange(m))}]", type_))
    g.say(f"for (int i = 0; i < {rows}; i++) {{ int inner[i + 1]; inner[i] = i; SHOW(inner[i] + sizeof inner); }}")
    if not type_.floating:
        g.say(f"qsort({heap}, {total}, sizeof *{heap}, {compare});", f"qsort({vla}, {rows}, sizeof *{vla}, {compare});")
    g.say(f"for (int i = 0; i < {total}; i++) {g.show(f'{heap}[i]', type_)}")
    g.say(f"for (int i = 0; i < {rows}; i++) {g.show(f'{vla}[i][0]', type_)}")
    if not type_.floating:
        key, found = g.fresh("key"), g.fresh("found")
        g.say(f"{type_.name} {key} = {g.pick([f'{heap}[{g.r.randrange(total)}]', g.literal(type_)])};")
        g.say(f"{type_.name} *{found} = bsearch(&{key}, {heap}, {total}, sizeof {key}, {compare});")
        g.say(f"SHOW({found} ? 1 : 0);", f"if ({found}) SHOW(*{found} == {key});")
    g.say(
        f"{heap} = realloc({heap}, {total + 3} * sizeof *{heap});",
        g.show(f"{heap}[{total - 1}]", type_),
        f"free({heap});",
    )
    return g.text()


def switches(g: Generator) -> str:
    """On all types, with cases far apart, below zero, in ranges, and none that fits."""
    for _ in range(g.size):
        type_ = g.pick(ALL_INTEGERS)
        x = g.fresh("x")
        values = sorted({g.number(promoted(type_)) for _ in range(g.r.randint(1, 7))})
        tried = [g.literal(type_), *(f"({type_.name}){g.literal(promoted(type_), value)}" for value in values)]
        g.say(f"{type_.name} {x}[] = {{{', '.join(tried)}}};", f"for (int i = 0; i < {len(tried)}; i++) {{")
        g.say(f"uint y = 1; switch ({g.pick(['', '+'])}{x}[i]) {{")
        default = g.r.randrange(len(values) + 1)
        for index, value in enumerate(values):
            if index == default:
                g.say("default: y += 1000;")
            following = values[index + 1] if index + 1 < len(values) else value
            label = g.literal(promoted(type_), value)
            if following - value > 10 and g.chance(30):
                label += f" ... {g.literal(promoted(type_), value + g.r.randrange(10))}"
            g.say(f"case {label}: y = y * 3 + {index};{g.pick(['', ' break;'])}")
        g.say("} SHOW(y); }")
    return g.text()


def initialisers(g: Generator) -> str:
    """Static variables: addresses with offsets, functions, strings, nested and partial initialisers, floats."""
    type_ = g.structure()
    base, node = g.fresh("base"), g.fresh("Node")
    struct = f"struct {type_.name}"
    functions = [g.fresh("callee") for _ in range(2)]
    for number, function in enumerate(functions):
        g.outside.append(f"static int {function}(int x) {{ return x * {number + 2} + 1; }}")
    g.outside.append(
        f"struct {node} {{ char tag; struct {node} *next; {struct} *data; int (*call)(int); const char *text; "
        f"char name[{g.r.randint(4, 9)}]; long at; {struct} inside; float f; double d; }};"
    )
    g.outside.append(f"static {struct} {base}[3] = {{{g.initialiser(type_)}, [2] = {g.initialiser(type_)}}};")
    nodes = g.fresh("nodes")
    count = g.r.randint(1, 4)
    entries = []
    for index in range(count):
        following = f"&{nodes}[{(index + 1) % count}]" if g.chance(70) else f"{nodes} + {g.r.randrange(count)}"
        entries.append(
            f"{{ .tag = {g.r.randint(0, 127)}, .next = {following}, .data = {base} + {g.r.randrange(3)}, "
            f'.call = {g.pick(functions)}, .text = "{_string(g)}", .name = "{_string(g, 3)}", '
            f".at = (long)&{base}[2] + {g.r.randint(0, 9)}, "
            f".inside = {g.initialiser(type_)}, .f = {g.literal(FLOAT)}, .d = {g.literal(DOUBLE)} }}"
        )
    g.outside.append(f"static struct {node} {nodes}[{count}];")
    g.outside.append(f"static struct {node} {nodes}[{count}] = {{{', '.join(entries)}}};")
    strings, matrix = g.fresh("strings"), g.fresh("matrix")
    g.outside.append(f'static const char *const {strings}[] = {{"{_string(g)}", "{_string(g)}", 0, "{_string(g)}"}};')
    numbers = g.pick((*ALL_INTEGERS, *FLOATS))
    rows = ", ".join(f"{{{', '.join(g.literal(numbers) for _ in range(g.r.randint(1, 3)))}}}" for _ in range(3))
    g.outside.append(f"static const {numbers.name} {matrix}[4][3] = {{{rows}}};")
    g.say(f"for (struct {node} *n = {nodes}; n < {nodes} + {count}; n++) {{")
    g.say("SHOW(n->tag);", f"SHOW(n->next - {nodes});", f"SHOW(n->data - {base});", "SHOW(n->call(n->tag));")
    g.say(
        "SHOW(strlen(n->text)); puts(n->text); SHOWF(n->f); SHOWF(n->d);",
        "for (int i = 0; i < 4; i++) SHOW(n->name[i]);",
    )
    g.show_structure("n->data[0]", type_)
    g.show_structure("n->next->next->inside", type_)
    g.say("}", f"SHOW({nodes}[0].at - (long){base});")
    g.say(f"for (int i = 0; i < 4; i++) {{ if ({strings}[i]) puts({strings}[i]);")
    g.say(f"for (int j = 0; j < 3; j++) {g.show(f'{matrix}[i][j]', numbers)} }}")
    for target in (f"{base}[0]", f"{base}[1]", f"{base}[2]"):
        g.show_structure(target, type_)
    return g.text()


def oddities(g: Generator) -> str:
    """What is rarely written, and GNU's extensions."""
    for _ in range(3):
        g.variable(g.pick(INTEGERS))
    for _ in range(g.size):
        a, b, c = g.expression(2).text, g.expression(2).text, g.expression(1).text
        x, s = g.fresh("x"), g.fresh("s")
        element = g.pick(INTEGERS)
        n = g.r.randint(1, 6)
        values = ", ".join(g.literal(element) for _ in range(n))
        choices = [
            [f"SHOW({a} ?: {b});", f"SHOW(({{ ullong y = {a}; y += {b}; y; }}));"],
            [f"__typeof__({a}) {x} = {b};", f"SHOW({x});", f"SHOW(sizeof({a}));"],
            [f"SHOW(_Generic({a}, int: 1, uint: 2, long: 3, ulong: 4, llong: 5, ullong: 6, _Bool: 7, default: 8));"],
            [f"enum {{ A{x} = {g.r.randint(-100, 100)}, B{x}, C{x} = {g.literal(INT)} }} {x} = {g.pick('ABC')}{x};",
             f"SHOW({x}); SHOW(A{x} + {x} % 100);"],
            [f"struct {s} {{ short n; {element.name} data[]; }};",
             f"struct {s} *{x} = malloc(sizeof *{x} + {n} * sizeof({element.name}));",
             f"memcpy({x}->data, ({element.name}[]){{{values}}}, {n} * sizeof({element.name})); {x}->n = {n};",
             f"for (int i = 0; i < {x}->n; i++) SHOW({x}->data[i]);", f"free({x});"],
            [f"{element.name} *{x} = __builtin_alloca({n} * sizeof *{x});",
             f"for (int i = 0; i < {n}; i++) {x}[i] = (char)(i ^ {c});",
             f"SHOW({x}[{g.index(n - 1)}]);"],
            [f"struct {s} {{ char c; struct {{ int first; {element.name} second[{n}]; }}; "
             "union { uint u; uchar bytes[4]; }; };",
             f"struct {s} {x} = {{1, {{2, {{{values}}}}}, {{.u = {g.literal(UINT)}}}}};",
             f"{element.name} *p{x} = &{x}.second[{n - 1}];",
             f"struct {s} *q{x} = (struct {s} *)((char *)p{x} - offsetof(struct {s}, second[{n - 1}]));",
             f"SHOW(q{x}->first); SHOW({x}.bytes[{g.index(g.r.randrange(4))}]); SHOW(*p{x}); SHOW(q{x}->second[0]);"],
            [f"{element.name} {x}[] = {{{values}, [{n + 2}] = 3}};", f"SHOW(sizeof {x});",
             f"for (int i = 0; i < {n + 3}; i++) SHOW(i[{x}]);"],
            [f'char {x}[{n}] = "{"abcdef"[:n]}"; char {x}2[] = "x\\0y" "z";',
             f"SHOW(sizeof {x}2); show_bytes(__LINE__, {x}, {n});",
             f"show_bytes(__LINE__, {x}2, sizeof {x}2);"],
            [f"struct {s} {{ int x, y; }} *{x} = &(struct {s}){{1, {n}}};", f"{x}->x += 5; SHOW({x}->x * {x}->y);",
             f"SHOW(((struct {s}){{.y = {n}}}).y);"],
            [f"static uint {x}; for (int i = 0; i < {n}; i++) {{ static uchar {s} = 250; {x} += ++{s}; SHOW({x}); }}"],
            [f"double {x} = (double){g.literal(ULLONG)} + (float){g.literal(LLONG)};", f"SHOWF({x});",
             f"SHOW((ullong)(float){g.literal(UINT)}); SHOWF((float)(double){g.literal(LLONG)});",
             f"SHOW((ullong)((double){g.literal(ULLONG)} / 2));"],
            [f"uint {x}[2][3] = {{{{1, 2}}, {{{n}}}}}; uint (*{s})[3] = {x} + 1;",
             f"SHOW((*{s})[0] + {s}[-1][1] + sizeof *{s});"],
            [f"volatile {element.name} {x} = {g.literal(element)};",
             f"SHOW({x}); {x} = {c}; SHOW({x}); SHOW({x} ^ {x});"],
            [f"ulong {x} = 0;", f"for (struct {{ int i; char c; }} s = {{0, 'a'}}; s.i < {n}; s.i++, s.c++)",
             f"    {x} = {x} * 7 + s.c;", f"SHOW({x});"],
            [f"int {s}a = {n}; void *{x}[2] = {{&{s}a, 0}};",
             f"SHOW(*(int *){x}[{g.index(0)}]); SHOW(!{x}[1]); *(int *)*{x} = 9; SHOW({s}a);"],
        ]  # fmt: skip
        g.say(*g.pick(choices))
    return g.text()


def heap(g: Generator) -> str:
    """Lists and trees."""
    node, insert, root = g.fresh("Node"), g.fresh("insert"), g.fresh("root")
    key = g.pick(INTEGERS)
    g.outside.append(f"struct {node} {{ {key.name} key; struct {node} *left, *right; uchar count; }};")
    g.outside.append(
        f"static struct {node} *{insert}(struct {node} **at, {key.name} key) {{\n"
        f"    while (*at && (*at)->key != key) at = key < (*at)->key ? &(*at)->left : &(*at)->right;\n"
        f"    if (!*at) {{ *at = calloc(1, sizeof **at); (*at)->key = key; }}\n    (*at)->count++; return *at;\n}}\n"
        f"static uint {insert}_sum(struct {node} *n, uint depth) {{\n"
        f"    if (!n) return depth;\n    uint left = {insert}_sum(n->left, depth + 1);\n"
        f"    uint sum = left * 3 + {insert}_sum(n->right, depth + 1);\n"
        f"    sum = sum * 31 + (uint)n->key + n->count; free(n); return sum;\n}}"
    )
    g.say(f"struct {node} *{root} = NULL;")
    for _ in range(g.size * 3):
        g.say(f"SHOW({insert}(&{root}, {g.literal(key)})->count);")
    g.say(f"SHOW({insert}_sum({root}, 1));")
    return g.text()


SUBJECTS: dict[str, Callable[[Generator], str]] = {
    subject.__name__: subject
    for subject in (
        expressions, floats, structures, control, calls, variadic, atomics, builtins, strings, memory, printing,
        pointers, unions, arrays, switches, initialisers, oddities, heap,
    )
}  # fmt: skip
