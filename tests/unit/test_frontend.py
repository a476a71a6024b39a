"""The C front end: what becomes of C, and what it says when it cannot make anything of it."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from mazurka import check
from mazurka._native import Exploration
from mazurka.errors import InputError
from mazurka.frontends.c import load_c_program
from mazurka.frontends.c.compiler import CompileError, bundled_compiler
from mazurka.frontends.c.refusing import Refused
from mazurka.machine.lowering import lower
from mazurka.program import instructions as ins
from mazurka.program.cfg import successors
from mazurka.program.instructions import (
    Assume,
    AtomicBegin,
    AtomicEnd,
    Await,
    Binary,
    Call,
    Choose,
    Claim,
    CompareExchange,
    Constant,
    EndThread,
    Fail,
    Fence,
    GlobalAddress,
    HeapAlloc,
    Instruction,
    Load,
    Offset,
    Return,
    Spawn,
    StackAlloc,
    Store,
    Switch,
    ThreadLocalAddress,
    Update,
)
from mazurka.program.program import Function, Program
from mazurka.program.types import I32, I64
from mazurka.program.validate import validate
from mazurka.result import Verdict
from mazurka.transforms import prepare
from tests import ROOT

Kind = TypeVar("Kind", bound=Instruction)
Load_ = Callable[..., Program]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load_:
    """Write files into an empty directory, go there, and load the first one, or those in `files`."""
    monkeypatch.chdir(tmp_path)

    def load(*sources: str, name: str = "program.c", **options: object) -> Program:
        names = [name, *(f"other{index}.c" for index in range(1, len(sources)))]
        for path, source in zip(names, sources, strict=True):
            (tmp_path / path).write_text(source)
        program = load_c_program(names, **options)  # type: ignore[arg-type]
        validate(program)
        return program

    return load


def instructions(function: Function, kind: type[Kind]) -> list[Kind]:
    return [
        instruction
        for block in function.blocks.values()
        for instruction in block.instructions
        if isinstance(instruction, kind)
    ]


def widths(function: Function) -> list[int]:
    """The sizes of what a function stores, in order."""
    return [store.value.type.size for store in instructions(function, Store)]


# --------------------------------------------------------------------------------------------- programs


def test_entry_calls_constructors_then_main_and_ends_only_its_thread(load: Load_) -> None:
    program = load(
        """
        static void second(void) __attribute__((constructor(300)));
        static void first(void) __attribute__((constructor(200)));
        static void second(void) {}
        static void first(void) {}
        int main(int argc, char **argv) { return argc; }
        """,
        program_arguments=["one", "two"],
    )
    entry = program.functions[program.entry]
    assert entry.library
    calls = instructions(entry, Call)
    assert [call.callee for call in calls] == ["first", "second", "main"]
    assert calls[-1].arguments == [Constant(I32, 3), GlobalAddress("__mazurka_argv")]
    assert program.globals["__mazurka_argv.0"].data == b"program\0"
    assert program.globals["__mazurka_argv.2"].data == b"two\0"
    assert isinstance(entry.entry.terminator, EndThread)


def test_only_what_main_reaches_is_translated(load: Load_) -> None:
    program = load("int fork(void); int unused(void) { return fork(); } int x; int main(void) { return 0; }")
    assert "unused" not in program.functions
    assert "x" not in program.globals


def test_every_instruction_has_a_line(load: Load_) -> None:
    program = load("int x;\nint main(int argc, char **argv) {\n  x = 1;\n  return x;\n}\n")
    main = program.functions["main"]
    assert str(main.location) == "program.c:2"
    stores = [store for store in instructions(main, Store) if store.address == GlobalAddress("x")]
    assert [str(store.location) for store in stores] == ["program.c:3"]
    assert all(instruction.location is not None for instruction in instructions(main, Instruction))


def test_files_are_named_as_the_user_named_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder").mkdir()
    source = tmp_path / "folder" / "a.c"
    source.write_text("int main(void) { return 0; }")
    monkeypatch.chdir(tmp_path)
    for name in (str(source), "folder/a.c", "./folder/../folder/a.c"):
        location = load_c_program([name]).functions["main"].location
        assert location is not None
        assert location.file == name


def test_an_included_file_is_named_from_here(load: Load_, tmp_path: Path) -> None:
    (tmp_path / "part.h").write_text("static int part(void) { return 1; }\n")
    program = load('#include "part.h"\nint main(void) { return part(); }')
    assert str(program.functions["part"].location) == "part.h:1"


# --------------------------------------------------------------------------------------------- accesses


def test_plain_accesses_stay_as_written(load: Load_) -> None:
    program = load("int x; int main(void) { x; x = x; return x + x; }")
    shared = [read for read in instructions(program.functions["main"], Load) if read.address == GlobalAddress("x")]
    assert len(shared) == 4
    assert {read.ordering for read in shared} == {"plain"}
    assert {read.align for read in shared} == {4}


@pytest.mark.parametrize(
    ("statement", "op"),
    [
        ("atomic_fetch_add(&x, 1)", "add"),
        ("atomic_fetch_sub(&x, 1)", "sub"),
        ("atomic_fetch_or(&x, 1)", "or"),
        ("atomic_fetch_and(&x, 1)", "and"),
        ("atomic_fetch_xor(&x, 1)", "xor"),
        ("atomic_exchange(&x, 1)", "exchange"),
        ("x++", "add"),
        ("__atomic_fetch_nand(&y, 1, 5)", "nand"),
        ("__atomic_fetch_max(&y, 1, 5)", "max"),
        ("__atomic_fetch_min(&y, 1, 5)", "min"),
        ("__atomic_fetch_max(&u, 1, 5)", "umax"),
        ("__atomic_fetch_min(&u, 1, 5)", "umin"),
        ("__sync_fetch_and_add(&y, 1)", "add"),
        ("__sync_lock_test_and_set(&y, 1)", "exchange"),
    ],
)
def test_atomic_updates(load: Load_, statement: str, op: str) -> None:
    program = load(
        f"#include <stdatomic.h>\n_Atomic int x; int y; unsigned u; int main(void) {{ {statement}; return 0; }}"
    )
    (update,) = instructions(program.functions["main"], Update)
    assert (update.op, update.ordering) == (op, "seq_cst")


def test_the_result_of_an_update_exists_only_if_it_is_used(load: Load_) -> None:
    program = load("int x; int main(void) { __sync_fetch_and_add(&x, 1); return __sync_fetch_and_add(&x, 2); }")
    unused, used = instructions(program.functions["main"], Update)
    assert unused.result is None
    assert used.result is not None


def test_compare_exchange_reads_only_what_is_used(load: Load_) -> None:
    program = load("int x; int main(void) { return __sync_bool_compare_and_swap(&x, 1, 2); }")
    (instruction,) = instructions(program.functions["main"], CompareExchange)
    assert instruction.result is None
    assert instruction.success is not None


@pytest.mark.parametrize(
    ("order", "loads", "stores"),
    [
        ("relaxed", "relaxed", "relaxed"),
        ("acquire", "acquire", None),
        ("release", None, "release"),
        ("seq_cst", "seq_cst", "seq_cst"),
    ],
)
def test_memory_orders(load: Load_, order: str, loads: str | None, stores: str | None) -> None:
    read = f"atomic_load_explicit(&x, memory_order_{order});" if loads else ""
    write = f"atomic_store_explicit(&x, 1, memory_order_{order});" if stores else ""
    program = load(f"#include <stdatomic.h>\n_Atomic int x; int main(void) {{ {read} {write} return 0; }}")
    main = program.functions["main"]
    assert [i.ordering for i in instructions(main, Load) if i.address == GlobalAddress("x")] == [loads] * bool(loads)
    assert [i.ordering for i in instructions(main, Store) if i.address == GlobalAddress("x")] == [stores] * bool(stores)


def test_an_atomic_addition_of_floats_is_one_event(load: Load_, tmp_path: Path) -> None:
    ir = """
    @x = global double 0.0
    define i32 @main() {
      %old = atomicrmw fadd ptr @x, double 1.5 seq_cst
      ret i32 0
    }
    """
    main = load(ir, name="program.ll").functions["main"]
    kinds = [type(instruction) for instruction in main.entry.instructions]
    assert kinds[:5] == [AtomicBegin, Load, Binary, Store, AtomicEnd]


def test_a_structure_is_copied_member_by_member(load: Load_) -> None:
    program = load(
        "struct s { int a, b, c; } x, y; int main(void) { x = y; return 0; }",
    )
    main = program.functions["main"]
    targets = [store.address for store in instructions(main, Store)][1:]
    assert targets == [GlobalAddress("x", 0), GlobalAddress("x", 4), GlobalAddress("x", 8)]


def test_a_structure_passed_in_a_register_can_be_torn(load: Load_) -> None:
    program = load("struct s { int a, b; } x; int f(struct s s) { return s.b; } int main(void) { return f(x); }")
    reads = [read for read in instructions(program.functions["main"], Load) if isinstance(read.address, GlobalAddress)]
    assert [read.address for read in reads] == [GlobalAddress("x", 0), GlobalAddress("x", 4)]


def test_a_bit_field_of_three_bytes_leaves_the_fourth_alone(load: Load_) -> None:
    program = load("struct s { unsigned a : 20; char b; } x; int main(void) { x.a = 5; return 0; }")
    stores = [s for s in instructions(program.functions["main"], Store)]
    touched = set()
    for store in stores:
        if isinstance(store.address, GlobalAddress):
            touched |= set(range(store.address.offset, store.address.offset + store.value.type.size))
    assert touched == {0, 1, 2}


def test_copies_follow_the_alignment(load: Load_) -> None:
    program = load(
        """
        #include <string.h>
        char a[8], b[8]; long c[2], d[2]; int e[40], f[40];
        int main(void) { memcpy(a, b, 8); memcpy(c, d, 16); return 0; }
        void big(void);
        """
    )
    assert widths(program.functions["main"])[1:] == [1] * 8 + [8, 8]


def test_large_copies_call_the_library(load: Load_) -> None:
    program = load("struct s { int a[40]; } x, y; int main(void) { x = y; return 0; }")
    (call,) = instructions(program.functions["main"], Call)
    assert call.callee == "__mazurka_copy"
    assert call.arguments[2:] == [Constant(I64, 160), Constant(I64, 4)]
    assert program.functions["__mazurka_copy"].library


def test_memmove_reads_everything_first(load: Load_) -> None:
    program = load(
        "#include <string.h>\nint x[4]; int main(void) { memmove(x + 1, x, 12); return 0; }",
    )
    main = program.functions["main"].entry.instructions
    kinds = [type(i) for i in main if isinstance(i, Load | Store)][1:]
    assert kinds == [Load] * 3 + [Store] * 3


def test_fences_between_threads_and_nothing_for_other_barriers(load: Load_) -> None:
    program = load(
        """
        #include <stdatomic.h>
        int main(void) {
            int x = 1;
            atomic_thread_fence(memory_order_seq_cst);
            __sync_synchronize();
            atomic_thread_fence(memory_order_consume);
            atomic_signal_fence(memory_order_seq_cst);
            asm volatile("" ::: "memory");
            asm volatile("" : "+r"(x));
            asm volatile("pause");
            __builtin_ia32_pause();
            return x;
        }
        """
    )
    assert not instructions(program.functions["main"], Call)
    fences = instructions(program.functions["main"], Fence)
    assert [fence.ordering for fence in fences] == ["seq_cst", "seq_cst", "acquire"]


def test_thread_locals(load: Load_) -> None:
    program = load("static _Thread_local int x = 3; int main(void) { return x++; }")
    assert program.globals["x"].thread_local
    assert program.globals["x"].data == b"\3\0\0\0"
    assert {i.name for i in instructions(program.functions["main"], ThreadLocalAddress)} == {"x"}


# ----------------------------------------------------------------------------------- values and functions


def test_addresses_are_folded(load: Load_) -> None:
    program = load(
        "struct s { int a; int b[4]; } x[3]; int main(int argc, char **argv) { return x[1].b[2] + x[2].b[argc]; }",
    )
    main = program.functions["main"]
    assert GlobalAddress("x", 20 + 4 + 8) in [read.address for read in instructions(main, Load)]
    (offset,) = instructions(main, Offset)
    assert (offset.base, offset.scale, offset.displacement) == (GlobalAddress("x", 44), 4, 0)


def test_an_address_does_not_change_when_another_is_computed_from_it(load: Load_) -> None:
    program = load(
        """
        define i32 @main() {
          %a = alloca [3 x { i32, i32 }]
          %n = load i64, ptr %a
          %p = getelementptr [3 x { i32, i32 }], ptr %a, i64 0, i64 %n
          %q = getelementptr { i32, i32 }, ptr %p, i32 0, i32 1
          store i32 1, ptr %p
          store i32 2, ptr %q
          ret i32 0
        }
        """,
        name="program.ll",
    )
    first, second = instructions(program.functions["main"], Offset)
    assert (first.scale, first.displacement) == (8, 0)
    assert (second.base, second.displacement) == (first.result, 4)


def test_initialisers_with_addresses(load: Load_) -> None:
    program = load(
        """
        int a[4]; int f(void) { return 0; }
        struct { char c; int *p; int (*f)(void); const char *s; float x; } t = { 'x', &a[2], f, "text", 1.5f };
        int main(void) { return t.f(); }
        """
    )
    table = program.globals["t"]
    assert table.data[:1] == b"x"
    assert table.data[32:36] == b"\0\0\xc0\x3f"
    places = {relocation.offset: relocation for relocation in table.relocations}
    assert (places[8].target, places[8].addend) == ("a", 8)
    assert places[16].target == "f"
    assert program.globals[places[24].target].data == b"text\0"
    assert program.globals[places[24].target].constant


def test_structures_are_returned_through_a_hidden_pointer(load: Load_) -> None:
    program = load(
        """
        struct s { double a; long b; };
        struct s f(struct s s) { return s; }
        int main(void) { struct s s = { 1, 2 }; s = f(s); return (int)s.b; }
        """
    )
    function = program.functions["f"]
    assert [str(parameter.type) for parameter in function.parameters] == ["ptr", "f64", "i64"]
    assert function.returns is None


def test_large_structures_are_copied_by_the_call(load: Load_) -> None:
    program = load(
        """
        struct s { int a[5]; } x;
        int f(struct s s) { s.a[0] = 1; return s.a[4]; }
        int main(void) { return f(x); }
        """
    )
    function = program.functions["f"]
    (copy,) = [i for i in instructions(function, StackAlloc) if i.variable == "s"]
    assert copy.size == Constant(I64, 20)
    assert widths(function)[:5] == [4] * 5


def test_variadic_arguments_lie_where_a_function_saves_its_registers(load: Load_) -> None:
    program = load(
        """
        #include <stdarg.h>
        int f(int n, ...) { va_list ap; va_start(ap, n); n = va_arg(ap, int); va_end(ap); return n; }
        int main(void) { return f(1, 2, 3.5, "x"); }
        """
    )
    function = program.functions["f"]
    assert [str(parameter.type) for parameter in function.parameters] == ["i32", "ptr"]
    main = program.functions["main"]
    (area,) = [i for i in instructions(main, StackAlloc) if i.private]
    assert area.size == Constant(I64, 56)  # the floats come after the six other registers
    assert [str(s.value.type) for s in instructions(main, Store)][1:] == ["i32", "f64", "ptr"]


def test_functions_without_a_prototype(load: Load_) -> None:
    program = load("int f(); int main(void) { return f(1, 2); } int f(a, b) int a; int b; { return a + b; }")
    (call,) = instructions(program.functions["main"], Call)
    assert call.arguments == [Constant(I32, 1), Constant(I32, 2)]


def test_switch(load: Load_) -> None:
    program = load("int main(int c, char **v) { switch (c) { case -1: return 1; case 7: return 2; } return 0; }")
    (switch,) = instructions(program.functions["main"], Switch)
    assert [value for value, _ in switch.cases] == [0xFFFFFFFF, 7]


def test_calls_through_pointers(load: Load_) -> None:
    program = load("int f(int x) { return x; } int (*p)(int) = f; int main(void) { return p(3); }")
    (call,) = instructions(program.functions["main"], Call)
    assert not isinstance(call.callee, str)
    assert "f" in program.functions


COMPUTATIONS = r"""
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct { float x, y, z; } Vector;
typedef struct { double a; long b; } Mixed;
typedef struct { char c[3]; } Small;
typedef struct { int a[30]; } Big;
typedef struct { short s; int i; char c; } Padded;
typedef struct __attribute__((packed)) { char c; int i; double d; long l; } Packed;
struct { unsigned a : 20; char b; unsigned long z : 33; int s : 7; } fields;
union { int i; float f; } both = { .f = 1.5f };

