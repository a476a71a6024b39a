"""Whether an execution is an interleaving: the decision, and the schedules that it is made for."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from pathlib import Path
from random import Random

import pytest

import mazurka
from mazurka import Schedule, _native
from mazurka.executions.interleaving import MOST_STEPS, START, Done, Unknown, as_interleaving, interleave
from mazurka.executions.schedule import Reading, Step, Transformations
from mazurka.machine.lowering import lower
from mazurka.program.builder import ProgramBuilder
from mazurka.program.program import Program
from tests.support.two_threads import main_of_two

X, Y = 0, 1


def execution(*threads: list[str]) -> list[Done]:
    """The steps of threads, one thread after the other. "Wx" writes x, "Rx" reads what was there at the start, "Rx2"
    what step 2 wrote, and "Ux2" reads that and writes."""
    steps: list[Done] = []
    for thread in threads:
        for number, text in enumerate(thread):
            place, source = "xy".index(text[1]), int(text[2:] or START)
            reads = {} if text[0] == "W" else {place: source}
            writes = frozenset() if text[0] == "R" else frozenset([place])
            steps.append(Done(len(steps) - 1 if number else START, reads, writes))
    return steps


def is_one(steps: list[Done], order: tuple[int, ...] | list[int]) -> bool:
    latest: dict[int, int] = {}
    for number in order:
        step = steps[number]
        if step.after != START and order.index(step.after) > order.index(number):
            return False
        if any(latest.get(place, START) != source for place, source in step.reads.items()):
            return False
        latest |= dict.fromkeys(step.writes, number)
    return True


@pytest.mark.parametrize(
    ("threads", "expected"),
    [
        ((["Wx", "Ry"], ["Wy", "Rx"]), False),  # store buffering
        ((["Wx", "Ry"], ["Wy", "Rx0"]), True),
        ((["Wx", "Wy"], ["Ry1", "Rx"]), False),  # message passing
        ((["Wx", "Wy"], ["Ry", "Rx0"]), True),
        ((["Wx"], ["Rx"]), True),  # merely told in another order
        ((["Wx"], ["Wx"], ["Rx1", "Rx0"]), True),  # the order of writes is nowhere said
        ((["Wx"], ["Wx"], ["Rx1", "Rx0"], ["Rx0", "Rx1"]), False),
        ((["Wx"], ["Wy"], ["Rx0", "Ry"], ["Ry1", "Rx"]), False),  # independent reads
        ((["Ux"], ["Ux"]), False),  # of two updates, one sees the other
        ((["Ux"], ["Ux0"]), True),
        ((["Wx", "Rx"],), False),
        (([],), True),
    ],
)
def test_known_executions(threads: tuple[list[str], ...], expected: bool) -> None:
    steps = execution(*threads)
    order = interleave(steps)
    assert (order is not None) == expected
    assert order is None or is_one(steps, order)


def test_the_same_as_trying_all_orders() -> None:
    """Random executions of a few steps."""
    found = set()
    for seed in range(3000):
        dice = Random(seed)
        threads: list[list[str]] = [[] for _ in range(dice.randint(2, 3))]
        kinds = [dice.choice(["W", "R", "R", "U"]) + dice.choice("xy") for _ in range(dice.randint(3, 6))]
        for kind in kinds:
            dice.choice(threads).append(kind)
        placed = [kind for thread in threads for kind in thread]
        for thread in threads:
            for number, kind in enumerate(thread):
                writers = [at for at, other in enumerate(placed) if other[0] != "R" and other[1] == kind[1]]
                if kind[0] != "W" and writers and dice.random() < 0.7:
                    thread[number] += str(dice.choice(writers))
        steps = execution(*threads)
        if any(number in step.reads.values() for number, step in enumerate(steps)):
            continue  # an update of its own
        expected = any(is_one(steps, order) for order in permutations(range(len(steps))))
        order = interleave(steps)
        assert (order is not None) == expected, threads
        assert order is None or is_one(steps, order), threads
        found.add(expected)
    assert found == {True, False}


def test_one_step_can_be_kept_for_the_end() -> None:
    steps = execution(["Wx"], ["Rx"])
    assert interleave(steps) == [1, 0]
    assert interleave(steps, last=0) == [1, 0]
    assert interleave(steps, last=1) is None


def buffered(fail: bool = True) -> Program:
    """Store buffering; main fails if neither thread sees the other."""
    p = ProgramBuilder()
    x, y, a, b = (p.variable(name) for name in "xyab")
    for name, mine, other, result in (("one", x, y, a), ("two", y, x, b)):
        with p.function(name) as f:
            f.store(mine, 1, ordering="relaxed")
            f.store(result, f.load(other, ordering="relaxed"))
    with p.function("main") as f:
        for handle in [f.spawn("one"), f.spawn("two")]:
            f.join(handle)
        if fail:
            f.check(f.or_(f.ne(f.load(a), 0), f.ne(f.load(b), 0)), "somebody sees the other")
    return p.build()


def test_a_weak_execution_says_so() -> None:
    program = buffered()
    result = mazurka.check(program)
    assert result.bug is not None and result.trace is not None and result.schedule is not None
    assert not result.schedule.is_interleaving and result.schedule.memory == "c11"
    assert as_interleaving(lower(program), result.schedule) is None
    (told,) = [action for step in result.trace.steps for action in step.actions if action.overwritten]
    assert told.overwritten is not None and told.overwritten.source is None
    (write,) = told.overwritten.unseen
    reading = next(step for step in result.trace.steps if told in step.actions)
    assert told.text.endswith(f"= 0, written at the start; does not see {write.written} of step {write.step}")
    assert result.trace.weak == (
        f"this execution cannot happen under sequential consistency: step {reading.step} reads what step "
        f"{write.step} has overwritten"
    )


def test_what_interleavings_show_is_shown_as_one() -> None:
    """Whatever the search did, nothing is read that others have overwritten where that need not be."""
    p = ProgramBuilder()
    x, seen = p.variable("x"), p.variable("seen")
    with p.function("reader") as f:
        f.store(seen, f.load(x, ordering="relaxed"))
    with p.function("main") as f:
        handle = f.spawn("reader")
        f.store(x, 1, ordering="relaxed")
        f.join(handle)
        f.check(f.ne(f.load(seen), 0), "the reader is late")
    program = p.build()
    for memory in ("tso", "pso", "ra", "c11"):
        result = mazurka.check(program, memory=memory)
        assert result.bug is not None and result.trace is not None and result.schedule is not None
        assert result.schedule.is_interleaving and result.trace.weak is None, memory


LOST = """
#include <pthread.h>
#include <stdatomic.h>
atomic_int told, there;
void *one(void *unused) {
    if (atomic_load_explicit(&there, memory_order_relaxed))
        atomic_store_explicit(&told, 1, memory_order_relaxed);
    return unused;
}
void *two(void *unused) {
    atomic_store_explicit(&told, 2, memory_order_relaxed);
    atomic_store_explicit(&there, 1, memory_order_relaxed);
    while (atomic_load_explicit(&told, memory_order_relaxed) == 2)
        ;
    return unused;
}
""" + main_of_two()


def test_memory_at_the_end_can_be_what_an_earlier_step_wrote(tmp_path: Path) -> None:
    """One has seen that two was there, but its message may still come before what two wrote, and is lost."""
    file = tmp_path / "lost.c"
    file.write_text(LOST)
    threads = ("main", "main.1", "main.2")
    program = mazurka.load(file)
    machine = _native.Machine(lower(program).code, thread_names=threads)
    (access,) = machine.step(threads.index("main.2") + 1)
    steps = tuple(map(Step, ("main.2", "main.2", "main.1", "main.1", "main.1", "main")))
    end = (Reading(access.address, 4, 2, 0, 0),)
    schedule = Schedule(threads, steps, transforms=Transformations(memory="weak"), memory="c11", end=end)
    result = mazurka.replay(file, Schedule.from_json(schedule.to_json()))
    assert result.bug is not None and result.bug.kind == "livelock" and "told (now 2)" in result.bug.message
    assert result.trace is not None
    told = [action.text for step in result.trace.steps for action in step.actions]
    assert "writes told = 1, which step 1 overwrites" in told
    assert (
        result.trace.weak
        == "this execution cannot happen under sequential consistency: step 1 overwrites what step 4 writes"
    )
    assert as_interleaving(lower(program), schedule) is None
    # Without what it says of the end, two goes on.
    assert mazurka.replay(file, replace(schedule, end=())).bug is None


def test_what_is_not_there_at_the_end() -> None:
    schedule = Schedule(("main",), (), end=(Reading(12345, 4, 2, 0, -1),))
    with pytest.raises(mazurka.InputError, match="memory is not there in which it ends"):
        mazurka.replay(buffered(), schedule)


def test_very_long_executions_are_not_looked_at() -> None:
    program = buffered()
    result = mazurka.check(program)
    assert result.schedule is not None
    steps = result.schedule.steps + (Step("main"),) * MOST_STEPS
    with pytest.raises(Unknown):
        as_interleaving(lower(program), Schedule(result.schedule.threads, steps))
