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
from mazurka.machine.lowering import Lowered, lower
from mazurka.program.instructions import Instruction, Update
from mazurka.program.program import Program
from mazurka.transforms import prepare
from tests.laws.test_exploration import bug_kind, compare_with_oracle
from tests.oracle.livelocks import Sight, States, View, is_finite, stuck, visit
from tests.oracle.loop_generator import UPDATES, LoopShape, Statement, build, random_loop_shape, shrink
from tests.oracle.oracle import Access, Oracle, Outcome, Step, TooLarge, is_idle

LIVELOCK = Outcome("blocked", "livelock")


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
            judged.add(view.lasting)
        elif view.end and counterpart in dead:
            unjudged.add(view.lasting)
        for step, accesses, successor in transformed.steps[state]:
            if view.sight[1][step[0] - 1].startswith("failed"):
                pair = successor, counterpart
            else:
                pair = successor, follow(original, counterpart, step, accesses)
            if pair not in pairs:
                pairs.add(pair)
                pending.append(pair)

    sights = {view.uncounted for view in original.observations}
    assert sights == {view.uncounted for view in transformed.observations}, "not everything is seen"
    assert ends(original) == ends(transformed), "it does not end in the same ways"
    if is_finite(transformed):
        # An execution may stop at a loop that would be left for another one; that one is an execution, too.
        assert unjudged <= judged, "a livelock that is not noticed"
        assert {original.observations[state].lasting for state in dead} == judged, "a livelock that is not reached"


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
        {view.uncounted for view in states.observations if not view.bounded}
        for states in bounded
    )
    assert original <= {view.uncounted for view in bounded[1].observations}
    assert transformed <= {view.uncounted for view in unbounded.observations}


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
    for first, last, schedule in map(exploration.race, range(exploration.race_count())):
        machine = _native.Machine(lowered.code, thread_names=exploration.thread_names())
        touched: list[set[str]] = []  # by each step
        for thread, choices, _ in schedule[: last + 1]:
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


def variables(lowered: Lowered, machine: _native.Machine, step: _native.Effect) -> set[str]:
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


def taking(number: int, predicate: str, least: int, *, wait: tuple[str, int] | None = None) -> Statement:
    """A loop that takes something from the counter until there was enough, and waits in each round."""
    wanted, value = wait or (predicate, least)
    look = ("loop", (("count", "b"), ("if", (wanted, "b", value), (("break",),), ())))
    attempt = (("fetch", "a", number), ("if", (predicate, "a", least), (("break",),), ()))
    return ("loop", (*attempt, ("count add", -number), look))


FORGET = (("set", "a", 0), ("set", "b", 0))
NEVER = (taking(-1, "sgt", 100), *FORGET, ("count add", 1))  # takes something, in vain

