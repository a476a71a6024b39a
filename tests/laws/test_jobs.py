"""Searches by several threads: whatever is divided when, what they find is what one finds, and each of it once."""

from __future__ import annotations

import os
import random
import re
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import mazurka
from benchmarks import table
from mazurka import _native
from mazurka.errors import InputError
from mazurka.machine.lowering import Lowered, lower
from mazurka.program.builder import ProgramBuilder
from mazurka.program.types import I32
from mazurka.reports.text import summary
from tests.laws import test_exploration, test_graphs, test_reads_from, test_symmetry
from tests.laws.test_exploration import expected_counts
from tests.laws.test_graphs import CRASHING, LARGE
from tests.oracle.axioms import MODELS, judge
from tests.oracle.generator import (
    Shape,
    build,
    random_access_shape,
    random_await_shape,
    random_fence_shape,
    random_order_shape,
    random_section_shape,
    random_shape,
)
from tests.oracle.litmus_generator import random_litmus, to_program
from tests.oracle.oracle import Oracle, Outcome, TooLarge
from tests.oracle.symmetry import alike_shape
from tests.programs.test_programs import CORPUS, Expectation

Search = _native.Exploration | _native.GraphExploration

POP = [random_shape, random_access_shape, random_await_shape, random_section_shape]
GRAPHS = [random_shape, random_access_shape, random_await_shape, random_order_shape, random_fence_shape]
CLASSES = [random_shape, random_access_shape, random_await_shape, random_section_shape]


def divisions(number: int) -> list[dict[str, Any]]:
    """One thread that takes its own tasks at random, several that are given tasks when they have none, or at random."""
    return [
        {"jobs": 1, "split": number + 1},
        {"jobs": 2, "split": 0},
        {"jobs": 2, "split": number + 2},
        {"jobs": 5, "split": number + 3},
    ]


def found(search: Search) -> tuple[Any, ...]:
    """All that is told: bugs, data races and threads that are left, each with its schedule, in this order."""
    names = search.thread_names()

    def told(schedule: Any) -> Any:
        return [(names[thread - 1] if thread else "", choices, reads) for thread, choices, reads in schedule or ()]

    bugs = [search.bug_at(number) for number in range(search.bug_count())]
    races = [search.race(number) for number in range(search.race_count())]
    return (
        [(kind, names[thread - 1], told(schedule), fault, count) for kind, thread, schedule, fault, count in bugs],
        [(first, second, told(schedule)) for first, second, schedule in races],
        told(search.left()),
    )


def kinds_found(search: Search) -> tuple[Any, ...]:
    """What is told, without schedules."""
    bugs = [search.bug_at(number) for number in range(search.bug_count())]
    return (sorted((kind, fault or "", count) for kind, _, _, fault, count in bugs), search.race_count())


def compare(
    run: Callable[..., Search], number: int, where: str, tell: Callable[[Search], tuple[Any, ...]] = found
) -> Search:
    """However the search is divided, it counts the same, and tells the same in the same order. The result is that of
    one thread that divides nothing."""
    alone = run()
    told = None
    for division in divisions(number):
        search = run(**division)
        which = f"{division}: {where}"
        assert search.finished() == alone.finished(), which
        if not alone.finished():
            break
        # (Graphs that sections make inconsistent are given up early or late.)
        counted = 2 if search.algorithm() == "graphs" else 3
        assert search.progress()[:counted] == alone.progress()[:counted], which
        assert search.algorithm() == alone.algorithm(), which
        assert search.told_apart() == alone.told_apart(), which
        assert (search.bug_count(), search.race_count()) == (alone.bug_count(), alone.race_count()), which
        if search.algorithm() == "optimal":
            assert search.jobs() == 1
            continue
        assert search.jobs() == division["jobs"]
        told = told or tell(search)
        assert tell(search) == told, which
        assert kinds_found(search) == kinds_found(alone), which
    return alone


# ------------------------------------------------------------------------------------------------------------- pop


def compare_with_oracle(lowered: Lowered, number: int, where: str) -> bool:
    """The classes that the oracle knows, each once. False: too many, or too hard for `pop`."""
    oracle = Oracle(lowered, commute=True)
    try:
        traces = oracle.traces(600)
    except TooLarge:
        return False
    outcomes: list[Outcome] = list(traces.values())
    for division in divisions(number):
        search = test_exploration.explore(lowered, "pop", **division)
        assert search.progress()[:3] == expected_counts(outcomes), f"{division}: {where}"
        classes = test_exploration.classes(oracle, search)
        assert len(classes) == len(traces) and set(classes) == traces.keys(), f"{division}: {where}"
    return search.algorithm() == "pop"


