"""Which lines of a program ask for weak memory orders, and what reports say about them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import mazurka
from mazurka.program.builder import ProgramBuilder
from mazurka.program.orders import exceeds_interleavings, find_weak_orders, has_atomics
from mazurka.program.types import PTR
from mazurka.reports import text

C = """\
#include <pthread.h>
#include <stdatomic.h>
atomic_int x;
static int look(memory_order order) { return atomic_load_explicit(&x, order); }
void *other(void *unused) { {other}; return 0; }
int main(void) {
    pthread_t thread;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_create(&thread, 0, other, 0);
    pthread_mutex_lock(&mutex);
    {main};
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, 0);
    return 0;
}
"""


def orders(tmp_path: Path, source: str, name: str = "program.c") -> list[tuple[int | None, str, tuple[str, ...]]]:
    file = tmp_path / name
    file.write_text(source)
    found = mazurka.load(file).weak_orders
    assert found is not None and all(each.file == str(file) for each in found)
    return [(each.line, each.operation, each.orders) for each in found]


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("x++; x = 1; atomic_load(&x)", []),
        ("atomic_load_explicit(&x, memory_order_relaxed)", [("load", ("relaxed",))]),
        ("atomic_load_explicit(&x, memory_order_consume)", [("load", ("acquire",))]),
        ("atomic_store_explicit(&x, 1, memory_order_release)", [("store", ("release",))]),
        ("atomic_fetch_or_explicit(&x, 1, memory_order_acq_rel)", [("update", ("acq_rel",))]),
        ("__sync_fetch_and_add((int *)&x, 1)", []),
        ("__sync_synchronize()", [("fence", ("seq_cst",))]),
        ("atomic_thread_fence(memory_order_release)", [("fence", ("release",))]),
        ("atomic_signal_fence(memory_order_release)", []),
        (
            "int e = 0; atomic_compare_exchange_strong_explicit(&x, &e, 1, memory_order_seq_cst, memory_order_relaxed)",
            [("compare-exchange", ("seq_cst/relaxed",))],
        ),
        ("int e = 0; atomic_compare_exchange_weak(&x, &e, 1)", []),
        # The order that a function was called with, if that is known, is the only one that counts.
        ("look(memory_order_seq_cst)", []),
        ("static struct pair { long a, b; } _Atomic p; (void)__c11_atomic_load(&p, memory_order_acquire)",
         [("load", ("acquire",))]),
        ("static struct large { long a[4]; } _Atomic p; (void)__c11_atomic_load(&p, memory_order_acquire)",
         [("load", ("acquire",))]),
        ("static struct large { long a[4]; } _Atomic p; (void)__c11_atomic_load(&p, memory_order_seq_cst)", []),
    ],
)  # fmt: skip
def test_what_asks_for_a_weak_order(tmp_path: Path, statement: str, found: list[tuple[str, tuple[str, ...]]]) -> None:
    for place, line in (("main", 11), ("other", 5)):
        filled = C.replace(f"{{{place}}}", statement).replace("{main}", "").replace("{other}", "")
        assert orders(tmp_path, filled) == [(line, *each) for each in found]


def test_an_order_that_is_an_argument_is_followed_to_the_access(tmp_path: Path) -> None:
    source = C.replace("{other}", "look(memory_order_relaxed)").replace("{main}", "look(memory_order_acquire)")
    assert orders(tmp_path, source) == [(4, "load", ("acquire", "relaxed"))]
    # Of one that is not known, all that it may be.
    unknown = C.replace("{other}", "").replace("{main}", "look(atomic_load(&x))")
    assert orders(tmp_path, unknown) == [(4, "load", ("acquire", "relaxed"))]


def test_the_line_of_a_call_of_the_library_counts(tmp_path: Path) -> None:
    source = """\
