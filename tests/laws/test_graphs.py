"""The explorer of execution graphs against the axioms, on litmus tests, and under sequential consistency against the
explorer of interleavings, on all that programs can do otherwise."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import mazurka
from benchmarks import graphs, table
from mazurka import _native
from mazurka.errors import InputError
from mazurka.machine.lowering import Lowered, lower
from mazurka.program.instructions import AtomicBegin
from tests.laws.test_races import Pair, pair
from tests.oracle.axioms import MODELS, Litmus, Outcome, judge
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
from tests.oracle.litmus import LITMUS_TESTS, Known
from tests.oracle.litmus_generator import BITS, random_fenced_litmus, random_litmus, to_program
from tests.oracle.oracle import Graph, Oracle
from tests.oracle.races import Races, Site
from tests.programs.test_programs import CORPUS, Expectation

Search = _native.Exploration | _native.GraphExploration


def explore(code: _native.Code, memory: str, **options: Any) -> _native.GraphExploration:
    exploration = _native.GraphExploration(
        code, memory=memory, **{"keep_going": True, "instruction_limit": 10_000, **options}
    )
    exploration.run()
    return exploration


def interleave(code: _native.Code, **options: Any) -> _native.Exploration:
    """The classes of interleavings, which are what graphs are under sc: those of operations that commute, too."""
    exploration = _native.Exploration(
        code, algorithm="optimal", commute=False, **{"keep_going": True, "instruction_limit": 10_000, **options}
    )
    exploration.run()
    return exploration


def kinds(search: Search) -> set[str]:
    return {search.bug_at(number)[0] for number in range(search.bug_count())}


def races(lowered: Lowered, search: Search) -> set[Pair]:
    """Where the two accesses of each data race are, by replaying what the search says of it."""
    pairs = set()
    for first, second, schedule in map(search.race, range(search.race_count())):
        machine = _native.Machine(lowered.code, thread_names=search.thread_names())
        sites: list[Site] = []
        for thread, choices, reads in schedule:
            sites.append(tuple(machine.frames(thread)[:2]))
            if machine.next(thread, choices, reads).enabled:  # one of the two may be an access that waits
                machine.step(thread, choices, reads)
        assert second == len(sites) - 1
        pairs.add(pair(sites[first], sites[second]))
    return pairs


# ------------------------------------------------------------------------------------- litmus tests, by the axioms


def compare_with_axioms(litmus: Litmus, source: random.Random) -> None:
    """Each graph once and nothing in vain; data races; and whether a program fails that does so where it ends in a
    certain way."""
    verdicts = judge(litmus)
    outcomes = sorted({each for verdict in verdicts.values() for each in verdict.outcomes}, key=repr)
    wanted = source.choice(outcomes) if outcomes else None
    plain = lower(to_program(litmus)).code
    failing = lower(to_program(litmus, wanted)).code
    for memory in MODELS:
        expected = verdicts[memory]
        for code in [plain, failing] if wanted else [plain]:
            exploration = explore(code, memory, races="warn")
            where = f"{memory}: {litmus}"
            assert exploration.finished()
            assert exploration.progress()[:3] == (expected.complete, expected.blocked, 0), where
            assert (exploration.race_count() > 0) == expected.races, where
        assert (exploration.bug() is not None) == (wanted in expected.outcomes), where


@pytest.mark.parametrize("known", LITMUS_TESTS, ids=lambda known: known.name)
def test_the_literature(known: Known) -> None:
    verdicts = judge(known.litmus)
    shown = {
        each for verdict in verdicts.values() for each in verdict.outcomes if known.holds(each)
    }  # more than one, where the test does not say everything
    for memory in MODELS:
        found = {
            outcome for outcome in shown if explore(lower(to_program(known.litmus, outcome)).code, memory).bug_count()
        }
        assert found == shown & verdicts[memory].outcomes
        assert bool(found) == (memory in known.allowed)
        exploration = explore(lower(to_program(known.litmus)).code, memory, races="warn")
        assert exploration.progress()[:3] == (verdicts[memory].complete, verdicts[memory].blocked, 0)
        assert (exploration.race_count() > 0) == verdicts[memory].races


def test_random_litmus_tests() -> None:
    for seed in range(300):
        compare_with_axioms(random_litmus(random.Random(seed)), random.Random(seed))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(20))
def test_many_random_litmus_tests(chunk: int) -> None:
    for seed in range(300 + 1000 * chunk, 300 + 1000 * (chunk + 1)):
        compare_with_axioms(random_litmus(random.Random(seed)), random.Random(seed))


def test_random_litmus_tests_with_fences() -> None:
    for seed in range(100):
        compare_with_axioms(random_fenced_litmus(random.Random(seed)), random.Random(seed))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_many_random_litmus_tests_with_fences(chunk: int) -> None:
    for seed in range(100 + 1000 * chunk, 100 + 1000 * (chunk + 1)):
        compare_with_axioms(random_fenced_litmus(random.Random(seed)), random.Random(seed))


# ----------------------------------------------------------------------- everything else, by interleavings under sc

GENERATORS = [
    random_shape,
    random_access_shape,
    random_await_shape,
    random_section_shape,
    random_order_shape,
    random_fence_shape,
]
MOST_MEMORY = 20 * 2**20  # whatever the number of graphs
SMALL = 100  # so many classes are looked at one by one


def is_ordered(shape: Shape) -> bool:
    """In graphs, the end of the process and of a block is ordered only with what does not go well with it."""
    return not any(word in repr(shape) for word in ("exit", "free"))


def classes(oracle: Oracle, search: Search) -> Counter[Graph]:
    """The equivalence classes of the executions that were explored, by replaying them."""
    names = search.thread_names()
    found: Counter[Graph] = Counter()
    for execution in search.executions():
        assert not any(reads for _, _, reads in execution)
        found[oracle.graph_of([(names[thread - 1], tuple(choices)) for thread, choices, _ in execution])] += 1
    return found


def compare_with_interleavings(lowered: Lowered, *, each: bool) -> None:
    options: dict[str, Any] = {"races": "warn", "max_executions": 3000}
    expected = interleave(lowered.code, **options)
    if not expected.finished():
        return
    found = explore(lowered.code, "sc", **options)
    assert found.finished()
    assert found.progress()[:2] == expected.progress()[:2]
    assert kinds(found) == kinds(expected)
    compare_races(lowered, races(lowered, found), races(lowered, expected))
    if each and sum(expected.progress()[:2]) <= SMALL:
        oracle = Oracle(lowered, commute=False)
        graphs = classes(oracle, explore(lowered.code, "sc", keep_executions=True))
        assert graphs == classes(oracle, interleave(lowered.code, keep_executions=True))
        assert set(graphs.values()) <= {1}


def compare_races(lowered: Lowered, found: set[Pair], expected: set[Pair]) -> None:
    """They are the same, but for what `RACES` has."""

    def have_section(pairs: set[Pair], *, waiting: bool) -> bool:
        beginnings = [[lowered.origin[site[0]][1] for site in each] for each in pairs]
        return all(any(isinstance(it, AtomicBegin) and it.guarded >= waiting for it in each) for each in beginnings)

    assert have_section(expected - found, waiting=True), expected - found
    assert have_section(found - expected, waiting=False), found - expected


def compare_random_programs(generator: Callable[[random.Random], Shape], seeds: range) -> None:
    for seed in seeds:
        shape = generator(random.Random(seed))
        if is_ordered(shape):
            try:
                compare_with_interleavings(lower(build(shape)), each=seed % 5 == 0)
            except AssertionError as error:
                raise AssertionError(f"program {seed}: {shape}") from error


@pytest.mark.parametrize("generator", GENERATORS)
def test_random_programs(generator: Callable[[random.Random], Shape]) -> None:
    compare_random_programs(generator, range(300))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(20))
@pytest.mark.parametrize("generator", GENERATORS)
def test_many_random_programs(generator: Callable[[random.Random], Shape], chunk: int) -> None:
    compare_random_programs(generator, range(300 + 1000 * chunk, 300 + 1000 * (chunk + 1)))


RACES = {
    "an update that waits writes in each round": Shape(((("load", "y"),), (("await", "add", "y", 0, ("eq", 1)),))),
    "what waits for ever has nothing to do with what a section has written": Shape(
        ((("atomic", (("store", "x", 1),)),), (("await", "load", "x", 0, ("ugt", 2)),))
    ),
    "a section knows what it learns later in it": Shape(
        (
            (),
            (("store", "y", 2), ("atomic", (("load", "y"), ("guard", "await", "x", ("eq", 1))))),
            (("store", "y", 1), ("atomic", (("store", "x", 1),))),
        )
    ),
}


@pytest.mark.xfail(reason="the explorer says otherwise", strict=True)
@pytest.mark.parametrize("name", RACES)
def test_races_with_what_waits(name: str) -> None:
    program = build(RACES[name])
    lowered = lower(program)
    expected = {pair(first.site, second.site) for first, second in Races(program).find(4000)}
    assert races(lowered, interleave(lowered.code, races="warn")) == expected
    assert races(lowered, explore(lowered.code, "sc", races="warn")) == expected


# ------------------------------------------------------------------------------------------------------ the corpus

EXIT = "the end of the process is not ordered with what others do, unless that goes wrong"
LIFE = "the end of an object's life is not ordered with what others do, unless that goes wrong"
USED = LIFE + "; and then it is a failure, where interleavings show a data race as well"
LOOP = "goes round a loop that polls until there are too many steps, which not everybody meets in the same execution"
# Where graphs are not what classes of interleavings are, and why.
DIFFERENT = {
    "at_exit_passed_over.c": EXIT,
    "initialised_twice_barrier.c": EXIT,
    "loop_undefined_exit.c": EXIT,
    "status_exit.c": EXIT,
    "hazard_pointer_not_checked.c": LIFE,
    "stack_address.c": LIFE,
    "thread_reference_dangles.cpp": LIFE,
    "use_after_free_race.c": LIFE,
    "double_free_race.c": USED,
    "publication_freed_early.c": USED,
    "reference_count_check.c": USED,
    "references_dropped_in_two_steps.c": USED,
    "shared_ptr_itself.cpp": USED,
    "stack_freed.cpp": USED,
    "stack_pop_freed.c": USED,
    "string_race.cpp": USED,
    "ring_mpmc.c": LOOP,
    "ring_mpmc_no_turns.c": LOOP,
}
# There are too many executions, or choices, for either.
LARGE = {"choice_of_all.c", "condition_variable_polls.cpp", "scoped_lock.cpp"}
# A section makes an object and writes to it, or uses one that another thread has made. Small:
# atomic { if (!p) { p = malloc(1); *p = 1; } } in two threads.
CRASHING = {"file_appended.c"}
MOST = 10_000  # executions


def marked(program: Path) -> Any:
    marks = [pytest.mark.xfail(reason="the explorer crashes", run=False)] if program.name in CRASHING else []
    return pytest.param(program, marks=marks, id=program.name)


@pytest.mark.parametrize("program", [marked(path) for path in CORPUS if path.name not in LARGE])
def test_the_corpus(program: Path) -> None:
    """Sequentially consistent graphs of real programs are the classes of their interleavings."""
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
        "max_executions": MOST,
        "max_steps": 3000,
        "instruction_limit": 10_000_000,
    }
    expected = interleave(lowered.code, **options)
    found = explore(lowered.code, "sc", **options)
    same_counts = (found.finished(), *found.progress()[:2]) == (expected.finished(), *expected.progress()[:2])
    same_races = races(lowered, found) == races(lowered, expected)
    assert kinds(found) == kinds(expected)
    if program.name not in DIFFERENT:
        assert same_counts and same_races
        assert expected.finished() and (found.limit_met() is None) == (expected.limit_met() is None)
        return
    reason = DIFFERENT[program.name]
    assert not same_counts or not (found.finished() or expected.finished()), "not different any more"
    assert same_races == (reason is not USED)
    assert races(lowered, found) <= races(lowered, expected)
    if reason is not LOOP:
        assert sum(found.progress()[:2]) < sum(expected.progress()[:2])


# ------------------------------------------------------------------------------------------------------- executions

Place = tuple[int, int]  # an address, and a size


def follow(lowered: Lowered, search: Search, execution: Sequence[Any]) -> tuple[_native.Machine, list[int]]:
    """Take the steps of an execution, each of which says exactly which values it does not find in memory, and who wrote
    these. The result is the machine at the end, and what main has read from variables."""
    machine = _native.Machine(lowered.code, record=True, thread_names=search.thread_names(), instruction_limit=10_000)
    machine.operations()
    written: list[dict[Place, int]] = []  # by each step, at the end of it
    latest: dict[Place, int] = {}  # steps
    seen = []
    for position, (thread, choices, reads) in enumerate(execution):
        for address, size, value, undefined, source in reads:
            place = (address, size)
            assert undefined == 0 and latest.get(place, -1) != source  # there is something else in memory
            if source == -1:
                assert value == 0  # as everything is at first
            else:
                assert source < position and written[source][place] == value
        if thread == 0:  # what is in memory at the end
            assert position == len(execution) - 1
            machine.put(reads)
            break
        assert machine.next(thread, choices, reads).enabled
        machine.step(thread, choices, reads)
        written.append({})
        stale = {(address, size): value for address, size, value, _, _ in reads}
        for operation in machine.operations():
            place = (operation.address, operation.size)
            if operation.kind not in ("load", "store", "update", "compare-exchange"):
                continue
            if operation.read is not None and place not in written[-1]:
                assert stale.pop(place, operation.read) == operation.read
            if operation.written is not None:
                written[-1][place] = operation.written
                latest[place] = position
            if thread == 1 and operation.kind == "load" and operation.read is not None:
                seen.append(operation.read)
        assert not stale  # nothing is said that is not read
    return machine, seen


def unheard_of(litmus: Litmus) -> Outcome:
    """A program that looks for it tells how it ends, and never fails."""
    registers = (litmus.registers(thread) for thread in range(len(litmus.threads)))
    most = (1 << BITS) - 1
    return Outcome(tuple((most,) * len(names) for names in registers), (most,) * len(litmus.locations))


def outcome_of(litmus: Litmus, seen: Sequence[int]) -> Outcome:
    """From what main has read: what each thread has left behind, and what is in memory."""
    count = len(litmus.locations)
    packed = seen[-count - len(litmus.threads) : -count]
    registers = tuple(
        tuple(value >> BITS * index & (1 << BITS) - 1 for index in range(len(litmus.registers(thread))))
        for thread, value in enumerate(packed)
    )
    return Outcome(registers, tuple(seen[-count:]))


def compare_executions(litmus: Litmus) -> None:
    verdicts = judge(litmus)
    lowered = lower(to_program(litmus, unheard_of(litmus)))
    for memory in MODELS:
        exploration = explore(lowered.code, memory, keep_executions=True)
        outcomes = set()
        blocked = 0
        for execution in exploration.executions():
            assert memory != "sc" or not any(reads for _, _, reads in execution)
            machine, seen = follow(lowered, exploration, execution)
            assert not any(machine.next(thread).enabled for thread in ready(machine))
            if machine.status(1) == "ended":
                outcomes.add(outcome_of(litmus, seen))
            else:
                blocked += 1
        assert blocked == exploration.progress()[1]
        assert outcomes == verdicts[memory].outcomes, f"{memory}: {litmus}"


def ready(machine: _native.Machine) -> Iterator[int]:
    return (thread for thread in machine.threads() if machine.status(thread) == "ready")


def test_executions_end_as_the_axioms_say() -> None:
    for seed in range(150):
        compare_executions(random_litmus(random.Random(seed)))


@pytest.mark.slow
def test_many_executions_end_as_the_axioms_say() -> None:
    for seed in range(150, 3000):
        compare_executions(random_litmus(random.Random(seed)))


def compare_ends(generator: Callable[[random.Random], Shape], memory: str, seeds: range) -> None:
    """Each execution of a program can be taken again, and ends as was said."""
    for seed in seeds:
        shape = generator(random.Random(seed))
        if not is_ordered(shape) or "byte" in repr(shape):
            continue
        lowered = lower(build(shape))
        exploration = explore(lowered.code, memory, keep_executions=True, max_executions=200)
        oracle = Oracle(lowered)
        statuses: Counter[str] = Counter()
        failed = False
        for execution in exploration.executions():
            oracle.machine, _ = follow(lowered, exploration, execution)
            assert not oracle.enabled(), f"{memory}, program {seed}: {shape}"
            outcome = oracle.outcome()
            statuses[outcome.status] += 1
            failed |= outcome.failure is not None or outcome.status == "deadlock"
        complete, blocked = exploration.progress()[:2]
        assert (complete, blocked) == (statuses.total() - statuses["blocked"], statuses["blocked"])
        assert failed == (exploration.bug() is not None), f"{memory}, program {seed}: {shape}"


@pytest.mark.parametrize("memory", MODELS)
@pytest.mark.parametrize("generator", GENERATORS)
def test_executions_can_be_taken_again(generator: Callable[[random.Random], Shape], memory: str) -> None:
    compare_ends(generator, memory, range(60))


@pytest.mark.slow
@pytest.mark.parametrize("memory", MODELS)
@pytest.mark.parametrize("generator", GENERATORS)
def test_many_executions_can_be_taken_again(generator: Callable[[random.Random], Shape], memory: str) -> None:
    compare_ends(generator, memory, range(60, 2000))


# ---------------------------------------------------------------------------------------- the conduct of the search


def told(code: _native.Code, memory: str) -> list[Any]:
    search = explore(code, memory, keep_executions=True, races="warn", max_executions=500)
    races = [search.race(number) for number in range(search.race_count())]
    bugs = [search.bug_at(number) for number in range(search.bug_count())]
    return [search.progress()[:5], search.executions(), races, search.bug(), bugs, search.limit_met(), search.left()]


@pytest.mark.parametrize("generator", GENERATORS)
def test_it_always_does_the_same(generator: Callable[[random.Random], Shape]) -> None:
    for seed in range(20):
        shape = generator(random.Random(seed))
        memory = [*MODELS][seed % len(MODELS)]
        assert told(lower(build(shape)).code, memory) == told(lower(build(shape)).code, memory)


def test_executions_can_be_limited() -> None:
    row = table.Row("exp-mem3", 5, "pop")
    for most in (1, 7, 239):
        exploration = explore(row.load(), "c11", max_executions=most)
        assert sum(exploration.progress()[:2]) == most and not exploration.finished()
    exploration = explore(row.load(), "c11", max_executions=240)
    assert exploration.progress()[:3] == (240, 0, 0)


def test_steps_can_be_limited() -> None:
    """Executions that go on for longer are left there, and one of them is told."""
    lowered = lower(build(Shape(((("store", "x", 1), ("store", "x", 2)), (("load", "x"),)))))
    assert explore(lowered.code, "sc", max_steps=6).limit_met() is None
    exploration = explore(lowered.code, "sc", max_steps=3)
    limit = exploration.limit_met()
    assert limit is not None and limit[0] == "too_many_steps"
    machine = _native.Machine(lowered.code, thread_names=exploration.thread_names())
    assert machine.follow(limit[2]) == len(limit[2]) >= 3
    assert exploration.beyond() == sum(exploration.progress()[:2]) > 0


def test_it_can_be_stopped() -> None:
    """At once, or when it has something to show: there are 17 million."""
    code = table.Row("lastzero", 22, "pop").load()
    exploration = _native.GraphExploration(code, memory="c11")
    exploration.stop()
    exploration.run()
    assert not exploration.finished() and sum(exploration.progress()[:2]) <= 1
    exploration = _native.GraphExploration(code, memory="c11")
    running = threading.Thread(target=exploration.run)
    running.start()
    while sum(exploration.progress()[:2]) < 100:
        time.sleep(0.001)
    exploration.stop()
    running.join()
    assert not exploration.finished() and exploration.progress()[2] == 0


@pytest.mark.parametrize("memory", ["sc", "c11"])
def test_memory_does_not_grow_with_the_number_of_graphs(memory: graphs.Memory) -> None:
    row = graphs.Row("exp-mem3", 8, memory)
    measured = row.measure()
    assert row.problems(measured) == []
    assert measured.memory <= MOST_MEMORY


@pytest.mark.parametrize("name", graphs.SIZES)
def test_programs_of_the_paper_on_pop(name: str) -> None:
    small = 32 if name == "length-param" else table.BENCHMARKS[name].small
    row = graphs.Row(name, small, "c11")
    assert row.problems(row.measure()) == []