def compare_interleavings(generator: Callable[[random.Random], Shape], numbers: range) -> int:
    """How many of these programs `pop` has explored."""
    explored = 0
    for number in numbers:
        shape = generator(random.Random(number))
        lowered = lower(build(shape))

        def run(lowered: Lowered = lowered, **division: Any) -> Search:
            search = _native.Exploration(
                lowered.code, algorithm="pop", keep_going=True, races="warn", max_executions=5000,
                instruction_limit=10_000, **division,
            )  # fmt: skip
            search.run()
            return search

        explored += compare(run, number, f"program {number}: {shape}").algorithm() == "pop"
        if number % 10 == 0:
            compare_with_oracle(lowered, number, f"program {number}: {shape}")
    return explored


@pytest.mark.parametrize("generator", POP)
def test_interleavings(generator: Callable[[random.Random], Shape]) -> None:
    explored = compare_interleavings(generator, range(100))
    assert explored == 100 if generator is random_access_shape else explored > 0


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(20))
@pytest.mark.parametrize("generator", POP)
def test_many_interleavings(generator: Callable[[random.Random], Shape], chunk: int) -> None:
    compare_interleavings(generator, range(100 + 1000 * chunk, 100 + 1000 * (chunk + 1)))


# ---------------------------------------------------------------------------------------------------------- graphs


def compare_graphs(generator: Callable[[random.Random], Shape], numbers: range) -> None:
    for number in numbers:
        shape = generator(random.Random(number))
        code = lower(build(shape)).code
        memory = sorted(MODELS)[number % len(MODELS)]

        def run(code: _native.Code = code, memory: str = memory, **division: Any) -> Search:
            return test_graphs.explore(code, memory, races="warn", max_executions=3000, **division)

        compare(run, number, f"{memory}, program {number}: {shape}")


@pytest.mark.parametrize("generator", GRAPHS)
def test_graphs_of_programs(generator: Callable[[random.Random], Shape]) -> None:
    compare_graphs(generator, range(100))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(20))
@pytest.mark.parametrize("generator", GRAPHS)
def test_graphs_of_many_programs(generator: Callable[[random.Random], Shape], chunk: int) -> None:
    compare_graphs(generator, range(100 + 1000 * chunk, 100 + 1000 * (chunk + 1)))


def compare_classes(generator: Callable[[random.Random], Shape], numbers: range) -> None:
    """Where reads-from is all that counts. (Which of the executions of a class is shown may depend on what was explored
    before it.)"""
    for number in numbers:
        shape = generator(random.Random(number))
        code = lower(build(shape)).code
        memory = ("sc", "tso")[number % 2]

        def run(code: _native.Code = code, memory: str = memory, **division: Any) -> Search:
            return test_reads_from.explore(code, memory, races="warn", max_executions=3000, **division)

        compare(run, number, f"{memory}, program {number}: {shape}", kinds_found)


@pytest.mark.parametrize("generator", CLASSES)
def test_classes_of_programs(generator: Callable[[random.Random], Shape]) -> None:
    compare_classes(generator, range(100))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(20))
@pytest.mark.parametrize("generator", CLASSES)
def test_classes_of_many_programs(generator: Callable[[random.Random], Shape], chunk: int) -> None:
    compare_classes(generator, range(100 + 1000 * chunk, 100 + 1000 * (chunk + 1)))


def compare_alike(numbers: range) -> tuple[int, int]:
    """Threads that are alike, and such that only seem to be. In how many of these programs graphs had fewer, and how
    many `pop` has explored in the end."""
    fewer = by_pop = 0
    for number in numbers:
        source = random.Random(number)
        shape = alike_shape(test_symmetry.GENERATORS[number % 4], source, source.choice([3, 4, 4]))
        code = lower(build(shape)).code
        memory = ("sc", "tso", "pso", "ra")[number // 4 % 4]
        common: dict[str, Any] = {
            "symmetry": True, "races": "warn", "keep_going": True, "max_executions": 2000, "instruction_limit": 10_000,
        }  # fmt: skip

        def graphs(
            code: _native.Code = code, memory: str = memory, common: dict[str, Any] = common, **division: Any
        ) -> Search:
            search = _native.GraphExploration(code, memory=memory, **common, **division)
            search.run()
            return search

        def pop(code: _native.Code = code, common: dict[str, Any] = common, **division: Any) -> Search:
            search = _native.Exploration(code, algorithm="pop", **common, **division)
            search.run()
            return search

        told_apart = compare(graphs, number, f"{memory}, program {number}: {shape}").told_apart()
        fewer += told_apart is not None
        by_pop += compare(pop, number, f"program {number}: {shape}").algorithm() == "pop"
    return fewer, by_pop


def test_threads_that_are_alike() -> None:
    fewer, by_pop = compare_alike(range(200))
    assert fewer > 50
    assert by_pop > 5


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(20))
def test_threads_that_are_alike_in_many_programs(chunk: int) -> None:
    compare_alike(range(200 + 1000 * chunk, 200 + 1000 * (chunk + 1)))


