"""The stateful search against the oracle, its reductions against each other, and both engines against each other."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import mazurka
from mazurka import _native
from mazurka.machine.lowering import Lowered, lower
from mazurka.program.builder import NULL, FunctionBuilder, ProgramBuilder
from mazurka.program.program import Program
from mazurka.program.types import I32, PTR
from mazurka.suppressions import STANDARD_STREAMS
from mazurka.transforms import prepare
from tests.oracle import generator, loop_generator
from tests.oracle.oracle import Step, TooLarge
from tests.oracle.state_generator import StateShape, build, random_state_shape, state_shapes
from tests.oracle.states import Bug, deadlocks, enabled, failure, reach
from tests.programs.test_programs import CORPUS, EXAMPLES, Expectation

SOUND = ("cpc", "cycle-detection")
REDUCTIONS = (*SOUND, "unsound", "none")
MANY = 20_000  # states: more than that are too many to compare


def ready(program: Program) -> Lowered:
    """As programs are prepared for the stateful search: loops go round."""
    return lower(prepare(program, purity=False, awaits=False))


def search(
    lowered: Lowered,
    reduction: str,
    *,
    exact: bool = False,
    livelocks: bool = False,
    races: str = "ignore",
    leaks: bool = False,
    keep_going: bool = True,
    max_states: int = MANY,
    pause_after: int = 10_000,
) -> _native.StateSearch:
    found = _native.StateSearch(
        lowered.code,
        reduction=reduction,
        exact=exact,
        livelocks=livelocks,
        races=races,
        leaks=leaks,
        keep_going=keep_going,
        max_states=max_states,
        pause_after=pause_after,
    )
    found.run()
    return found


def count(found: _native.StateSearch) -> int:
    return found.progress()[0]


def bugs(found: _native.StateSearch) -> set[Bug]:
    """Deadlocks are told apart by who waits where, in no order."""
    return {(kind, tuple(sorted(what)) if kind == "deadlock" else what) for kind, what in found.bugs()}


def compare_with_oracle(lowered: Lowered, limit: int, pause_after: int = 10_000) -> bool:
    """Without reduction, the search finds what the oracle finds: every bug, and every state once. False: too large."""
    try:
        reached = reach(lowered, pause_after=pause_after, limit=limit)
    except TooLarge:
        return False
    for exact in (True, False):
        found = search(lowered, "none", exact=exact, pause_after=pause_after)
        assert found.finished()
        assert bugs(found) == reached.bugs
        assert count(found) == len(reached.states)
    return True


def compare_reductions(lowered: Lowered, pause_after: int = 10_000) -> Counter[str] | None:
    """What the reductions find, which must be the same bugs; the unsound one may miss some. None: too large."""
    found = {"none": search(lowered, "none", pause_after=pause_after)}
    if not found["none"].finished():
        return None
    found |= {name: search(lowered, name, max_states=0, pause_after=pause_after) for name in (*SOUND, "unsound")}
    assert all(one.finished() for one in found.values())
    for name in SOUND:
        assert bugs(found[name]) == bugs(found["none"]), name
        exact = search(lowered, name, exact=True, max_states=0, pause_after=pause_after)
        assert (count(exact), bugs(exact)) == (count(found[name]), bugs(found[name])), name
    assert bugs(found["unsound"]) <= bugs(found["none"])
    totals = Counter({f"{name} states": count(one) for name, one in found.items()})
    return totals + Counter({f"{name} bugs": len(bugs(one)) for name, one in found.items()})


def compare_random_programs(
    make: Callable[[random.Random], Lowered], numbers: range, *, oracle: int = 0, limit: int = 1000
) -> Counter[str]:
    """The sums of what is found. The `oracle` has its say about every so manieth program."""
    totals: Counter[str] = Counter()
    for number in numbers:
        source = random.Random(number)
        lowered = make(source)
        # Now and then, long local computations are cut into many steps.
        pause_after = source.choice([10_000, 10_000, 25, 40])
        try:
            totals += compare_reductions(lowered, pause_after) or Counter()
            if oracle and number % oracle == 0:
                totals["judged by the oracle"] += compare_with_oracle(lowered, limit, pause_after)
        except AssertionError as error:
            raise AssertionError(f"{make.__name__}(random.Random({number})), pausing after {pause_after}") from error
    return totals


def endless_program(source: random.Random) -> Lowered:
    return ready(build(random_state_shape(source)))


def loop_program(source: random.Random) -> Lowered:
    return ready(loop_generator.build(loop_generator.random_loop_shape(source)))


def short_program(source: random.Random) -> Lowered:
    return ready(generator.build(generator.random_shape(source)))


GENERATORS = [endless_program, loop_program, short_program]
pauses = st.sampled_from([10_000, 25, 40])


@settings(max_examples=150)
@given(state_shapes(), pauses)
def test_the_search_finds_what_the_oracle_finds(shape: StateShape, pause_after: int) -> None:
    assume(compare_with_oracle(ready(build(shape)), 400, pause_after))


@settings(max_examples=150)
@given(state_shapes(), pauses)
def test_reductions_lose_nothing(shape: StateShape, pause_after: int) -> None:
    assume(compare_reductions(ready(build(shape)), pause_after))


@pytest.mark.parametrize("make", GENERATORS)
def test_reductions_lose_nothing_on_random_programs(make: Callable[[random.Random], Lowered]) -> None:
    compare_random_programs(make, range(400), oracle=8)


def test_reductions_reduce_and_what_they_do_is_needed() -> None:
    """Over many programs: in a single one, a state can count both inside and outside of a transaction."""
    totals = compare_random_programs(endless_program, range(1000, 1600))
    unsound, cpc, cycles, none = (totals[f"{name} states"] for name in ("unsound", "cpc", "cycle-detection", "none"))
    assert unsound < cpc < cycles < none
    assert cpc < 0.9 * none
    # The programs are such that one has to take care.
    assert totals["unsound bugs"] < 0.95 * totals["none bugs"]


@settings(max_examples=100)
@given(state_shapes(), st.sampled_from(REDUCTIONS))
def test_schedules_lead_to_their_bugs(shape: StateShape, reduction: str) -> None:
    lowered = ready(build(shape))
    found = search(lowered, reduction, keep_going=False)
    assume(found.bug() is not None)
    check_schedule(lowered, found)


def check_schedule(lowered: Lowered, found: _native.StateSearch, leaks: bool = False) -> _native.Machine:
    bug = found.bug()
    assert bug is not None
    kind, thread, steps, what = bug
    machine = _native.Machine(lowered.code, pause_after=10_000, leaks=leaks, thread_names=found.thread_names())
    for step in steps:
        assert machine.failure() is None
        machine.step(*step)
    if kind == "failure":
        failed = machine.failure()
        assert failed is not None and (failed.thread, failed.kind) == (thread, what)
        assert failure(machine) <= bugs(found)
    elif kind == "livelock":
        machine = _native.Machine(
            lowered.code,
            pause_after=10_000,
            follow_locks=True,
            follow_pointers=True,
            thread_names=found.thread_names(),
        )
        machine.follow(steps)
        assert any(spins for _, spins, _ in machine.livelock())
    else:
        assert kind == "deadlock" and machine.failure() is None
        there = deadlocks(machine, lowered)
        assert there & bugs(found)
        assert any(machine.thread_name(thread) in str(what) for _, what in there)
    return machine


# ------------------------------------------------------------------------------------------------ states


@settings(max_examples=100)
@given(state_shapes(), st.integers(0, 2**32), pauses)
def test_equal_states_have_equal_futures(shape: StateShape, seed: int, pause_after: int) -> None:
    check_futures(ready(build(shape)), random.Random(seed), pause_after)


def check_futures(lowered: Lowered, source: random.Random, pause_after: int) -> None:
    """Some walks through a program, and what can be done on the way: it depends on nothing but the canonical state."""
    machine = _native.Machine(lowered.code, pause_after=pause_after, follow_pointers=True)
    assume(not machine.failure())
    start, addresses_matter = machine.mark(), machine.addresses_matter()
    futures: dict[bytes, tuple[dict[Step, bytes | set[Bug]], set[Bug]]] = {}
    for _ in range(5):
        machine.rewind(start)
        for _ in range(30):
            here, mark = machine.canonical(), machine.mark()
            successors: dict[Step, bytes | set[Bug]] = {}
            for step in enabled(machine):
                machine.step(*step)
                successors[step] = failure(machine) or machine.canonical()
                machine.rewind(mark)
            future = successors, deadlocks(machine, lowered)
            if machine.addresses_matter() == addresses_matter:
                assert futures.setdefault(here, future) == future
            else:
                # More states are different from now on.
                addresses_matter = True
                futures.clear()
            safe = [step for step, there in successors.items() if isinstance(there, bytes)]
            if not safe:
                break
            machine.step(*source.choice(safe))


def states_of(write: Callable[[ProgramBuilder, FunctionBuilder], object]) -> list[bytes]:
    """The states that main goes through by itself."""
    builder = ProgramBuilder()
    with builder.function("other"):
        pass
    with builder.function("main") as f:
        f.spawn("other")
        write(builder, f)
    machine = _native.Machine(ready(builder.build()).code, follow_pointers=True)
    states = [machine.canonical()]
    while machine.status(1) == "ready" and len(states) < 100:
        machine.step(1)
        states.append(machine.canonical())
    return states


def test_the_order_of_allocations_does_not_matter() -> None:
    def make_two_blocks(order: list[int]) -> Callable[[ProgramBuilder, FunctionBuilder], object]:
        def write(p: ProgramBuilder, f: FunctionBuilder) -> None:
            pointers = p.array("pointers", PTR, [0, 0])
            with p.function("block", returns=PTR) as make:
                make.ret(make.malloc(4, zeroed=True))
            blocks = {index: f.call("block", returns=PTR) for index in order}
            for index in range(2):
                f.store(f.element(pointers, index), blocks[index])

        return write

    assert states_of(make_two_blocks([0, 1]))[-2:] == states_of(make_two_blocks([1, 0]))[-2:]


def test_garbage_does_not_matter() -> None:
    def replace_a_block(p: ProgramBuilder, f: FunctionBuilder) -> None:
        pointer = p.variable("pointer", PTR)
        with f.loop():
            f.store(pointer, f.malloc(4, zeroed=True))

    assert len(set(states_of(replace_a_block))) == 2


def test_freed_blocks_do_not_matter() -> None:
    def replace_a_block(p: ProgramBuilder, f: FunctionBuilder) -> None:
        pointer = p.variable("pointer", PTR)
        with f.loop():
            f.store(pointer, f.malloc(4, zeroed=True))
            f.free(f.load(pointer))
            f.store(pointer, NULL)

    assert len(set(states_of(replace_a_block))) == 4


def test_pointers_to_freed_blocks_stay_apart() -> None:
    """A pointer to the second block differs from one to the first, as long as there are both."""

    def keep_both(p: ProgramBuilder, f: FunctionBuilder) -> None:
        pointers = p.array("pointers", PTR, [0, 0])
        for index in range(2):
            block = f.malloc(4)
            f.free(block)
            f.store(f.element(pointers, index), block)
        f.store(f.element(pointers, 1), f.load(f.element(pointers, 0), PTR))
        f.store(f.element(pointers, 1), NULL)

    both, same, one = states_of(keep_both)[-4:-1]
    assert len({both, same, one}) == 3


def test_registers_that_nobody_reads_do_not_matter() -> None:
    def read_and_forget(p: ProgramBuilder, f: FunctionBuilder) -> None:
        x = p.variable("x")
        with f.loop():
            f.store(x, f.xor(f.load(x), 1))

    assert len(set(states_of(read_and_forget))) == 4  # the value that was read, or x: never both


def test_calls_that_are_over_do_not_matter() -> None:
    def call(p: ProgramBuilder, f: FunctionBuilder) -> None:
        x = p.variable("x")
        with p.function("touch", I32) as callee:
            local = callee.local("local", I32, callee.parameters[0])
            callee.call("take", local)
            callee.store(x, callee.load(local))
        with p.function("take", PTR) as callee:
            callee.store(callee.parameters[0], 1, I32)
        with f.loop():
            f.call("touch", f.load(x))

    assert len(set(states_of(call))) < 20


def test_what_was_never_written_matters() -> None:
    def write_nothing(p: ProgramBuilder, f: FunctionBuilder) -> None:
        pointer = p.variable("pointer", PTR)
        f.store(pointer, f.malloc(4))
        f.store(f.load(pointer), 0, I32)
        f.store(pointer, NULL)

    states = states_of(write_nothing)
    assert len(set(states)) == len(states)


@pytest.mark.parametrize("freed", [False, True])
def test_sizes_of_blocks_matter(freed: bool) -> None:
    def keep(size: int) -> Callable[[ProgramBuilder, FunctionBuilder], object]:
        def write(p: ProgramBuilder, f: FunctionBuilder) -> None:
            block = f.malloc(size)
            if freed:
                f.free(block)
            f.store(p.variable("pointer", PTR), block)

        return write

    assert states_of(keep(3))[-2] == states_of(keep(3))[-2] != states_of(keep(4))[-2]


def test_numbers_that_look_like_addresses_are_numbers() -> None:
    """Two numbers next to each other look like the address of a block. There are blocks of these names."""

    def count_blocks(p: ProgramBuilder, f: FunctionBuilder) -> None:
        pair = p.array("pair", I32, [1 << 26, 0])
        for _ in range(8):
            f.free(f.malloc(8))
        for number in range(1, 8):
            f.store(f.element(pair, 1), number)

    states = states_of(count_blocks)
    assert len(set(states)) == len(states)


def test_what_a_pointer_in_a_packed_structure_points_to_matters() -> None:
    builder = ProgramBuilder()
    packed = builder.data("packed", bytes(12))
    with builder.function("other"):
        pass
    with builder.function("main") as f:
        f.spawn("other")
        f.store(f.offset(packed, 4), f.malloc(4, zeroed=True), PTR)
        f.store(f.load(f.offset(packed, 4), PTR), f.choose(2), I32)
        f.check(f.eq(f.load(f.load(f.offset(packed, 4), PTR), I32), 0))
    lowered = ready(builder.build())
    assert reach(lowered, look=_native.Machine.state).bugs
    assert all(bugs(search(lowered, reduction)) for reduction in REDUCTIONS)


# ----------------------------------------------------------------------------------------------- engines


@pytest.mark.parametrize("program", CORPUS, ids=lambda path: path.name)
def test_engines_agree_on_the_corpus(program: Path) -> None:
    expected = Expectation.read(program)
    if expected.switches:
        pytest.skip("both engines are asked with its switches where the corpus is")
    loaded = mazurka.load(
        [program, *expected.files],
        compiler_arguments=expected.options,
        program_arguments=expected.arguments,
        purity=False,
        awaits=False,
    )
    # What threads do to the standard streams is passed over by `check`, not by the search itself.
    prints = not STANDARD_STREAMS.isdisjoint(loaded.globals)
    races = bool(expected.races) if expected.kind is None and not prints else None
    check_verdict(lower(loaded), expected.kind, races=races)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("lost_update.c", "assertion"),
        ("lock_order.c", "deadlock"),
        ("use_after_free.c", "memory"),
        ("queue.c", None),
        ("parcel.c", "livelock"),
    ],
)
def test_engines_agree_on_the_examples(name: str, kind: str | None) -> None:
    check_verdict(lower(mazurka.load(EXAMPLES / name, purity=False, awaits=False)), kind)


def check_verdict(lowered: Lowered, kind: str | None, races: bool | None = None) -> None:
    """`kind` is the bug that the stateless engine finds, if any, and `races` whether it finds data races, if that is
    known. What goes on and on has no end here either."""
    for reduction in (*SOUND, "none"):
        endless = kind == "too_many_instructions"
        most = MANY if endless else 0
        found = search(lowered, reduction, livelocks=True, races="warn", keep_going=False, max_states=most)
        assert races is None or bool(found.race_count()) == races
        if kind is None or endless:
            assert found.bug() is None
            assert found.limit() == ("states" if endless else "")
            assert found.finished() != endless
        elif kind == "limit":
            assert found.bug() is None and found.limit_met() is not None
        else:
            failed, bug = check_schedule(lowered, found).failure(), found.bug()
            assert bug is not None and kind == (failed.kind if failed else bug[0])


@settings(max_examples=150)
@given(generator.shapes())
def test_engines_agree_on_programs_that_end(shape: generator.Shape) -> None:
    compare_engines([shape])


def compare_engines(shapes: Iterable[generator.Shape]) -> None:
    for shape in shapes:
        lowered = lower(generator.build(shape))
        stateless = _native.Exploration(lowered.code, algorithm="pop", max_executions=1000, allow_livelock=True)
        stateless.run()
        if not stateless.finished() and stateless.bug() is None:
            continue
        for reduction in (*SOUND, "none"):
            stateful = search(lowered, reduction)
            assert stateful.finished() and bool(stateful.bugs()) == bool(stateless.bug()), f"{reduction}: {shape}"


# ------------------------------------------------------------------------------------------- regressions

LOOK = (("load", "a", "x"), ("check", ("eq", "a", 1)))
OBSERVER = (("load", "b", "y"), ("if", ("eq", "b", 1), LOOK, ()))
WRITER = (("store", "y", 1), ("store", "x", 1))
# The same, where it is known before that there is a lock.
LOCKED_LOOK = (("load", "b", "y"), ("if", ("eq", "b", 1), (("locked", "m", LOOK),), ()))
LOCKED_OBSERVER = (("locked", "m", (("store", "z", 1),)), *LOCKED_LOOK)
LATE_WRITER = (("await", "z", 1), *WRITER)

# Each of these was searched wrongly once.
REGRESSIONS = {
    "a thread that has stopped leaves no other one alone": StateShape(
        ((("locked", "m", WRITER), ("stop",)), OBSERVER),
    ),
    "nor in the middle of its transaction": StateShape(((*WRITER, ("stop",)), OBSERVER)),
    "a lock that is reset while it is held, before there are others": StateShape(
        (LATE_WRITER, LOCKED_OBSERVER), before=(("lock", "m"), ("reset", "m"))
    ),
    "a lock that is reset while it is held, after the others have ended": StateShape(
        (
            (("join", 1), ("lock", "m"), ("reset", "m"), ("store", "u", 1), ("spawn", 2), *LATE_WRITER),
            (),
            LOCKED_OBSERVER,
        ),
    ),
    "a lock that is taken and reset in one step": StateShape(
        ((("section", (("lock", "m"), ("reset", "m"))), *LATE_WRITER), LOCKED_OBSERVER),
    ),
    "threads that come to wait for each other by what a third one does": StateShape(
        (
            (("locked", "n", (("locked", "m", (("wait", "m"),)),)),),
            (("locked", "m", (("locked", "n", ()),)),),
            (("signal",), ("spin",)),
        ),
    ),
}


@pytest.mark.parametrize("name", REGRESSIONS)
def test_programs_that_were_once_searched_wrongly(name: str) -> None:
    lowered = ready(build(REGRESSIONS[name]))
    assert compare_reductions(lowered)
    assert compare_with_oracle(lowered, limit=5000)


# -------------------------------------------------------------------------------------------------- slow


@pytest.mark.slow
@settings(max_examples=2000)
@given(state_shapes(), pauses)
def test_the_search_finds_what_the_oracle_finds_in_many_programs(shape: StateShape, pause_after: int) -> None:
    lowered = ready(build(shape))
    assume(compare_with_oracle(lowered, 2000, pause_after))
    assert compare_reductions(lowered, pause_after)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(20))
@pytest.mark.parametrize("make", GENERATORS)
def test_reductions_lose_nothing_in_sixty_thousand_programs(
    make: Callable[[random.Random], Lowered], chunk: int
) -> None:
    compare_random_programs(make, range(1000 * chunk, 1000 * (chunk + 1)), oracle=10, limit=2000)


@pytest.mark.slow
@settings(max_examples=2000)
@given(state_shapes(), st.integers(0, 2**32), pauses)
def test_equal_states_have_equal_futures_in_many_programs(shape: StateShape, seed: int, pause_after: int) -> None:
    check_futures(ready(build(shape)), random.Random(seed), pause_after)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_engines_agree_on_ten_thousand_programs(chunk: int) -> None:
    numbers = range(1000 * chunk, 1000 * (chunk + 1))
    compare_engines(generator.random_shape(random.Random(number)) for number in numbers)
