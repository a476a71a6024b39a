"""Executions that are one if every read reads from the same write, against the axioms, against interleavings, and
against the graphs of the same program: each class once, nothing in vain, and no bug less."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import mazurka
from benchmarks import table
from mazurka import _native
from mazurka.errors import InputError
from mazurka.machine.lowering import Lowered, lower
from tests.laws.test_graphs import (
    GENERATORS,
    LARGE,
    compare_races,
    follow,
    interleave,
    is_ordered,
    kinds,
    marked,
    outcome_of,
    races,
    ready,
    unheard_of,
)
from tests.oracle import axioms_sections
from tests.oracle.axioms import MODELS, CompareExchange, Fence, Litmus, Load, Operation, Store, Update, graphs, runs
from tests.oracle.axioms_sections import Await, Lock, Section, Unlock, touches
from tests.oracle.generator import Shape, build
from tests.oracle.litmus import LITMUS_TESTS, Known
from tests.oracle.litmus_generator import BITS, random_litmus, to_program
from tests.oracle.oracle import Event, Oracle
from tests.oracle.section_generator import random_program
from tests.oracle.section_generator import to_program as sections_to_program
from tests.programs.test_programs import CORPUS, Expectation

MEMORIES = ("sc", "tso")


def explore(
    code: _native.Code, memory: str, equivalence: str = "reads-from", **options: Any
) -> _native.GraphExploration:
    exploration = _native.GraphExploration(
        code, memory=memory, equivalence=equivalence, **{"keep_going": True, "instruction_limit": 10_000, **options}
    )
    exploration.run()
    return exploration


# ------------------------------------------------------------------------------------- litmus tests, by the axioms

Registers = tuple[tuple[int, ...], ...]


def judge(litmus: Litmus, memory: str) -> tuple[int, int, set[Registers], bool]:
    """How many classes there are in which all threads end, and in which not; the registers in the end of those, and
    whether there is a data race. A run says what its reads read from: it is a class if there is an order of writes with
    which it is consistent."""
    complete = blocked = 0
    outcomes, has_races = set(), False
    for run in runs(litmus):
        if any(graph.coherent and MODELS[memory](graph) for graph in graphs(run)):
            has_races |= run.races
            if run.complete:
                complete += 1
                outcomes.add(run.registers)
            else:
                blocked += 1
    return complete, blocked, outcomes, has_races


def compare_with_axioms(litmus: Litmus) -> None:
    lowered = lower(to_program(litmus, unheard_of(litmus)))
    plain = lower(to_program(litmus)).code
    for memory in MEMORIES:
        complete, blocked, outcomes, has_races = judge(litmus, memory)
        where = f"{memory}: {litmus}"
        exploration = explore(plain, memory, races="warn")
        assert exploration.finished()
        assert exploration.progress()[:3] == (complete, blocked, 0), where
        assert (exploration.race_count() > 0) == has_races, where
        # Main looks at all places in the end, so that this has classes of its own; and they can be executed.
        exploration = explore(lowered.code, memory, keep_executions=True)
        found = set()
        for execution in exploration.executions():
            assert memory != "sc" or not any(reads for _, _, reads in execution)
            machine, seen = follow(lowered, exploration, execution)
            assert not any(machine.next(thread).enabled for thread in ready(machine))
            if machine.status(1) == "ended":
                found.add(outcome_of(litmus, seen).registers)
        assert found == outcomes, where
        assert exploration.progress()[2] == 0, where


@pytest.mark.parametrize("known", LITMUS_TESTS, ids=lambda known: known.name)
def test_the_literature(known: Known) -> None:
    compare_with_axioms(known.litmus)


def test_random_litmus_tests() -> None:
    for seed in range(300):
        compare_with_axioms(random_litmus(random.Random(seed)))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(20))
def test_many_random_litmus_tests(chunk: int) -> None:
    for seed in range(300 + 1000 * chunk, 300 + 1000 * (chunk + 1)):
        compare_with_axioms(random_litmus(random.Random(seed)))


def random_writers(source: random.Random) -> Litmus:
    """Many writes to few places, that few look at."""
    places = ["x", "y"][: source.choice([1, 2, 2])]
    threads: list[list[Operation]] = [[] for _ in range(source.choice([2, 3, 3, 4]))]
    registers = Counter[int]()
    for value in range(1, source.choice([6, 7, 8]) + 1):
        number = source.randrange(len(threads))
        place, name = source.choice(places), f"r{registers[number]}"
        order: Any = source.choice(["relaxed", "seq_cst"])
        operations: list[Operation] = [
            Store(place, value, order),
            Load(name, place, order),
            Update(name, place, "exchange", value, order),
            CompareExchange(name, place, source.randrange(3), value, order, order),
            Fence("seq_cst"),
        ]
        operation = source.choices(operations, [8, 4, 1, 1, 0.5])[0]
        registers[number] += not isinstance(operation, Store | Fence)
        threads[number].append(operation)
    return Litmus(tuple(tuple(thread) for thread in threads))


def test_many_writes_and_few_reads() -> None:
    for seed in range(100):
        compare_with_axioms(random_writers(random.Random(seed)))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_many_writes_and_few_reads_for_many(chunk: int) -> None:
    for seed in range(100 + 500 * chunk, 100 + 500 * (chunk + 1)):
        compare_with_axioms(random_writers(random.Random(seed)))


# --------------------------------------------------------------------------------------- sections, by their axioms


def compare_sections(seed: int, most: int = 6) -> None:
    """Where sections are, or somebody waits, classes have the order of writes."""
    program = random_program(random.Random(seed), most)
    if any(len(program.registers(thread)) * BITS > 64 for thread in range(len(program.threads))):
        return
    everything = [graph for graph in axioms_sections.graphs(program) if graph.waits]
    code = lower(sections_to_program(program)).code
    for memory in MEMORIES:
        allowed = [graph for graph in everything if axioms_sections.is_consistent(memory, graph)]
        reached = {(event.label, place) for graph in allowed for event in graph.events for place in event.parts}
        for number, thread in enumerate(program.threads):
            for index, operation in enumerate(thread):
                if not isinstance(operation, Section | Lock | Unlock):
                    continue
                if not {((number, index), place) for place in touches(operation)} <= reached:
                    return  # then it is not known that other threads share a location with a section
        labels = {label for label, _ in reached}
        ordered = {*program.sectioned, *program.mutexes}
        for number, thread in enumerate(program.threads):
            for index, operation in enumerate(thread):
                if isinstance(operation, Await):
                    waits = any(operation in graph.stuck for graph in allowed)
                    if waits or (number, index) in labels:
                        ordered.add(operation.location)
        classes = {
            (
                graph.blocked,
                tuple(event.label for event in graph.events),
                tuple(
                    sorted(
                        (graph.events[read].label, place, graph.events[write].label)
                        for (read, place), write in graph.sources.items()
                    )
                ),
                tuple(tuple(graph.events[write].label for write in graph.orders[place]) for place in sorted(ordered)),
            )
            for graph in allowed
        }
        blocked = sum(key[0] for key in classes)
        found = explore(code, memory, races="warn")
        traces = explore(code, memory, "traces", races="warn")
        if any(isinstance(operation, Await) for graph in allowed for operation in graph.stuck):
            # Whether a loop goes round for ever depends on what is in memory in the end: then that makes more classes.
            assert len(classes) - blocked <= found.progress()[0] <= traces.progress()[0], (seed, memory)
            assert blocked <= found.progress()[1] <= traces.progress()[1], (seed, memory)
        else:
            assert found.progress()[:2] == (len(classes) - blocked, blocked), (seed, memory)
        assert found.progress()[2] <= traces.progress()[2], (seed, memory)
        assert kinds(found) == kinds(traces), (seed, memory)
        assert (found.race_count() > 0) == (traces.race_count() > 0), (seed, memory)


def test_classes_of_sections_are_those_of_the_axioms() -> None:
    for seed in range(300):
        compare_sections(seed)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(20))
def test_classes_of_sections_are_those_of_the_axioms_for_many(chunk: int) -> None:
    for seed in range(300 + 1000 * chunk, 300 + 1000 * (chunk + 1)):
        compare_sections(seed)


# ------------------------------------------------------------------------------------ everything else, by interleavings

Class = frozenset[tuple[object, ...]]


def class_of(execution: Iterable[Event]) -> Class:
    """What each event of an execution reads, byte by byte, and from whom."""
    latest: dict[int, tuple[str, int]] = {}
    found = set()
    for event in execution:
        mine: set[int] = set()
        sources = []
        for address, size, reads, writes, _ in event.accesses:
            for byte in range(address, address + size):
                if reads and byte not in mine:
                    sources.append((byte, latest.get(byte)))
            if writes:
                mine.update(range(address, address + size))
        latest.update(dict.fromkeys(mine, event.name))
        found.add((event.name, event.choices, tuple(sources)))
    return frozenset(found)


def classes(lowered: Lowered, search: Any) -> Counter[Class]:
    """The classes of the executions that were explored, by taking them again."""
    oracle = Oracle(lowered, commute=False)
    names = search.thread_names()
    found: Counter[Class] = Counter()
    for execution in search.executions():
        assert not any(reads for _, _, reads in execution)
        oracle.machine.rewind(oracle.start)
        past: list[Event] = []
        for thread, choices, _ in execution:
            numbers = {oracle.machine.thread_name(number): number for number in oracle.machine.threads()}
            past.append(oracle.take(numbers[names[thread - 1]], tuple(choices), past))
        assert not oracle.enabled()
        found[class_of(past)] += 1
    return found


def compare_with_interleavings(shape: Shape) -> None:
    lowered = lower(build(shape))
    options: dict[str, Any] = {"races": "warn", "max_executions": 1000, "keep_executions": True}
    expected = interleave(lowered.code, **options)
    if not expected.finished():
        return
    found = explore(lowered.code, "sc", **options)
    traces = explore(lowered.code, "sc", "traces", **options)
    assert found.finished()
    assert sum(found.progress()[:2]) <= sum(expected.progress()[:2])
    assert found.progress()[2] <= traces.progress()[2]
    assert kinds(found) == kinds(expected)
    compare_races(lowered, races(lowered, found), races(lowered, traces))
    graphs = classes(lowered, found)
    assert graphs.keys() == classes(lowered, expected).keys()
    # Where sections are, or somebody waits, classes have the order of writes as well.
    if not any(word in repr(shape) for word in ("atomic", "section", "await", "guard", "lock", "byte")):
        assert set(graphs.values()) <= {1}


def compare_random_programs(generator: Callable[[random.Random], Shape], seeds: range) -> None:
    for seed in seeds:
        shape = generator(random.Random(seed))
        if is_ordered(shape):
            try:
                compare_with_interleavings(shape)
            except AssertionError as error:
                raise AssertionError(f"program {seed}: {shape}") from error


@pytest.mark.parametrize("generator", GENERATORS)
def test_random_programs(generator: Callable[[random.Random], Shape]) -> None:
    compare_random_programs(generator, range(60))


def test_who_writes_a_part_leaves_the_rest() -> None:
    """Which write comes before it makes a difference to who reads the whole."""
    compare_with_interleavings(
        Shape(((("store", "y", 2),), (("update", "xor", "y", 2, True),), (("byte store", "y", 1),)), joined=0)
    )


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
@pytest.mark.parametrize("generator", GENERATORS)
def test_many_random_programs(generator: Callable[[random.Random], Shape], chunk: int) -> None:
    compare_random_programs(generator, range(60 + 350 * chunk, 60 + 350 * (chunk + 1)))


def compare_with_graphs(shape: Shape) -> None:
    """Nothing is found that graphs do not show, and nothing is lost; and each execution can be taken again."""
    lowered = lower(build(shape))
    options: dict[str, Any] = {"races": "warn", "max_executions": 2000}
    for memory in MEMORIES:
        traces = explore(lowered.code, memory, "traces", **options)
        if not traces.finished():
            continue
        found = explore(lowered.code, memory, keep_executions=True, **options)
        assert found.finished()
        assert all(new <= old for new, old in zip(found.progress()[:3], traces.progress()[:3], strict=True)), memory
        assert kinds(found) == kinds(traces), memory
        assert races(lowered, found) == races(lowered, traces), memory
        if is_ordered(shape) and "byte" not in repr(shape):
            for execution in found.executions()[:100]:
                machine, _ = follow(lowered, found, execution)
                assert not any(machine.next(thread).enabled for thread in ready(machine)), memory


def compare_random_programs_with_graphs(generator: Callable[[random.Random], Shape], seeds: range) -> None:
    for seed in seeds:
        shape = generator(random.Random(seed))
        try:
            compare_with_graphs(shape)
        except AssertionError as error:
            raise AssertionError(f"program {seed}: {shape}") from error


@pytest.mark.parametrize("generator", GENERATORS)
def test_random_programs_show_what_graphs_do(generator: Callable[[random.Random], Shape]) -> None:
    compare_random_programs_with_graphs(generator, range(60))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
@pytest.mark.parametrize("generator", GENERATORS)
def test_many_random_programs_show_what_graphs_do(generator: Callable[[random.Random], Shape], chunk: int) -> None:
    compare_random_programs_with_graphs(generator, range(60 + 350 * chunk, 60 + 350 * (chunk + 1)))


# ------------------------------------------------------------------------------------------------------ the corpus


@pytest.mark.parametrize("program", [marked(path) for path in CORPUS if path.name not in LARGE])
def test_the_corpus(program: Path) -> None:
    """Bugs and data races are those of graphs, in no more classes than there are graphs."""
    given = Expectation.read(program)
    try:
        loaded = mazurka.load(
            [program, *given.files],
            compiler_arguments=given.options,
            program_arguments=given.arguments,
            **asdict(given.leeway),
        )
    except InputError:
        assert given.switches  # it is loaded in another way
        return
    lowered = lower(loaded)
    options: dict[str, Any] = {
        "races": "warn",
        "max_executions": 2000,
        "max_steps": 3000,
        "instruction_limit": 10_000_000,
    }
    for memory in MEMORIES:
        expected = explore(lowered.code, memory, "traces", **options)
        found = explore(lowered.code, memory, **options)
        assert expected.finished() <= found.finished()
        assert not found.finished() or found.progress()[2] <= expected.progress()[2]
        if not expected.finished():
            continue
        assert sum(found.progress()[:2]) <= sum(expected.progress()[:2])
        assert kinds(found) == kinds(expected)
        assert races(lowered, found) == races(lowered, expected)


# ------------------------------------------------------------------------------------------------- known numbers


@pytest.mark.parametrize("n", range(1, 9))
def test_writes_that_nobody_reads_have_no_order(n: int) -> None:
    """exp-mem3 has 2 · n! traces, for n writes come in every order; but all that anybody reads is one of two values."""
    found = explore(table.Row("exp-mem3", n, "pop").load(), "sc")
    assert found.progress()[:3] == (2, 0, 0)


@pytest.mark.parametrize("n", range(2, 11))
def test_lastzero_has_as_many_classes_as_traces(n: int) -> None:
    """Just as many: each place has one writer, so that who reads what is all that makes a difference."""
    lowered = table.Row("lastzero", n, "pop").lowered()
    expected = (n + 3) * 2 ** (n - 2)
    assert explore(lowered.code, "sc").progress()[:3] == (expected, 0, 0)
    if n <= 4:
        assert len(classes(lowered, interleave(lowered.code, keep_executions=True))) == expected