def compare_with_axioms(numbers: range) -> None:
    for number in numbers:
        litmus = random_litmus(random.Random(number))
        code = lower(to_program(litmus)).code
        for memory, expected in judge(litmus).items():
            for division in divisions(number):
                search = test_graphs.explore(code, memory, races="warn", **division)
                where = f"{division}, {memory}: {litmus}"
                assert search.finished()
                assert search.progress()[:3] == (expected.complete, expected.blocked, 0), where
                assert (search.race_count() > 0) == expected.races, where


def test_litmus_tests() -> None:
    compare_with_axioms(range(100))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_many_litmus_tests(chunk: int) -> None:
    compare_with_axioms(range(100 + 1000 * chunk, 100 + 1000 * (chunk + 1)))


# --------------------------------------------------------------------------------------------------- larger programs


@pytest.mark.parametrize("name", sorted(set(table.BENCHMARKS) - {"length-param"}))
def test_programs_of_the_paper(name: str) -> None:
    """Locks and waits, and so many plans that executions are left for them."""
    row = table.Row(name, table.BENCHMARKS[name].small, "pop")
    for division in divisions(1)[1:]:
        search = _native.Exploration(row.load(), algorithm="pop", max_steps=table.MAX_STEPS, **division)
        search.run()
        assert search.finished() and search.bug() is None
        assert search.progress()[:3] == (row.expected(), 0, 0)
        assert search.algorithm() == ("pop" if name != "linuxrwlocks" else "optimal")


def loaded(program: Path, memory: str) -> Lowered | None:
    given = Expectation.read(program)
    try:
        return lower(
            mazurka.load(
                [program, *given.files],
                compiler_arguments=given.options,
                program_arguments=given.arguments,
                memory=memory,
                **asdict(given.leeway),
            )
        )
    except InputError:
        assert given.switches  # it is loaded in another way
        return None


def compare_on_program(program: Path) -> None:
    """Failures, deadlocks and data races of real programs, blocks, and threads that come and go."""
    for memory in ("sc", "c11"):
        lowered = loaded(program, memory)
        if lowered is None:
            return

        def run(lowered: Lowered = lowered, memory: str = memory, **division: Any) -> Search:
            common: dict[str, Any] = {"races": "warn", "keep_going": True, "max_steps": 3000, "max_executions": 2000}
            common |= division
            search: Search
            if memory == "sc":
                search = _native.Exploration(lowered.code, algorithm="pop", **common)
            else:
                search = _native.GraphExploration(lowered.code, memory=memory, **common)
            search.run()
            return search

        compare(run, 1, f"{memory}, {program.name}")


SOME = {"bank.c", "philosophers.c", "use_after_free_race.c", "nested_threads.c", "treiber_retry.c"}
ALL = [path for path in CORPUS if path.name not in LARGE | CRASHING]


@pytest.mark.parametrize("program", [path for path in ALL if path.name in SOME], ids=lambda path: path.name)
def test_programs_in_c(program: Path) -> None:
    compare_on_program(program)


@pytest.mark.slow
@pytest.mark.parametrize("program", ALL, ids=lambda path: path.name)
def test_the_corpus(program: Path) -> None:
    compare_on_program(program)


# ------------------------------------------------------------------------------------------------------- what else


def updates(threads: int, rounds: int) -> ProgramBuilder:
    """Threads that read and write one variable again and again: a great many executions."""
    p = ProgramBuilder()
    x = p.variable("x", I32)
    with p.function("worker") as f:
        for _ in range(rounds):
            f.store(x, f.add(f.load(x), 1))
    with p.function("main") as f:
        for _ in range(threads):
            f.spawn("worker")
    return p


SEARCHES: list[Callable[..., Search]] = [
    lambda code, **options: _native.Exploration(code, algorithm="pop", **options),
    lambda code, **options: _native.GraphExploration(code, memory="sc", **options),
]


@pytest.mark.parametrize("search", SEARCHES)
def test_limits_are_those_of_the_whole(search: Callable[..., Search]) -> None:
    one = search(lower(updates(4, 3).build()).code, jobs=4, max_executions=1000)
    one.run()
    assert not one.finished()
    assert 1000 <= sum(one.progress()[:2]) < 1000 + 4


