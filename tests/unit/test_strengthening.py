"""Where fences can be written, what can be stronger in a program, and the cheapest choices of that."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from mazurka.frontends.c import load_c_program
from mazurka.program import instructions as ins
from mazurka.strengthening.hitting import Choice, HittingSets
from mazurka.strengthening.orders import COSTS, POSSIBLE, order_of, promises
from mazurka.strengthening.sites import Site, Strengthenable
from mazurka.strengthening.statements import statements

# Lines are marked: `S` where a statement begins, `B` where one does that is the body of another, and `E` where a simple
# one ends.
MARKED = """\
int x; // f(
struct pair {
    int first;
};
#define TWICE(body) body body
static const char *text = "{ (";

int f(int n) {
    x = 1; //S E
    g(1, //S
      2); //E
    if (n) //S
        x = 2; //B E
    else
        x = 3; //B E
    for (int i = 0; i < n; i++) //S
        while (x) //B
            ; //B E
    do { //S
        x++; //S E
    } while (x);
    switch (n) { //S
    case 1:
        x = 4; //S E
        break; //S
    default: x = 5; //E
    }
again:
    x = 6; x = 7; //S E
#ifdef A
    if (n) { //S
#else
    if (!n) {
#endif
        x = '{'; //S E
    }
    auto later = [&] { //S
        x = 8; //S E
    };
    int values[] = { //S
        1, 2,
    };
    /* x = 9;
    */ x = 10; //S E
    try { //S
        x = 11; //S E
    } catch (...) {
        x = 12; //S E
    }
    return x; //S
}
"""


def test_statements() -> None:
    found = statements(MARKED.replace(" E", "").replace("//S", "").replace("//B", "").replace("//E", ""))
    marks = {number: line.partition("//")[2] for number, line in enumerate(MARKED.split("\n"), 1)}
    begin = {number for number, mark in marks.items() if set(mark.split()) & {"S", "B"}}
    assert {each.first for each in found} == begin
    assert {each.first for each in found if each.bare} == {number for number, mark in marks.items() if "B" in mark}
    ends = {number for number, mark in marks.items() if "E" in mark.split()}
    # (The last statement of a line in which another one begins is not known by a line of its own.)
    several = {number for number, line in enumerate(MARKED.split("\n"), 1) if "default:" in line or "x = 6;" in line}
    assert {each.last for each in found if each.last is not None} == ends - several


@pytest.mark.parametrize(
    "text", ["", "{", "int f() { if (", "}}}", "int f() { x = 1 }", "#if A\nint f() {\n", "do", "a:"]
)
def test_what_is_no_program_has_no_statements(text: str) -> None:
    assert statements(text) == []


def test_orders() -> None:
    for order in COSTS:
        assert order_of(promises(order)) == order
    assert all(can > promises("relaxed") for can in POSSIBLE.values())


def loaded(tmp_path: Path, text: str, suffix: str = ".c") -> Strengthenable:
    file = tmp_path / f"program{suffix}"
    file.write_text(text)
    return Strengthenable(load_c_program([file]))


def told(strengthenable: Strengthenable) -> list[tuple[int, str, str | None, str | None]]:
    named = [site for site in strengthenable.sites if site.order is not None]
    return [(site.line, site.operation, site.object, site.order) for site in named]


def test_sites_in_c(tmp_path: Path) -> None:
    program = loaded(
        tmp_path,
        """#include <stdatomic.h>
struct { atomic_int in; } s[2];
atomic_flag busy;
static void put(atomic_int *to, int value, memory_order order) { atomic_store_explicit(to, value, order); }
static void look(atomic_int *to, memory_order order) {
    if (order == memory_order_relaxed) atomic_thread_fence(memory_order_acquire);
    atomic_load_explicit(to, order);
}
int main(int count, char **arguments) {
    int expected = 0;
    atomic_load_explicit(&s[1].in, memory_order_relaxed);
    atomic_compare_exchange_strong_explicit(&s->in, &expected, 1, memory_order_release, memory_order_relaxed);
    __atomic_fetch_add(&expected, 1, __ATOMIC_ACQ_REL);
    atomic_flag_clear_explicit(&busy, memory_order_relaxed);
    atomic_store(&s[0].in, 2);
    put(&s[0].in, 3, memory_order_relaxed);
    look(&s[0].in, memory_order_relaxed);
    put(&s[0].in, 3, count ? memory_order_relaxed : memory_order_release);
    return 0;
}
""",
    )
    assert told(program) == [
        (6, "fence", None, "acquire"),
        (11, "load", "s[1].in", "relaxed"),
        (12, "compare-exchange", "s->in", "release"),
        (12, "failing compare-exchange", "s->in", "relaxed"),
        (13, "update", "expected", "acq_rel"),
        (14, "store", "busy", "relaxed"),
        (16, "store", None, "relaxed"),
    ]
    assert [line for _, line in program.computed] == [7, 18]


def test_sites_in_cpp(tmp_path: Path) -> None:
    program = loaded(
        tmp_path,
        """#include <atomic>
std::atomic<int> x;
struct Both { std::atomic<int> in; } both;
template <typename T> int read(T &from) { return from.load(std::memory_order_relaxed); }
int main() {
    int expected = 0;
    both.in.store(1, std::memory_order_relaxed);
    x.compare_exchange_weak(expected, 1, std::memory_order_relaxed);
    x.compare_exchange_strong(expected, 1, std::memory_order_seq_cst, std::memory_order_relaxed);
    x.fetch_add(1, std::memory_order_acquire);
    x.store(2);
    std::atomic_thread_fence(std::memory_order_release);
    const std::atomic<int> &same = x;
    return read(x) + read(same);
}
""",
        ".cpp",
    )
    assert told(program) == [
        (4, "load", "from", "relaxed"),
        (7, "store", "both.in", "relaxed"),
        (8, "compare-exchange", "x", "relaxed"),
        (9, "failing compare-exchange", "x", "relaxed"),
        (10, "update", "x", "acquire"),
        (12, "fence", None, "release"),
    ]
    assert program.computed == ()


def test_fences_are_where_the_source_says(tmp_path: Path) -> None:
    program = loaded(
        tmp_path,
        """#include <stdatomic.h>
atomic_int x;
int y;
int main(void) {
    int local = 0;
    y = 1;
    local++;
    while (atomic_load(&x))
        y = 2;
    for (;;) {
        atomic_store(&x, 1);
        if (local) break;
    }
    y = 3;
    return 0;
}
""",
    )
    places = [(site.line, site.where, site.braces) for site in program.sites if site.order is None]
    assert places == [
        (6, "before", False), (6, "after", False), (8, "before", False), (9, "before", True), (9, "after", True),
        (11, "before", False), (11, "after", False), (14, "before", False), (14, "after", False),
    ]  # fmt: skip
    assert not any(isinstance(each, ins.Fence) for each in program.program({}).functions["main"].instructions)
    # Between the two, there is only something local.
    (number,) = (n for n, site in enumerate(program.sites) if (site.line, site.where) == (6, "after"))
    changed = program.program({number: frozenset(["release"])}).functions["main"]
    order = [type(each) for each in changed.instructions if isinstance(each, ins.Fence | ins.Jump | ins.Store)]
    assert order.count(ins.Fence) == 1
    (fence,) = (each for each in changed.instructions if isinstance(each, ins.Fence))
    assert fence.ordering == "release"


def cost(sites: list[Site], choice: Choice) -> int:
    numbers = {number for number, _ in choice}
    return sum(sites[n].cost(frozenset(promise for at, promise in choice if at == n)) for n in numbers)


@pytest.mark.parametrize("seed", range(20))
def test_the_cheapest_choices(seed: int) -> None:
    """By trying all choices."""
    source = random.Random(seed)
    sites = []
    for number in range(3):
        operation = source.choice(sorted(POSSIBLE))
        fits = [order for order in COSTS if promises(order) < POSSIBLE[operation]]
        order = None if operation == "fence" and source.random() < 0.6 else source.choice(fits)
        sites.append(Site("a.c", number, 0, operation, order=order, can=POSSIBLE[operation]))
    additions = sorted((number, promise) for number, site in enumerate(sites) for promise in site.missing)
    subsets = (itertools.combinations(additions, count) for count in range(len(additions) + 1))
    closed = [
        frozenset(subset)
        for subset in itertools.chain(*subsets)
        if all(
            (number, other) in subset
            for number, promise in subset
            if promise == "seq_cst"
            for other in sites[number].missing
        )
    ]
    hitting = HittingSets(sites, frozenset(additions))
    clauses: list[Choice] = []
    for _ in range(5):
        meeting = [choice for choice in closed if all(choice - clause for clause in clauses)]
        found = hitting.cheapest()
        if not meeting:
            assert found is None
            return
        least = min(cost(sites, choice) for choice in meeting)
        assert found in meeting
        assert cost(sites, found) == hitting.bound == least
        fewest = min(len({n for n, _ in choice}) for choice in meeting if cost(sites, choice) == least)
        assert len({n for n, _ in found}) == fewest
        if found == frozenset(additions):
            return
        clauses.append(source.choice([choice for choice in closed if choice >= found and choice != frozenset(additions)]
                                     or [found]))  # fmt: skip
        hitting.exclude(clauses[-1])
