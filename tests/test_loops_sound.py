"""That cutting pure iterations short and waiting in accesses changes nothing, on random programs with loops.

The programs are so small that all states of the original can be visited, with no bound on its loops. What can be seen
of a state is its memory, and which threads have ended, failed or wait for each other; whoever is still on the way is
just that, wherever it stands: a thread in a pure iteration has not written anything since the iteration began. So the
transformed program must show exactly the same sights and end in the same ways (Theorem 1.1 of the paper, and more).
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import pytest

from mazurka import _native
from mazurka.program.instructions import Assume, Instruction, Update
from mazurka.program.program import Program
from mazurka.transforms import prepare
from mazurka.transforms.lowering import Lowered, lower
from tests.oracle.loop_generator import UPDATES, VARIABLES, LoopShape, build, random_loop_shape, shrink
from tests.oracle.oracle import Access, Oracle, Outcome, StateGraph, Step, TooLarge, is_idle, plain
from tests.test_exploration import bug_kind, compare_with_oracle

# What can be seen of a state: the memory, and how far each thread is.
Sight = tuple[tuple[bytes, ...], tuple[str, ...]]

LIVELOCK = Outcome("blocked", "livelock")


@dataclass(frozen=True)
class View:
    """A state as it is looked at: what can be seen; how it ended, if nothing can be done there; the threads that were
    stopped by an assume, and whether one of them was stopped by a bound; whether something else than a livelock is to
    blame if nothing changes any more: a failure, an assume, threads that wait for each other."""

    sight: Sight
    end: Outcome | None
    stopped: frozenset[int]
    bounded: bool
    excused: bool


States = StateGraph[View]


def visit(program: Program, *, uninitialised: bool = True, limit: int = 4000) -> States:
    """All states of a program."""
    oracle = Oracle(program, uninitialised=uninitialised)
    machine, lowered = oracle.machine, oracle.lowered
    first = 1 + len(lowered.functions)  # objects are numbered: null, the functions, the globals
    names = [*VARIABLES, "array", "mutex", *(name for name in lowered.globals if name.startswith("result"))]
    addresses = [(first + lowered.globals.index(name)) << 32 for name in names]
    places = [(address, machine.describe(address).size) for address in addresses]

    def progress(thread: int) -> str:
        """How far a thread is. Steps that touch nothing, which nobody can prevent, are taken at once: an access to no
        object is no event, but with a guard it is a step, and so is a section that waits for nothing."""
        mark = machine.mark()
        for _ in range(10):
            following = machine.next(thread) if machine.status(thread) == "ready" else None
            if not following or not following.enabled or following.ranges or not is_idle(plain(following.accesses)):
                break
            machine.step(thread)
        status = machine.status(thread)
        if status == "failed":
            status += f" at {lowered.origin[machine.frames(thread)[0]][1].location}"
        machine.rewind(mark)
        return status if status.startswith(("failed", "ended")) else "on the way"

    def look(goes_on: bool) -> View:
        circle = oracle.circle()
        progresses = tuple(
            "waits in a circle" if thread in circle else progress(thread) for thread in machine.threads()
        )
        stopped = frozenset(t for t in machine.threads() if machine.status(t) == "stopped")
        assumes = [guard.origin for guard in oracle.guards().values() if isinstance(guard, Assume)]
        failed = any(machine.status(thread) == "failed" for thread in machine.threads())
        sight = tuple(machine.read(*place) for place in places), progresses
        end = None if goes_on else oracle.outcome()
        return View(sight, end, stopped, "bound" in assumes, bool(assumes or circle or failed))

    return oracle.states(look, limit)


def stuck(states: States) -> set[int]:
    """The states of an original program from which it goes on for ever, and nothing that can be seen ever changes."""
    sources: list[list[int]] = [[] for _ in states.steps]
    alive = []
    for state, steps in enumerate(states.steps):
        view = states.observations[state]
        if view.end or view.excused:
            alive.append(state)
        for _, _, successor in steps:
            sources[successor].append(state)
            if states.observations[successor].sight != view.sight:
                alive.append(state)
    found = set(alive)
    while alive:
        for source in sources[alive.pop()]:
            if source not in found:
                found.add(source)
                alive.append(source)
    return set(range(len(states.steps))) - found


def is_finite(states: States) -> bool:
    """Whether no execution goes on for ever: there is no way back to an earlier state."""
    finished: set[int] = set()
    path = [(0, iter(states.steps[0]))]
    on_path = {0}
    while path:
        state, steps = path[-1]
        step = next(steps, None)
        if step is None:
            finished.add(state)
            on_path.remove(state)
            path.pop()
        elif step[2] in on_path:
            return False
        elif step[2] not in finished:
            on_path.add(step[2])
            path.append((step[2], iter(states.steps[step[2]])))
    return True


def compare(original: States, transformed: States) -> None:
    """The transformed program does what the original can do, step by step, and shows all that it shows."""
    dead = stuck(original)
    judged: set[Sight] = set()  # livelocks, by the machine's judgement
    unjudged: set[Sight] = set()
    pairs = {(0, 0)}
    pending = [(0, 0)]
    while pending:
        state, counterpart = pending.pop()
        view = transformed.observations[state]
        assert alike(view, original.observations[counterpart])
        if view.end == LIVELOCK:
            assert counterpart in dead, "a livelock that is none"
            judged.add(view.sight)
        elif view.end and counterpart in dead:
            unjudged.add(view.sight)
        for step, accesses, successor in transformed.steps[state]:
            if view.sight[1][step[0] - 1].startswith("failed"):
                pair = successor, counterpart
            else:
                pair = successor, follow(original, counterpart, step, accesses)
            if pair not in pairs:
                pairs.add(pair)
                pending.append(pair)

    sights = {view.sight for view in original.observations}
    assert sights == {view.sight for view in transformed.observations}, "not everything is seen"
    assert ends(original) == ends(transformed), "it does not end in the same ways"
    if is_finite(transformed):
        # An execution may stop at a loop that would be left for another one; that one is an execution, too.
        assert unjudged <= judged, "a livelock that is not noticed"
        assert {original.observations[state].sight for state in dead} == judged, "a livelock that is not reached"


def alike(view: View, original: View) -> bool:
    """Whether the same can be seen in the original, where a thread that was stopped may have gone on to a failure."""
    progresses = zip(view.sight[1], original.sight[1], strict=True)
    return view.sight[0] == original.sight[0] and all(
        one == other or thread in view.stopped for thread, (one, other) in enumerate(progresses, 1)
    )


def follow(original: States, state: int, step: Step, accesses: tuple[Access, ...]) -> int:
    """Where a step of the transformed program leads in the original, in which it may be several of one thread."""
    if is_idle(accesses) and all((other, found) != (step, accesses) for other, found, _ in original.steps[state]):
        return state  # there, it is no event
    done: tuple[Access, ...] = ()
    while True:
        found = [(more, successor) for other, more, successor in original.steps[state] if other == step]
        assert found, "a step that the original cannot take"
        ((more, state),) = found
        done += more
        if done == accesses:
            return state
        assert accesses[: len(done)] == done, "a step that does something else"
        step = step[0], ()


def ends(states: States) -> set[tuple[Sight, str]]:
    """How executions end. Whoever is stopped by an assume may go on where accesses wait."""
    return {(view.sight, view.end.status) for view in states.observations if view.end and view.end.status != "blocked"}


def check_behaviour(shape: LoopShape, number: int) -> None:
    uninitialised = number % 4 != 0
    original = visit(prepare(build(shape), purity=False, awaits=False), uninitialised=uninitialised)
    for awaits in (False, True):
        compare(original, visit(prepare(build(shape), awaits=awaits), uninitialised=uninitialised))


# -------------------------------------------------------------------------------------- bounds, explorers, data races


def check_bound(shape: LoopShape, number: int) -> None:
    """What the original does in few iterations, the transformed program does in no more. And it does nothing else."""
    bounded = [
        visit(prepare(build(shape), purity=purity, awaits=purity, unroll=1 + number % 2)) for purity in (False, True)
    ]
    unbounded = visit(prepare(build(shape), purity=False, awaits=False))
    original, transformed = (
        # A thread that is stopped by the bound would perhaps have gone on at once.
        {view.sight for view in states.observations if not view.bounded}
        for states in bounded
    )
    assert original <= {view.sight for view in bounded[1].observations}
    assert transformed <= {view.sight for view in unbounded.observations}


def check_explorers(shape: LoopShape, number: int) -> None:
    """The explorers agree with the oracle on transformed programs."""
    for awaits in (False, True):
        finite = is_finite(visit(prepare(build(shape), awaits=awaits)))
        prepared = prepare(build(shape), awaits=awaits, unroll=None if finite else 2)
        compare_with_oracle(lower(prepared), 300, commute=number % 4 != 0, seed=number % 3)


def check_races(shape: LoopShape, number: int) -> None:
    """No data race is hidden."""
    original = races(prepare(build(shape), purity=False, awaits=False, unroll=2))
    for awaits in (False, True):
        assert original <= races(prepare(build(shape), awaits=awaits, unroll=2))


def races(program: Program) -> set[str]:
    """The variables that threads race for."""
    lowered = lower(program)
    exploration = explore_all(lowered, races="warn")
    found = set()
    for first, last, schedule in exploration.races():
        machine = _native.Machine(lowered.code, thread_names=exploration.thread_names())
        touched: list[set[str]] = []  # by each step
        for thread, choices in schedule[: last + 1]:
            following = machine.next(thread, choices)
            touched.append(variables(lowered, machine, following))
            if following.enabled:  # the last may be an access that waits, but could have been made
                machine.step(thread, choices)
        found |= touched[first] & touched[last]
    return found


def explore_all(lowered: Lowered, races: str = "ignore") -> _native.Exploration:
    exploration = _native.Exploration(
        lowered.code,
        algorithm="pop",
        races=races,
        keep_going=True,
        keep_executions=True,
        max_executions=3000,
        instruction_limit=10_000,
    )
    exploration.run()
    if not exploration.finished():
        raise TooLarge
    return exploration


def variables(lowered: Lowered, machine: _native.Machine, step: _native.Next) -> set[str]:
    """What a step touches."""
    places = [machine.describe(access.address) for access in step.accesses]
    return {lowered.globals[place.index] if place.kind == "global" else place.kind for place in places}


# ------------------------------------------------------------------------------------------------ pure iterations


@dataclass
class Iterations:
    """Follows a thread through its loops. An iteration is pure if it ends with the local variables as they were, and
    there was no write and no step back in an inner loop in between."""

    since: dict[int, int] = field(default_factory=dict)  # for each loop, the local variables when an iteration began
    clean: set[int] = field(default_factory=set)  # loops that have done nothing since then

    def enter(self, loop: int) -> None:
        self.since.pop(loop, None)

    def begin(self, loop: int, local: int) -> bool:
        """The next iteration begins; whether one has ended that was pure."""
        again = loop in self.since
        pure = again and loop in self.clean and self.since[loop] == local
        if again:
            self.clean.clear()
        self.clean.add(loop)
        self.since[loop] = local
        return pure

    def note(self, operation: _native.Operation, instruction: Instruction) -> None:
        """Stores count as writes, whatever they write, and so do updates whose old value nobody looks at: the program
        cannot know whether they change anything."""
        unchanged = operation.kind != "store" and operation.written in (None, operation.read)
        blind = isinstance(instruction, Update) and instruction.result is None
        if operation.kind not in ("load", "choose", "section", "stop", "end") and (blind or not unchanged):
            self.clean.clear()


def check_elimination(shape: LoopShape, number: int) -> None:
    """No execution completes a pure iteration; some random ones are looked at. A variable that is computed from its own
    old value counts as changed, whether it is or not, so programs must not do that."""
    source = random.Random(number)
    for awaits in (False, True):
        program = prepare(build(replace(shape, undefined=""), probes=True), awaits=awaits)
        oracle = Oracle(program, record=True)
        for _ in range(4):
            walk(oracle, source)


def walk(oracle: Oracle, source: random.Random) -> None:
    """A random execution, in which no iteration may be pure."""
    machine, lowered = oracle.machine, oracle.lowered
    machine.rewind(oracle.start)
    machine.operations()
    threads: defaultdict[int, Iterations] = defaultdict(Iterations)
    for _ in range(60):
        steps = oracle.enabled()
        if not steps:
            break
        machine.step(*source.choice(steps))
        for operation in machine.operations():
            iterations = threads[operation.thread]
            place = machine.describe(operation.address) if operation.kind == "load" else None
            name = lowered.globals[place.index] if place and place.kind == "global" else ""
            if name.startswith("entry"):
                iterations.enter(int(name.removeprefix("entry")))
            elif place and name.startswith("header"):
                pure = iterations.begin(int(name.removeprefix("header")), operation.address - place.base)
                assert not pure, "a pure iteration"
            else:
                iterations.note(operation, lowered.origin[operation.frames[0]][1])


# ------------------------------------------------------------------------------------------------------------ the tests

Check = Callable[[LoopShape, int], None]
CHECKS: list[Check] = [check_behaviour, check_bound, check_explorers, check_races, check_elimination]


def fails(check: Check, number: int, shape: LoopShape) -> bool:
    try:
        check(shape, number)
    except AssertionError:
        return True
    except TooLarge:
        pass
    return False


def try_programs(check: Check, numbers: range) -> None:
    for number in numbers:
        shape = random_loop_shape(random.Random(number), steps=check is not check_elimination)
        if fails(check, number, shape):
            smallest = shrink(shape, partial(fails, check, number))
            pytest.fail(f"program {number}, {check.__name__}: {smallest}")


@pytest.mark.parametrize("check", CHECKS)
def test_transformed_programs_do_the_same(check: Check) -> None:
    try_programs(check, range(200 if check is check_behaviour else 70))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(12))
@pytest.mark.parametrize("check", CHECKS)
def test_six_thousand_transformed_programs_do_the_same(check: Check, chunk: int) -> None:
    try_programs(check, range(500 * chunk, 500 * (chunk + 1)))


def test_few_programs_are_too_large() -> None:
    """Or else nothing would be tested."""
    too_large = 0
    for number in range(100):
        try:
            visit(prepare(build(random_loop_shape(random.Random(number))), purity=False, awaits=False))
        except TooLarge:
            too_large += 1
    assert too_large < 10


# In each of these, one particular mistake would show, or has shown.
CASES = {
    "an update happens though an assume stops its thread": LoopShape(
        (
            (("update", "add", "a", "x", 1), ("assume", ("eq", "a", 1))),
            (("load", "b", "x"), ("if", ("eq", "b", 1), (("store", "y", 1),), ())),
        ),
    ),
    "a compare-exchange happens though an assume stops its thread": LoopShape(
        (
            (("try", "a", "x", 0, 1), ("assume", ("eq", "a", 0))),
            (("load", "b", "x"), ("if", ("eq", "b", 1), (("store", "y", 1),), ())),
        ),
    ),
    "an inner loop writes before a round that does nothing": LoopShape(
        (
            (
                (
                    "loop",
                    (
                        ("load", "a", "x"),
                        ("loop", (("load", "b", "y"), ("if", ("ne", "b", 0), (("break",),), ()), ("store", "z", 1))),
                        ("if", ("eq", "a", 1), (("break",),), ()),
                    ),
                ),
            ),
            (("do", (("load", "a", "z"),), ("eq", "a", 0)), ("store", "y", 1), ("store", "x", 1)),
        ),
    ),
    "two reads at different times let a thread go": LoopShape(
        (
            (
                ("do", (("load", "a", "x"), ("load", "b", "y")), ("or", ("ne", "a", 1), ("ne", "b", 1))),
                ("set", "a", 0),
                ("set", "b", 0),
            ),
            (("store", "x", 1), ("store", "x", 0), ("store", "y", 1)),
        ),
    ),
    "a failed round after one that wrote": LoopShape(
        (
            (
                ("load", "c", "x"),
                (
                    "loop",
                    (
                        ("if", ("swapped", "c", "x", 3), (("break",),), ()),
                        ("if", ("eq", "c", 1), (("store", "z", 1),), ()),
                    ),
                ),
            ),
            (("store", "x", 1), ("do", (("load", "a", "z"),), ("eq", "a", 0)), ("store", "x", 2)),
        ),
    ),
    "a failed round that reads something else": LoopShape(
        (
            (("load", "c", "x"), ("loop", (("if", ("swapped", "c", "y", 3), (("break",),), ()),))),
            (("store", "y", 1),),
        ),
    ),
    "a round for nothing that may fail": LoopShape(
        (
            (("loop", (("load", "b", "x"), ("through", "a"), ("if", ("eq", "b", 1), (("break",),), ()))),),
            (("free",),),
        ),
    ),
    "a round for nothing that may divide by zero": LoopShape(
        (
            (("do", (("load", "a", "x"), ("load", "b", "y"), ("divide", "c", 1, "b")), ("ne", "a", 1)),),
            (("store", "y", 1),),
        ),
    ),
    "a round for nothing that may race": LoopShape(
        (
            (("do", (("load", "a", "x"), ("plain load", "b", "y")), ("ne", "a", 1)),),
            (("plain store", "y", 1),),
        ),
    ),
    **{
        f"rounds that update by {op} {value}": LoopShape(
            (
                (("do", (("update", op, "a", "x", value),), ("ne", "a", 3)),),
                (("store", "x", 2), ("store", "x", 1), ("store", "x", 3)),
            ),
        )
        for op in UPDATES[:-1]
        for value in (0, 1, 2)
    },
    "a choice in a livelock": LoopShape(((), (("do", (("choose", "b", 2),), ("ne", "c", 2)),))),
    "a write that changes nothing races": LoopShape(
        (
            (("plain load", "c", "y"), ("update", "xor", "a", "y", 1)),
            (("do", (("compare-exchange", "b", "y", 0, "b"),), ("eq", "b", 0)),),
        ),
    ),
    "it races with what has happened before": LoopShape(
        (
            (("plain load", "c", "y"),),
            (("do", (("plain load", "b", "z"), ("compare-exchange", "b", "y", 0, "b")), ("eq", "b", 0)),),
        ),
    ),
    "a guard that sees an undefined value": LoopShape(
        ((("do", (("plain load", "a", "y"),), ("eq", "a", 0)),), (("store", "y", "b"),)), undefined="b"
    ),
    "a failed round that is like reading again": LoopShape(
        (
            (("load", "c", "x"), ("loop", (("check", ("ugt", "c", 1)), ("if", ("swapped", "c", "x", 2), (), ())))),
            (("update", "and", "c", "x", 1),),
            (("store", "x", 2),),
        ),
    ),
    "a section that waits for nothing": LoopShape(
        (
            (("store", "y", 1),),
            (
                ("load", "a", "y"),
                ("while", (("load", "c", "x"),), ("and then", ("sle", "a", 0), "c", "y", ("slt", "c", 0))),
                ("load", "c", "y"),
            ),
        ),
    ),
}


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", CASES)
def test_cases_that_are_easily_got_wrong(name: str, check: Check) -> None:
    check(CASES[name], 1)


def test_a_loop_without_events_is_a_livelock() -> None:
    """It has no states to visit: it is all in one step."""
    program = prepare(build(LoopShape(((), (("loop", ()),)))))
    exploration = _native.Exploration(lower(program).code, algorithm="pop")
    exploration.run()
    assert bug_kind(exploration) == "livelock"