Vector vector(Vector v) { v.z += v.y * 2; return v; }
Mixed mixed(Mixed m) { m.b++; m.a *= 2; return m; }
Small small(Small s) { s.c[2] += 2; return s; }
Big big(Big b, int n) { b.a[n] = n; return b; }
Padded padded(Padded p) { p.c++; p.i--; p.s *= 2; return p; }

int sum(const char *format, ...) {
    va_list list, copy;
    int result = 0;
    va_start(list, format);
    va_copy(copy, list);
    for (; *format; format++)
        switch (*format) {
        case 'i': result += va_arg(list, int); break;
        case 'd': result += (int)va_arg(list, double); break;
        case 'v': { Vector v = va_arg(list, Vector); result += v.x + v.z; break; }
        case 'm': { Mixed m = va_arg(list, Mixed); result += m.b; break; }
        case 'b': { Big b = va_arg(list, Big); result += b.a[29]; break; }
        case 's': { Small s = va_arg(list, Small); result += s.c[1]; break; }
        }
    result += va_arg(copy, int);
    va_end(copy);
    va_end(list);
    return result;
}

int overflows(int a, int b) {
    int r; unsigned u; long l;
    return __builtin_add_overflow(a, b, &r) | __builtin_sub_overflow(a, b, &r) << 1
         | __builtin_mul_overflow(a, b, &r) << 2 | __builtin_mul_overflow((unsigned)a, (unsigned)b, &u) << 3
         | __builtin_add_overflow((unsigned)a, (unsigned)b, &u) << 4
         | __builtin_mul_overflow((long)a << 32, (long)b, &l) << 5;
}