# In each of these, one particular mistake would show, or has shown.
CASES = {
    "nobody ever puts enough into the counter": LoopShape(((taking(-1, "sgt", 0), *FORGET, ("count add", 1)), ())),
    "one takes from the counter while another does": LoopShape(
        ((taking(-1, "sgt", 0), *FORGET, ("count add", 1)), (taking(-2, "eq", 2), *FORGET, ("count add", 2))), count=2
    ),
    "somebody goes on because the counter holds less for a while": LoopShape(
        (
            NEVER,
            (
                ("do", (("load", "a", "x"),), ("eq", "a", 0)),
                taking(-1, "eq", 1),
                *FORGET,
                ("store", "y", 1),
                ("count add", 1),
            ),
            (
                ("count add", 1),
                ("store", "x", 1),
                ("do", (("load", "a", "y"),), ("eq", "a", 0)),
                ("count add", -1),
            ),
        ),
        count=1,
    ),
    "somebody goes on because the counter holds less for a while, and others add to it for a while": LoopShape(
        (NEVER, (taking(1, "sle", 0), *FORGET, ("store", "x", 1), ("count add", -1))), count=1
    ),
    "it waits for more than it needs": LoopShape(
        ((taking(-1, "sgt", 0, wait=("sgt", 1)), *FORGET, ("count add", 1)), (("count add", -1), ("count add", 1))),
        count=1,
    ),
    "it keeps what it has found": LoopShape(
        (NEVER, (taking(-1, "sgt", 0), ("set", "b", 0), ("count add", 1))), count=2
    ),
    "somebody else looks at the counter": LoopShape((NEVER, (("count", "a"),)), count=1),
    "somebody else tries once": LoopShape(
        (
            NEVER,
            (("fetch", "a", -1), ("if", ("sle", "a", 0), (("store", "x", 1),), ()), ("count add", 1), *FORGET),
        ),
        count=1,
    ),
    "whether it goes round depends on what was expected and what was found": LoopShape(
        (
            (
                (
                    "loop",
                    (
                        ("set", "b", "a"),
                        ("if", ("swapped", "a", "x", 3), (("break",),), ()),
                        ("set", "b", ("xor", "a", "b")),
                        ("if", ("eq", ("and", "b", 1), 0), (("break",),), ()),
                        ("set", "b", 0),
                    ),
                ),
            ),
            (("store", "x", 1), ("store", "x", 2)),
        ),
    ),
    "a failed compare-exchange finds what the one before expected": LoopShape(
        (
            (("loop", (("if", ("swapped", "a", "x", ("add", "a", 1)), (("break",),), ()),)),),
            (("store", "x", 1), ("store", "x", 0), ("store", "x", 2)),
        ),
    ),
    "somebody tries to take a lock while another looks whether there is something": LoopShape(
        (
            (
                (
                    "loop",
                    (
                        ("critical", (("load", "a", "x"),)),
                        ("if", ("ne", "a", 0), (("break",),), ()),
                        ("set", "a", 0),
                    ),
                ),
            ),
            (
                ("trylock", "a"),
                ("trylock", "b"),
                ("if", ("eq", "b", 0), (("unlock",), ("store", "x", 1)), ()),
            ),
        ),
    ),
    "a lock is given back in each round and never taken again": LoopShape(
        (
            (
                ("lock",),
                ("loop", (("give",), ("load", "a", "x"), ("if", ("ne", "a", 0), (("break",),), ()), ("set", "a", 0))),
            ),
            (("store", "x", 1),),
        ),
    ),
    "a lock is kept when the loop goes round": LoopShape(
        (
            (
                (
                    "loop",
                    (
                        ("critical", (("load", "a", "x"), ("if", ("eq", "a", 0), (("continue",),), ()))),
                        ("break",),
                    ),
                ),
            ),
            (("store", "x", 1),),
        ),
    ),
    "an object is prepared again after it was published": LoopShape(
        (
            (
                ("new",),
                (
                    "loop",
                    (
                        ("load", "b", "x"),
                        ("prepare", 0, "b"),
                        ("publish", "a", "null"),
                        ("if", ("eq", "b", 1), (("break",),), ()),
                        ("set", "a", 0),
                        ("set", "b", 0),
                    ),
                ),
            ),
            (("store", "x", 2), ("peek", "a", 0), ("store", "x", 3), ("peek", "b", 0), ("store", "x", 1)),
        ),
    ),
    "an object is published before it is prepared": LoopShape(
        (
            (
                ("new",),
                ("publish", "a", "null"),
                ("do", (("load", "b", "x"), ("prepare", 0, "b"), ("set", "c", 0)), ("ne", "b", 1)),
            ),
            (("store", "x", 2), ("peek", "a", 0), ("store", "x", 1)),
        ),
    ),
    "what a round has prepared is looked at in the next": LoopShape(
        (
            (
                ("new",),
                (
                    "loop",
                    (
                        ("look", "a", 0),
                        ("load", "b", "x"),
                        ("prepare", 0, "b"),
                        ("if", ("eq", "b", 1), (("break",),), ()),
                        ("set", "a", 0),
                        ("set", "b", 0),
                    ),
                ),
            ),
            (("store", "x", 2), ("store", "x", 1)),
        ),
    ),
    "what a round has prepared is looked at after the loop": LoopShape(
        (
            (
                ("new",),
                (
                    "loop",
                    (
                        ("load", "b", "x"),
                        ("if", ("eq", "b", 1), (("break",),), ()),
                        ("prepare", 0, "b"),
                        ("set", "b", 0),
                    ),
                ),
                ("look", "c", 0),
            ),
            (("store", "x", 2), ("store", "x", 1)),
        ),
    ),
    "a note of a failure is read after the lock was taken": LoopShape(
        (
            (
                ("do", (("trylock", "a"),), ("ne", "a", 0)),
                ("note", "b"),
                ("unlock",),
            ),
            (("locked", (("store", "x", 1),)),),
        ),
    ),
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