#include <atomic>
std::atomic<int> x{0};
std::atomic_flag flag = ATOMIC_FLAG_INIT;
template <class T> static int get(T &from, std::memory_order order) {
    return from.load(order);
}
int main() {
    int expected = 0;
    x.store(1); x++; x = x + 2; x.exchange(3);
    x.compare_exchange_strong(expected, 3);
    x.store(2, std::memory_order_release);
    x.compare_exchange_weak(expected, 3, std::memory_order_acq_rel);
    x.compare_exchange_weak(expected, 3, std::memory_order_seq_cst, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (!flag.test_and_set(std::memory_order_acquire)) flag.clear();
    return get(x, std::memory_order_seq_cst) - x.load();
}
"""
    assert orders(tmp_path, source, "program.cpp") == [
        (11, "store", ("release",)),
        (12, "compare-exchange", ("acq_rel/acquire",)),
        (13, "compare-exchange", ("seq_cst/relaxed",)),
        (14, "fence", ("acquire",)),
        (15, "update", ("acquire",)),
    ]
    weaker = source.replace("get(x, std::memory_order_seq_cst)", "get(x, std::memory_order_relaxed)")
    assert (5, "load", ("relaxed",)) in orders(tmp_path, weaker, "program.cpp")


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (0, ""),
        (1, "the effects of memory orders weaker than seq_cst were not explored, only interleavings (many.c:3)"),
        (
            12,
            "the effects of memory orders weaker than seq_cst and fences were not explored, only interleavings "
            "(many.c:3, many.c:4, many.c:5, many.c:6, many.c:7, many.c:8, many.c:9, many.c:10 and 5 more)",
        ),
    ],
)
@pytest.mark.parametrize("engine", ["stateless", "stateful"])
def test_every_report_has_the_line(tmp_path: Path, engine: str, lines: int, line: str) -> None:
    file = tmp_path / "many.c"
    body = "".join("    atomic_load_explicit(&x, memory_order_relaxed);\n" for _ in range(lines))
    fence = "    atomic_thread_fence(memory_order_seq_cst);\n" if lines > 1 else ""
    file.write_text(f"#include <stdatomic.h>\natomic_int x; int main(void) {{\n{body}{fence}    return 0;\n}}\n")
    result = mazurka.check(file, engine=engine, memory="sc")
    report = io.StringIO()
    text.write(result, report)
    told = [each for each in report.getvalue().splitlines() if each.startswith("the effects of")]
    assert told == ([line] if line else [])
    assert len(result.to_json()["weak_orders"]) == lines + bool(fence)


def test_a_report_of_a_bug_has_the_line_too(tmp_path: Path) -> None:
    file = tmp_path / "bug.c"
    file.write_text(
        "#include <stdatomic.h>\n#include <assert.h>\natomic_int x;\nint main(void) {\n"
        "    assert(atomic_load_explicit(&x, memory_order_acquire) == 1);\n    return 0;\n}\n"
    )
    result = mazurka.check(file, memory="sc")
    assert result.bug and result.schedule
    for each in (result, mazurka.replay(file, result.schedule)):
        report = io.StringIO()
        text.write(each, report)
        assert "weaker than seq_cst were not explored, only interleavings (bug.c:5)" in report.getvalue()


def test_programs_that_were_built_have_no_lines() -> None:
    program = ProgramBuilder()
    x = program.variable("x")
    with program.function("main") as f:
        f.load(x, ordering="acquire")
        f.fence("release")
        f.ret()
    found = mazurka.check(program.build()).weak_orders
    assert [(each.file, each.operation, each.orders) for each in found] == [
        (None, "fence", ("release",)),
        (None, "load", ("acquire",)),
    ]


def test_locks_and_joins_are_not_weak() -> None:
    """Those of the builder name orders, but do what locks do; what is between them counts."""
    for weak in (False, True):
        p = ProgramBuilder()
        x, m = p.variable("x"), p.variable("m", PTR)
        with p.function("worker") as f:
            f.lock(m)
            f.store(x, 1, ordering="relaxed" if weak else "seq_cst")
            f.unlock(m)
        with p.function("main") as f:
            f.join(f.spawn("worker"))
            f.check(f.eq(f.load(x), 1), "it is there")
        program = p.build()
        assert len(find_weak_orders(program)) == weak
        assert exceeds_interleavings(program, "c11") is weak
        assert not exceeds_interleavings(program, "sc") and exceeds_interleavings(program, "tso")


def test_what_is_atomic() -> None:
    for ordering, expected in (("plain", False), ("seq_cst", True)):
        p = ProgramBuilder()
        x = p.variable("x")
        with p.function("worker"):
            pass
        with p.function("main") as f:
            f.store(x, 1, ordering=ordering)  # type: ignore[arg-type]
            f.join(f.spawn("worker"))
        assert has_atomics(p.build()) is expected


def test_fences_alone_are_not_weak() -> None:
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("main") as f:
        f.fence("seq_cst")
        f.store(x, 1, ordering="seq_cst")
    program = p.build()
    assert len(find_weak_orders(program)) == 1 and not exceeds_interleavings(program, "c11")