int main(int argc, char **argv) {
    Vector v = vector((Vector){1, 2, 3});
    assert(v.x == 1 && v.z == 7);
    Mixed m = mixed((Mixed){1.25, 7});
    assert(m.a == 2.5 && m.b == 8);
    Small s = small((Small){"ab"});
    assert(s.c[0] == 'a' && s.c[2] == 2);
    Big b;
    memset(&b, 1, sizeof b);
    b = big(b, 29);
    assert(b.a[28] == 0x01010101 && b.a[29] == 29);
    Padded p = padded((Padded){3, 4, 5});
    assert(p.s == 6 && p.i == 3 && p.c == 6);
    assert(sum("iidvmbsi", 1, 2, 3.9, v, m, b, s, 100) == 1 + 2 + 3 + 8 + 8 + 29 + 'b' + 100 + 1);

    fields.a = 0xfffff; fields.b = 'b'; fields.z = 0x1ffffffffUL; fields.z++; fields.s = -5;
    assert(fields.a == 0xfffff && fields.b == 'b' && fields.z == 0 && fields.s == -5);
    Packed k = { 'q', 70000, 2.5, 1L << 40 };
    Packed copy = k;
    copy.i++;
    assert(copy.c == 'q' && copy.i == 70001 && copy.d == 2.5 && copy.l == 1L << 40);
    both.i++;
    assert(both.i == 0x3fc00001 && both.f > 1.5f);

    assert(overflows(1, 2) == 0 && overflows(INT_MAX, 1) == 1 && overflows(0, INT_MIN) == 2);
    assert(overflows(46341, 46341) == (4 | 32) && overflows(INT_MIN, -1) == (1 | 4 | 8 | 16 | 32));
    assert(__builtin_popcount(255) == 8 && __builtin_clz(1) == 31 && __builtin_ctzl(8) == 3);
    assert(__builtin_bswap32(1) == 0x01000000 && __builtin_bitreverse8(1) == 0x80);
    assert(__builtin_rotateleft32(0x80000001u, 1) == 3 && __builtin_rotateright32(5, 0) == 5);
    assert(abs(argc - 4) == 3 && -7 / 2 == -3 && -7 % 2 == -1 && -7 >> 1 == -4);
    assert((short)40000 == -25536 && (unsigned char)-1 == 255 && (double)UINT64_MAX == 0x1p64);
    assert((int)-2.7 == -2 && (unsigned)3.9e9 == 3900000000u);

    double zero = argc - 1, inf = 1 / zero, nan = zero / zero;
    assert(isnan(nan) && isinf(inf) && !isfinite(inf) && isfinite(zero) && isnormal(1.5) && signbit(-zero));
    assert(!(nan < 1) && !(nan >= 1) && nan != nan && isunordered(nan, 1));
    assert(fmin(nan, 1) == 1 && fmax(2, 1) == 2 && copysign(3, -zero) == -3 && fabs(-inf) == inf);
    assert(floor(-1.5) == -2 && ceil(1.2) == 2 && trunc(-1.5) == -1 && round(2.5) == 3 && sqrt(16) == 4);

    char text[32] = "hello";
    memmove(text + 2, text, 6);
    assert(!strcmp(text, "hehello"));
    int matrix[argc + 1][3];
    matrix[argc][2] = 8;
    assert((&matrix[0][0])[5] == 8);
    return 0;
}
"""


def test_computes_as_c_does(load: Load_) -> None:
    result = check(load(COMPUTATIONS))
    assert result.bug is None
    assert result.verdict is Verdict.OK


# ----------------------------------------------------------------------- library, intrinsics, conventions


def test_assert_becomes_a_failure_with_its_text(load: Load_) -> None:
    program = load("#include <assert.h>\nint x;\nint main(void) {\n  assert(x == 3);\n  return 0;\n}\n")
    (fail,) = instructions(program.functions["main"], Fail)
    assert (fail.kind, fail.message, str(fail.location)) == (
        "assertion",
        "assertion `x == 3` failed",
        "program.c:4",
    )
    assert not any(variable.constant for variable in program.globals.values())


def test_ndebug_is_the_user_s_choice(load: Load_) -> None:
    source = "#include <assert.h>\nint main(void) { assert(0); return 0; }"
    assert instructions(load(source).functions["main"], Fail)
    assert not instructions(load(source, compiler_arguments=["-DNDEBUG"]).functions["main"], Fail)


def test_models_are_library_functions_and_users_are_not(load: Load_) -> None:
    program = load(
        """
        #include <pthread.h>
        void *run(void *p) { return p; }
        int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); return pthread_join(t, 0); }
        """
    )
    assert not program.functions["main"].library
    assert not program.functions["run"].library
    assert program.functions["pthread_create"].library
    spawns = [i for function in program.functions.values() for i in instructions(function, Spawn)]
    assert len(spawns) == 1


def test_a_definition_of_the_user_wins_over_the_library(load: Load_) -> None:
    program = load("void *malloc(unsigned long n) { return 0; } int main(void) { return malloc(3) != 0; }")
    assert not program.functions["malloc"].library
    assert not instructions(program.functions["malloc"], HeapAlloc)


def test_instructions_of_the_machine_can_be_used_directly(load: Load_) -> None:
    program = load(
        """
        void __mazurka_atomic_begin(void); void __mazurka_atomic_end(void);
        void __mazurka_await(_Bool, const char *, const volatile void *, void *);
        void __mazurka_claim(const volatile void *, const char *);
        unsigned __mazurka_choose(unsigned); void *__mazurka_allocate(unsigned long, _Bool);
        int x;
        int main(void) {
            __mazurka_atomic_begin();
            __mazurka_claim(&x, "acquire");
            __mazurka_await(x == 0, "turn", &x, 0);
            __mazurka_atomic_end();
            __mazurka_allocate(8, 1);
            return __mazurka_choose(3);
        }
        """
    )
    main = program.functions["main"]
    (await_,) = instructions(main, Await)
    assert (await_.what, await_.object) == ("turn", GlobalAddress("x"))
    (claim,) = instructions(main, Claim)
    assert (claim.lock, claim.kind) == (GlobalAddress("x"), "acquire")
    assert len(instructions(main, AtomicBegin)) == len(instructions(main, AtomicEnd)) == 1
    assert instructions(main, HeapAlloc)[0].zeroed
    assert instructions(main, Choose)[0].count == Constant(I32, 3)


def paths(function: Function, block: str | None = None, before: tuple[str, ...] = ()) -> Iterator[list[Instruction]]:
    """What a function executes on its ways from the entry to a return, none of them through the same block twice."""
    name = block or function.entry.name
    code = function.blocks[name].instructions
    if isinstance(code[-1], Return):
        yield [each for visited in (*before, name) for each in function.blocks[visited].instructions]
    for target in successors(function.blocks[name]):
        if target not in (*before, name):
            yield from paths(function, target, (*before, name))


LOCKS = {
    "pthread_mutex_lock": {"acquire", "keep"},
    "pthread_mutex_unlock": {"release", "keep", "look"},
    "try_lock": {"try", "keep", "look"},  # (called by trylock, timedlock and clocklock)
    "start_waiting": {"release", "keep", "look"},
    "pthread_cond_wait": {"acquire", "keep"},
    "pthread_spin_lock": {"acquire"},
    "pthread_spin_trylock": {"try", "look"},
    "pthread_spin_unlock": {"release"},
    "pthread_rwlock_wrlock": {"acquire"},
    "pthread_rwlock_trywrlock": {"try", "look"},
}


def test_locks_claim_what_they_do(load: Load_) -> None:
    """On every way through an operation on a lock, once: before it waits for it, or else before its section ends."""
    program = load(
        """
        #include <pthread.h>
        pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c; pthread_spinlock_t s;
        pthread_rwlock_t rw; struct timespec t;
        int main(void) {
            pthread_mutex_lock(&m); pthread_mutex_trylock(&m); pthread_mutex_timedlock(&m, &t);
            pthread_mutex_unlock(&m); pthread_cond_wait(&c, &m); pthread_cond_timedwait(&c, &m, &t);
            pthread_spin_init(&s, 0); pthread_spin_lock(&s); pthread_spin_trylock(&s); pthread_spin_unlock(&s);
            pthread_rwlock_wrlock(&rw); pthread_rwlock_trywrlock(&rw); pthread_rwlock_unlock(&rw);
            pthread_rwlock_rdlock(&rw); pthread_rwlock_tryrdlock(&rw);
            pthread_mutex_init(&m, 0); pthread_mutex_destroy(&m); pthread_spin_destroy(&s);
            return 0;
        }
        """
    )
    for name, kinds in LOCKS.items():
        seen: set[str] = set()
        for path in paths(program.functions[name]):
            events = [each for each in path if isinstance(each, Claim | Await | AtomicEnd)]
            claims = [each for each in events if isinstance(each, Claim)]
            if not claims:
                # A wait that could not begin, which is told from what the first step returned.
                assert name == "pthread_cond_wait" and not any(isinstance(each, AtomicEnd) for each in events)
                continue
            (claim,) = claims
            seen.add(claim.kind)
            for wait in events:
                if isinstance(wait, Await) and wait.what != "condition variable":
                    assert claim.kind == "acquire"
                    assert events.index(claim) < events.index(wait)
            assert isinstance(events[-1], AtomicEnd)
        assert seen == kinds, name
    claiming = {name for name, function in program.functions.items() if instructions(function, Claim)}
    assert claiming == {*LOCKS, "pthread_cond_timedwait", "pthread_rwlock_unlock"}


@pytest.mark.parametrize(
    "name",
    ["mutex_kinds", "mutex_timed", "trylock_and_lock", "lock_order", "condition_while", "rwlock", "rwlock_operations"],
)
def test_claims_make_no_difference_to_executions(name: str) -> None:
    source = ROOT / "tests" / "programs" / f"{name}.c"
    counts = []
    for claims in (True, False):
        program = load_c_program([source])
        assert any(instructions(function, Claim) for function in program.functions.values())
        if not claims:
            for function in program.functions.values():
                for block in function.blocks.values():
                    block.instructions = [each for each in block.instructions if not isinstance(each, Claim)]
        for algorithm in ("optimal", "pop"):
            exploration = Exploration(lower(prepare(program)).code, algorithm=algorithm, keep_going=True)
            exploration.run()
            assert exploration.finished()
            counts.append((exploration.progress()[:3], exploration.bug()))
    assert counts[:2] == counts[2:]


def test_functions_called_verifier_atomic_run_atomically(load: Load_) -> None:
    program = load(
        """
        void __VERIFIER_assume(int);
        int x;
        void __VERIFIER_atomic_take(void) { __VERIFIER_assume(x == 0); x = 1; }
        int main(void) { __VERIFIER_atomic_take(); return 0; }
        """
    )
    section = program.functions["__VERIFIER_atomic_take"].entry.instructions
    assert isinstance(section[0], AtomicBegin)
    assert isinstance(section[-2], AtomicEnd)
    assert instructions(program.functions["__VERIFIER_atomic_take"], Assume)


def test_a_reach_error_of_the_program_is_used_as_it_is(load: Load_) -> None:
    program = load(
        """
        #include <assert.h>
        void reach_error(void) { assert(0); }
        int main(void) { reach_error(); return 0; }
        """
    )
    assert not program.functions["reach_error"].library
    assert instructions(program.functions["reach_error"], Fail)


# ----------------------------------------------------------------------------------------- debug information


def test_variables_have_names_and_types(load: Load_) -> None:
    program = load(
        """
        typedef struct node { struct node *next; int values[2][3]; unsigned flag : 3; } Node;
        enum color { RED, GREEN = 5 } color;
        Node head;
        int main(void) { static long calls; Node *local = &head; calls++; color = GREEN; return local->values[0][1]; }
        """
    )
    types = program.debug_types
    head = types[program.globals["head"].debug_type or ""]
    assert (head.name, head.kind, head.size) == ("Node", "struct", 40)
    assert [(member.name, member.offset) for member in head.members] == [("next", 0), ("values", 8), ("flag", 32)]
    assert head.members[2].bit_size == 3
    pointer = types[head.members[0].type or ""]
    assert (pointer.kind, types[pointer.element or ""].name) == ("pointer", "node")
    outer = types[head.members[1].type or ""]
    inner = types[outer.element or ""]
    assert [(outer.count, outer.size), (inner.count, inner.size)] == [(2, 24), (3, 12)]
    assert types[program.globals["color"].debug_type or ""].enumerators == (("RED", 0), ("GREEN", 5))
    assert program.globals["main.calls"].display == "main.calls"
    (local,) = [i for i in instructions(program.functions["main"], StackAlloc) if i.variable == "local"]
    assert types[local.debug_type or ""].kind == "pointer"
    assert str(program.globals["head"].location) == "program.c:4"


# ------------------------------------------------------------------------------------- files and options


def test_several_files_are_linked(load: Load_) -> None:
    program = load(
        "extern int shared; int f(void); static int help(void) { return 1; } int main(void) { return f() + help(); }",
        "int shared = 4; static int help(void) { return shared; } int f(void) { return help(); }",
    )
    helpers = [name for name in program.functions if name.startswith("help")]
    assert len(helpers) == 2
    (callee,) = [call.callee for call in instructions(program.functions["f"], Call)]
    assert instructions(program.functions[str(callee)], Load)[0].address == GlobalAddress("shared")


def test_compiler_options(load: Load_, tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "first.h").write_text("#define FIRST 1\n")
    (tmp_path / "second.h").write_text("#define SECOND 20\n")
    program = load(
        """
        #include <first.h>
        #ifdef GONE
        #error GONE
        #endif
        int x[FIRST + SECOND + THIRD]; int main(void) { return x[0]; }
        """,
        compiler_arguments=["-Iinclude", "-include", "second.h", "-DTHIRD=300", "-DGONE", "-UGONE", "-std=c11", "-O2"],
    )
    assert len(program.globals["x"].data) == 4 * 321


@pytest.mark.parametrize("suffix", [".ll", ".bc"])
def test_llvm_files(tmp_path: Path, suffix: str) -> None:
    source = tmp_path / "program.c"
    source.write_text("#include <pthread.h>\npthread_mutex_t m; int main(void) { return pthread_mutex_lock(&m); }")
    compiled = tmp_path / f"program{suffix}"
    subprocess.run(
        [
            bundled_compiler().command[0], "cc", "-target", "x86_64-linux-gnu", "-g", "-O0", "-w", "-fno-sanitize=all",
            "-emit-llvm", "-S" if suffix == ".ll" else "-c", "-o", str(compiled), str(source),
        ],
        check=True,
    )  # fmt: skip
    program = load_c_program([compiled])
    validate(program)
    assert program.functions["pthread_mutex_lock"].library
    location = program.functions["main"].location
    assert location is not None
    assert location.line == 2


def test_a_named_compiler(load: Load_, tmp_path: Path) -> None:
    script = tmp_path / "my-clang"
    bundled = bundled_compiler()
    command = [*bundled.command, *bundled.header_options(is_cpp=False)]
    script.write_text(f'#!/bin/sh\nexec {" ".join(command)} "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    program = load("int main(void) { return 0; }", cc=str(script))
    assert "main" in program.functions


def test_cpp(load: Load_) -> None:
    program = load(
        """
        #include <atomic>
        #include <pthread.h>
        struct Base { virtual int f() { return 1; } };
        struct Derived : Base { int f() override { return 2; } };
        std::atomic<int> x{0};
        void *run(void *) { x.fetch_add(1); x.store(2, std::memory_order_release); return nullptr; }
        int main() {
            pthread_t thread;
            pthread_create(&thread, nullptr, run, nullptr);
            Base *base = new Derived;
            return base->f() + x.load();
        }
        """,
        name="program.cpp",
    )
    assert not program.functions["_Z3runPv"].library
    methods = [function for function in program.functions.values() if instructions(function, Update)]
    assert methods
    assert all(function.library for function in methods)


def test_odd_but_valid_llvm(load: Load_) -> None:
    """Aliases, aggregates in phis and selects, a thread-local as a constant, an invoke, labels without names."""
    program = load(
        """
        @tls = thread_local global i32 7
        @array = global [3 x i32] [i32 1, i32 2, i32 3]
        @second = alias i32, getelementptr inbounds ([3 x i32], ptr @array, i64 0, i64 1)
        @alias = alias i32 (i32), ptr @same
        @distance = global i64 sub (i64 ptrtoint (ptr @second to i64), i64 ptrtoint (ptr @array to i64))
        declare extern_weak void @absent()
        declare i32 @__gxx_personality_v0(...)
        define i32 @same(i32) {
          ret i32 %0
        }
        define { i32, ptr } @pair(i1 %c) {
          br i1 %c, label %yes, label %no
        yes:
          br label %join
        no:
          br label %join
        join:
          %p = phi { i32, ptr } [ { i32 5, ptr @tls }, %yes ], [ { i32 6, ptr @second }, %no ]
          %q = insertvalue { i32, ptr } %p, i32 9, 0
          ret { i32, ptr } %q
        }
        define i32 @main() personality ptr @__gxx_personality_v0 {
          %1 = call { i32, ptr } @pair(i1 true)
          %2 = extractvalue { i32, ptr } %1, 1
          %3 = load i32, ptr %2
          %4 = invoke i32 @alias(i32 %3) to label %5 unwind label %pad
        5:
          %6 = load i64, ptr @distance
          %7 = trunc i64 %6 to i32
          %8 = add i32 %4, %7
          %9 = icmp eq i32 %8, 11
          %10 = icmp eq ptr @absent, null
          %11 = and i1 %9, %10
          br i1 %11, label %12, label %13
        12:
          ret i32 0
        13:
          unreachable
        pad:
          %14 = landingpad { ptr, i32 } cleanup
          resume { ptr, i32 } %14
        }
        """,
        name="program.ll",
    )
    assert check(program).verdict is Verdict.OK


def test_the_library_works_without_a_cache(load: Load_, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    program = load("#include <stdlib.h>\nint main(void) { free(malloc(1)); return 0; }")
    assert program.functions["malloc"].library


def test_a_header_that_comes_to_stand_before_another(load: Load_, tmp_path: Path) -> None:
    """What is compiled is always what the files say now."""
    source = """
        #include <size.h>
        #if __has_include("optional.h")
        #include "optional.h"
        #endif
        #ifndef OPTIONAL
        #define OPTIONAL 0
        #endif
        char x[SIZE + OPTIONAL]; int main(void) { return x[0]; }
    """

    def size() -> int:
        return len(load(source, compiler_arguments=["-Ifirst", "-Isecond"]).globals["x"].data)

    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
    (tmp_path / "second" / "size.h").write_text("#define SIZE 1\n")
    assert size() == 1
    (tmp_path / "first" / "size.h").write_text("#define SIZE 2\n")
    assert size() == 2
    (tmp_path / "optional.h").write_text("#define OPTIONAL 10\n")
    assert size() == 12


def test_headers_that_the_environment_names(load: Load_, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """They are for the program, and never for the library, whose models are kept for later programs."""
    for size in (1, 2):
        folder = tmp_path / f"folder{size}"
        folder.mkdir()
        (folder / "size.h").write_text(f"#define SIZE {size}\n")
        (folder / "stdint.h").write_text("#error not for the library\n")
        monkeypatch.setenv("CPATH", str(folder))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        program = load("#include <size.h>\nchar x[SIZE]; int main(void) { return x[0]; }")
        assert len(program.globals["x"].data) == size


def test_neither_a_home_nor_a_directory_to_write_to(
    load: Load_, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("HOME", "XDG_CACHE_HOME", "TMPDIR"):
        monkeypatch.delenv(name, raising=False)

    def no_home() -> Path:
        raise RuntimeError("no home directory")

    monkeypatch.setattr(Path, "home", no_home)
    program = load("#include <stdlib.h>\nint main(void) { free(malloc(1)); return 0; }")
    assert program.functions["malloc"].library
    assert os.listdir(tmp_path) == ["program.c"]


@pytest.mark.parametrize("garbage", [b"", b"garbage\n", b"\xff\xfe\x00"])
def test_a_library_cache_that_was_damaged(
    load: Load_, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, garbage: bytes
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = "#include <stdlib.h>\nint main(void) { free(malloc(1)); return 0; }"
    load(source)
    (kept,) = (tmp_path / "cache").glob("mazurka/library-*/memory.c.ll")
    content = kept.read_bytes()
    kept.write_bytes(content[: len(content) // 2] + garbage)
    assert load(source).functions["malloc"].library
    assert kept.read_bytes() == content


def test_options_of_a_build_do_no_harm(load: Load_) -> None:
    options = ["-O3", "-g0", "-Wall", "-Wextra", "-Werror", "-Wl,-O1", "-pthread", "-lpthread", "-lrt", "-lm"]
    program = load("int unused(int a) { int b; } int main(void) { return 0; }", compiler_arguments=options)
    assert program.functions["main"].location is not None


def test_no_file_is_left_behind(load: Load_, tmp_path: Path) -> None:
    load("int main(void) { return 0; }")
    assert os.listdir(tmp_path) == ["program.c"]


# -------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "#include <stdlib.h>\nint main(void) {\n  return rand();\n}",
            "program.c:3: calls 'rand', which may return any value; use __VERIFIER_nondet_range(low, high) instead",
        ),
        (
            "#include <unistd.h>\nint main(void) {\n  return fork();\n}",
            "program.c:3: calls 'fork', which Mazurka does not model; remove the call, or define the function",
        ),
        (
            "#include <signal.h>\nint main(void) { sigset_t s; int n; return sigwait(&s, &n); }",
            "program.c:2: calls 'sigwait', which Mazurka does not model",
        ),
        (
            'int main(void) {\n  int x = 0;\n  asm("incl %0" : "+m"(x));\n  return x;\n}',
            "program.c:3: inline assembly is not supported; write it in C, or with atomics",
        ),
        ('asm("nop");\nint main(void) { return 0; }', "program.c: assembly outside of functions is not supported"),
        (
            "int main(void) {\n  long double x = 1;\n  return x;\n}",
            "program.c:2: the type long double is not supported; use float or double",
        ),
        (
            "int main(void) {\n  unsigned _BitInt(200) x = 1;\n  return x == 2;\n}",
            "program.c:1: an integer of 256 bits is not supported; use at most 64 bits, or 128",
        ),
        ("long double x = 1;\nint main(void) { return x > 0; }", "the type long double is not supported"),
        (
            "int __VERIFIER_nondet_int(void);\nint main(void) {\n  return __VERIFIER_nondet_int();\n}",
            "program.c:3: calls '__VERIFIER_nondet_int', which may return any value; use __VERIFIER_nondet_bool()",
        ),
        (
            "extern int x;\nint main(void) {\n  return x;\n}",
            "program.c:3: 'x' is used, which is defined nowhere and which Mazurka does not model; give the file",
        ),
        (
            "void f(void);\nvoid (*p)(void) = f;\nint main(void) { p(); return 0; }",
            "program.c:2: 'f' is used, which is defined nowhere",
        ),
        (
            "__attribute__((destructor)) void f(void) {}\nint main(void) { return 0; }",
            "program.c:1: 'f' is to run when the program ends (a destructor), which is not supported",
        ),
        (
            "char x[40 << 20];\nint main(void) { return x[0]; }",
            "program.c:1: 'x' has 41943040 bytes, more than the 32 MiB",
        ),
        ("int f(void) { return 0; }", "no function 'main' in program.c; give the file that defines it as well"),
    ],
)
def test_what_is_unsupported_is_refused_with_its_line(load: Load_, source: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load(source)
    assert message in str(caught.value)


def test_everything_that_is_unsupported_is_told_at_once(load: Load_) -> None:
    program = """
        #include <stdlib.h>
        #include <unistd.h>
        int missing(int), gone(void), helper(int);
        int (*table[])(void) = {gone, fork};
        static void callback(void) {
            asm("cpuid");
        }
        static void unused(void) { fork(); }
        void call_later(void (*)(void));
        int main(int count, char **words) {
            void *labels[] = {&&one, &&two};
            call_later(callback);
            goto *labels[rand() & 1];
        one:
            return missing(rand());
        two:
            return helper(missing(2)) + table[count]();
        }
        """
    other = """
        int missing(int);
        __attribute__((destructor)) void first(void) {}
        __attribute__((destructor)) void second(void) {}
        int helper(int x) { return missing(x); }
        """
    with pytest.raises(Refused) as caught:
        load(program, other)
    found = [
        (refusal.message.split(";")[0].split(",")[0].split(" (")[0], *map(str, refusal.places))
        for refusal in caught.value.refusals
    ]
    assert found == [
        ("'first' is to run when the program ends", "other1.c:3"),
        ("'second' is to run when the program ends", "other1.c:4"),
        ("calls 'missing'", "other1.c:5", "program.c:16", "program.c:18"),
        ("'gone' is used", "program.c:5"),
        ("'fork' is used", "program.c:5"),
        ("inline assembly is not supported", "program.c:7"),
        ("calls 'call_later'", "program.c:13"),
        ("calls 'rand'", "program.c:14", "program.c:16"),
    ]
    lines = str(caught.value).splitlines()
    assert lines[0] == "8 things in this program are not supported:"
    assert len(lines) == 9


def test_a_long_list_of_refusals_is_cut_short(load: Load_) -> None:
    calls = "\n".join(f"f{number}(); g();" for number in range(70))
    declarations = "".join(f"void f{number}(void);" for number in range(70))
    with pytest.raises(Refused) as caught:
        load(f"{declarations} void g(void);\nint main(void) {{\n{calls}\nreturn 0; }}")
    assert len(caught.value.refusals) == 71
    text = str(caught.value)
    assert text.endswith("\n… and 21 more")
    assert len(text.splitlines()) == 52
    (repeated,) = [line for line in text.splitlines() if "calls 'g'" in line]
    assert repeated.startswith("program.c:3: ")
    assert repeated.endswith("program.c:10, program.c:11 and 61 more places)")


def test_a_value_of_something_refused_leads_to_no_more_refusals(load: Load_) -> None:
    source = "int f(void), g(int *, double);\nint main(void) {\n int x = f();\n return x + (f() ? f() : g(&x, f()));\n}"
    with pytest.raises(Refused) as caught:
        load(source)
    assert [list(map(str, refusal.places)) for refusal in caught.value.refusals] == [
        ["program.c:3", "program.c:4"],
        ["program.c:4"],
    ]


def test_cpp_exceptions_are_refused_by_the_compiler_if_so_asked(load: Load_) -> None:
    with pytest.raises(CompileError, match=r"program\.cpp:1:\d+: error: cannot use 'throw' with exceptions disabled"):
        load("int main() { throw 1; }", name="program.cpp", compiler_arguments=["-fno-exceptions"])


@pytest.mark.parametrize("statement", ["", 'puts("throws nothing");', 'try { puts("nor here"); } catch (int) {}'])
def test_where_nothing_throws_there_are_no_exceptions(load: Load_, statement: str) -> None:
    """Neither the runtime nor tests become part of the program."""
    source = (
        '#include <stdio.h>\nstruct Object { ~Object() { puts("destroyed"); } };\n'
        f"int main() {{ Object object; {statement} return 0; }}"
    )
    program = load(source, name="program.cpp")
    names = (*program.functions, *program.globals)
    assert not any("__cxa" in name or name == ins.IN_FLIGHT for name in names)


def test_only_calls_that_may_throw_are_followed_by_a_test(load: Load_) -> None:
    source = (
        "void never() {} void sometimes(int n) { if (n) throw n; }\n"
        "int once() { never(); return 1; }\n"
        "int twice() { never(); sometimes(1); sometimes(0); return 2; }\n"
        "int quiet() noexcept { sometimes(0); return 3; }\n"
        "int main() { try { return once() + twice() + quiet(); } catch (int) { return 0; } }"
    )
    functions = load(source, name="program.cpp").functions

    def tests(name: str) -> int:
        own = (each for each in functions[name].instructions if isinstance(each, ins.ThreadLocalAddress))
        return sum(each.name == ins.IN_FLIGHT for each in own)

    # (A landing pad looks once more; `throw` itself is a call that may throw.)
    assert [tests(name) for name in ("_Z4oncev", "_Z5twicev", "_Z5neverv", "_Z9sometimesi")] == [0, 2, 0, 1]
    assert tests("_Z5quietv") == 2
    assert not any(isinstance(each, ins.Return) and each.thrown for each in functions["_Z5quietv"].instructions)
    assert any(isinstance(each, ins.Return) and each.thrown for each in functions["_Z5twicev"].instructions)


def test_unmodelled_parts_of_the_cpp_library_are_named_readably(load: Load_) -> None:
    source = "namespace space { struct Thing { void go(int); }; }\nint main() { space::Thing thing; thing.go(1); }"
    with pytest.raises(InputError, match=r"program\.cpp:2: calls 'space::Thing::go', which Mazurka does not model"):
        load(source, name="program.cpp")


def test_a_refusal_inside_of_the_library_names_the_line_of_the_program(load: Load_) -> None:
    source = """
        #include <filesystem>
        int main() {
            std::filesystem::current_path();
        }
        """
    expected = r"^program\.cpp:4: calls 'std::filesystem::__current_path': .* \(called at .*operations\.h:\d+\)$"
    with pytest.raises(InputError, match=expected):
        load(source, name="program.cpp")


def test_facets_that_are_left_out_are_refused(load: Load_) -> None:
    source = """
        #include <ctime>
        #include <iomanip>
        #include <sstream>
        int main() {
            std::tm time{};
            std::ostringstream out;
            out << std::put_time(&time, "%Y");
        }
        """
    with pytest.raises(InputError, match=r"^program\.cpp:8: the facet 'std::time_put' of locales is not supported"):
        load(source, name="program.cpp")


def test_each_call_that_comes_to_a_refusal_in_the_library_is_named(load: Load_) -> None:
    source = """
        #include <algorithm>
        #include <filesystem>
        static int unsupported(int x) { long double y = x; return y > 1; }
        int main() {
            int x[] = {2, 1};
            std::filesystem::current_path();
            std::filesystem::current_path();
            return std::count_if(x, x + 2, unsupported);
        }
        """
    with pytest.raises(Refused) as caught:
        load(source, name="program.cpp")
    assert [list(map(str, refusal.places)) for refusal in caught.value.refusals] == [
        ["program.cpp:4"],
        ["program.cpp:7", "program.cpp:8"],
    ]


def test_multiple_definitions(load: Load_) -> None:
    with pytest.raises(InputError) as caught:
        load("int f(void) { return 0; }\nint main(void) { return f(); }", "\nint f(void) { return 1; }")
    assert str(caught.value) == (
        "other1.c:2: multiple definition of 'f', which is also defined at program.c:1; "
        "remove one, or make both `static`"
    )


def test_compiler_errors_are_passed_on(load: Load_) -> None:
    with pytest.raises(CompileError) as caught:
        load("int main(void) { return undeclared; }")
    assert "program.c:1:25: error: use of undeclared identifier 'undeclared'" in str(caught.value)
    assert "1 error generated." in str(caught.value)


def test_compiler_errors_of_all_files_are_passed_on(load: Load_) -> None:
    with pytest.raises(CompileError) as caught:
        load("int main(void) { return undeclared; }", "int f(void) { return unknown; }", "int g(void) { return 0; }")
    assert "program.c:1:25: error: use of undeclared identifier 'undeclared'" in str(caught.value)
    assert "other1.c:1:22: error: use of undeclared identifier 'unknown'" in str(caught.value)


def test_inputs_that_are_no_programs(tmp_path: Path) -> None:
    (tmp_path / "folder.c").mkdir()
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "wrong.ll").write_text("nonsense")
    (tmp_path / "wrong.bc").write_bytes(b"BC nonsense")
    (tmp_path / "arm.ll").write_text('target triple = "aarch64-linux-gnu"\ndefine i32 @main() {\n  ret i32 0\n}\n')
    for files, message in [
        ([], "no input file; name at least one C, C++ or LLVM file"),
        ([tmp_path / "missing.c"], "missing.c: no such file"),
        ([tmp_path / "missing.ll"], "missing.ll: no such file"),
        ([tmp_path / "folder.c"], "folder.c: is a directory; name the source files in it"),
        ([tmp_path / "notes.txt"], "notes.txt: not a C, C++ or LLVM file; its name should end in .c"),
        ([tmp_path / "wrong.ll"], "wrong.ll: not valid LLVM: "),
        ([tmp_path / "wrong.bc"], "wrong.bc: not valid LLVM: "),
        ([tmp_path / "arm.ll"], "arm.ll: compiled for aarch64-linux-gnu; compile it with `-target x86_64-linux-gnu`"),
    ]:
        with pytest.raises(InputError) as caught:
            load_c_program(files)
        assert message in str(caught.value)


def test_a_compiler_that_is_not_there(load: Load_) -> None:
    with pytest.raises(InputError, match="--cc no-such-clang: no such compiler; name an installed clang"):
        load("int main(void) { return 0; }", cc="no-such-clang")


def test_a_compiler_that_is_no_clang(load: Load_) -> None:
    with pytest.raises(InputError):
        load("int main(void) { return 0; }", cc="false")


@pytest.mark.parametrize("start", ["work(0);", "pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0);"])
def test_an_exception_that_gets_past_all_functions_is_noticed(tmp_path: Path, start: str) -> None:
    """It cannot be thrown, since there is no handler for it; so this one is not thrown, but merely there."""
    source = tmp_path / "program.cpp"
    source.write_text(
        '#include <pthread.h>\nextern "C" [[noreturn]] void __mazurka_unwind(void *);\n'
        f"static void *work(void *) {{ int x; __mazurka_unwind(&x); }}\nint main() {{ {start} }}"
    )
    bug = check(source).bug
    assert bug is not None and bug.kind == "abort" and "an exception leaves" in bug.message


# ------------------------------------------------------------------------------------------ other languages

# What rustc makes of `fn get(at: usize) -> u32 { [1, 2][at] }`, and of a value that is dropped when there is a panic.
RUST = """
target triple = "x86_64-unknown-linux-gnu"
@numbers = internal constant [2 x i32] [i32 1, i32 2]
define internal i32 @get(i64 %at) personality ptr @rust_eh_personality {
start:
  %inside = icmp ult i64 %at, 2
  br i1 %inside, label %bb1, label %panic
bb1:
  %place = getelementptr inbounds nuw i32, ptr @numbers, i64 %at
  %number = load i32, ptr %place, align 4
  ret i32 %number
panic:
  invoke void @_RNvNtCsgEmfK2I1SDS_4core9panicking18panic_bounds_check(i64 %at, i64 2, ptr @numbers)
          to label %unreachable unwind label %cleanup
cleanup:
  %pad = landingpad { ptr, i32 }
          cleanup
  call void @_RNvNtCsjrHSEGnQ3l9_3std7process4drop()
  resume { ptr, i32 } %pad
unreachable:
  unreachable
}
define i32 @main() {
  %number = call i32 @get(i64 INDEX)
  %status = sub i32 %number, 2
  ret i32 %status
}
declare void @_RNvNtCsgEmfK2I1SDS_4core9panicking18panic_bounds_check(i64, i64, ptr)
declare void @_RNvNtCsjrHSEGnQ3l9_3std7process4drop()
declare i32 @rust_eh_personality(...)
"""


def test_a_panic_of_rust_is_a_bug(tmp_path: Path) -> None:
    source = tmp_path / "program.ll"
    source.write_text(RUST.replace("INDEX", "1"))
    assert check(source).verdict is Verdict.OK
    source.write_text(RUST.replace("INDEX", "2"))
    bug = check(source).bug
    assert bug is not None and (bug.kind, bug.message) == ("abort", "panic: bounds check")


def test_what_is_missing_of_rust_is_told_at_once(tmp_path: Path) -> None:
    source = tmp_path / "program.ll"
    source.write_text(
        "define i32 @main() {\n  call void @_RNvNtCsjrHSEGnQ3l9_3std7process5abort()\n"
        "  call void @_RNvNtCsjrHSEGnQ3l9_3std6thread4park()\n  ret i32 0\n}\n"
        "declare void @_RNvNtCsjrHSEGnQ3l9_3std7process5abort()\n"
        "declare void @_RNvNtCsjrHSEGnQ3l9_3std6thread4park()\n"
    )
    with pytest.raises(Refused, match=r"std::process::abort.*\n.*std::thread::park"):
        check(source)