@pytest.mark.parametrize("search", SEARCHES)
def test_all_end_when_they_are_told_to(search: Callable[..., Search]) -> None:
    one = search(lower(updates(5, 4).build()).code, jobs=4)
    worker = threading.Thread(target=one.run)
    worker.start()
    while one.progress()[0] < 100:
        pass
    one.stop()
    worker.join(60)
    assert not worker.is_alive() and not one.finished()


@pytest.mark.parametrize("search", SEARCHES)
def test_what_a_callback_raises_ends_all(search: Callable[..., Search]) -> None:
    def judge_race(names: Any, told: Any) -> bool:
        raise RuntimeError("on purpose")

    one = search(lower(updates(3, 2).build()).code, jobs=4, races="warn", passes_over=judge_race)
    with pytest.raises(RuntimeError, match="on purpose"):
        one.run()


@pytest.mark.parametrize("search", SEARCHES)
def test_the_first_bug_ends_all(search: Callable[..., Search]) -> None:
    one = search(lower(updates(5, 4).build()).code, jobs=4, races="error")
    one.run()
    bug = one.bug()
    assert bug is not None and bug[0] == "race" and not one.finished()


def creators() -> ProgramBuilder:
    """Threads that create others, depending on what they read: who is met first depends on who explores what."""
    p = ProgramBuilder()
    x = p.variable("x", I32)
    with p.function("leaf") as f:
        f.store(x, 2)
    with p.function("worker") as f:
        seen = f.load(x)
        with f.if_(f.eq(seen, 0)):
            f.spawn("leaf")
        with f.if_(f.eq(seen, 2)):
            f.store(x, 1)
            f.spawn("leaf")
    with p.function("main") as f:
        for _ in range(3):
            f.spawn("worker")
    return p


@pytest.mark.parametrize("search", SEARCHES)
def test_threads_are_called_the_same_by_all(search: Callable[..., Search]) -> None:
    code = lower(creators().build()).code

    def run(**division: Any) -> Search:
        one = search(code, keep_going=True, races="warn", **division)
        one.run()
        return one

    for number in range(20):
        compare(run, number, "threads that create others")


@pytest.mark.parametrize(("jobs", "said"), [(1, ""), (3, ", 3 jobs")])
def test_the_report_says_how_many(jobs: int, said: str) -> None:
    result = mazurka.check(updates(2, 2).build(), jobs=jobs, engine="stateless")
    assert result.executions.jobs == jobs
    assert re.search(rf" s{said}\)$", summary(result))


def test_the_report_says_that_another_algorithm_has_one() -> None:
    p = ProgramBuilder()
    x = p.variable("x", I32)
    with p.function("worker") as f:
        f.update("add", x, 1, used=False)
    with p.function("main") as f:
        f.spawn("worker")
        f.spawn("worker")
    for jobs, said in ((1, ""), (2, "; it has one job")):
        result = mazurka.check(p.build(), jobs=jobs, memory="sc")
        assert result.executions.algorithm == "optimal" and result.executions.jobs == 1
        assert re.search(rf"by the algorithm optimal, since [^;]*{said}\)$", summary(result))


def test_as_many_as_there_are_cores() -> None:
    result = mazurka.check(updates(2, 1).build(), jobs="auto", engine="stateless")
    assert result.executions.jobs == len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"jobs": 0}, "jobs must be a number from 1 to 1024, not 0"),
        ({"jobs": "many"}, "jobs must be a number from 1 to 1024, not 'many'"),
        ({"jobs": 2, "engine": "stateful"}, "--jobs is for --engine stateless"),
        ({"jobs": 2, "algorithm": "optimal"}, "--jobs is for --algorithm pop and graphs"),
    ],
)
def test_where_there_can_be_one_only(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        mazurka.check(updates(2, 1).build(), **options)


def test_kept_executions_are_those_of_all() -> None:
    code = lower(updates(3, 2).build()).code
    alone, several = (
        test_graphs.explore(code, "sc", keep_executions=True, **division) for division in ({}, {"jobs": 4, "split": 3})
    )
    assert Counter(map(str, alone.executions())) == Counter(map(str, several.executions()))


def test_the_report_says_that_threads_that_are_alike_have_one() -> None:
    program = mazurka.load([next(path for path in CORPUS if path.name == "alike_two_loops.c")])
    for options, said in (
        ({}, r", 8 with threads told apart that are alike"),
        ({"jobs": 2}, r", 8 with .*, by the algorithm optimal, since threads are alike at [^;]*; it has one job"),
        ({"jobs": 2, "symmetry": False}, ", 2 jobs"),
        ({"jobs": 2, "algorithm": "graphs"}, ", 2 jobs, 8 with threads told apart that are alike"),
    ):
        assert re.search(rf" s{said}\)$", summary(mazurka.check(program, engine="stateless", **options)))
