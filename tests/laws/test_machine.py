"""Laws of the machine, on random programs and random walks through them; and its faults, one by one."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mazurka import _native
from mazurka.machine.lowering import lower
from mazurka.program.builder import FunctionBuilder, ProgramBuilder
from mazurka.program.types import I8, I32, I64, PTR
from tests.oracle.generator import Shape, build, shapes
from tests.oracle.oracle import Event, Oracle, Step, dependent

seeds = st.integers(0, 2**32)


def random_step(oracle: Oracle, source: random.Random, past: list[Event]) -> Event | None:
    steps = oracle.enabled()
    return oracle.take(*source.choice(steps), past) if steps else None


@given(shapes(), seeds)
def test_rewind_restores_the_state_exactly(shape: Shape, seed: int) -> None:
    oracle, source = Oracle(build(shape)), random.Random(seed)
    machine = oracle.machine
    points: list[tuple[int, bytes]] = []
    past: list[Event] = []
    for _ in range(30):
        points.append((machine.mark(), machine.state()))
        if source.random() < 0.2 or (event := random_step(oracle, source, past)) is None:
            back = source.randrange(len(points))
            machine.rewind(points[back][0])
            assert machine.state() == points[back][1]
            del points[back:], past[back:]
        else:
            past.append(event)


@given(shapes(), seeds)
def test_looking_ahead_changes_nothing_and_tells_the_truth(shape: Shape, seed: int) -> None:
    oracle, source = Oracle(build(shape)), random.Random(seed)
    machine = oracle.machine
    while steps := oracle.enabled():
        before = machine.state()
        thread, choices = source.choice(steps)
        promised = machine.next(thread, choices)
        assert machine.state() == before
        done = machine.step(thread, choices)
        assert [(a.address, a.size, a.reads, a.writes, a.commuting) for a in promised.accesses] == [
            (a.address, a.size, a.reads, a.writes, a.commuting) for a in done
        ]


@given(shapes(), seeds)
def test_a_schedule_replays_to_the_same_state_and_the_same_operations(shape: Shape, seed: int) -> None:
    lowered = lower(build(shape))
    oracle, source = Oracle(lowered), random.Random(seed)
    schedule: list[tuple[str, tuple[int, ...]]] = []
    past: list[Event] = []
    while steps := oracle.enabled():
        thread, choices = source.choice(steps)
        schedule.append((oracle.machine.thread_name(thread), choices))
        past.append(oracle.take(thread, choices, past))

    def replay() -> tuple[bytes, list[tuple[object, ...]]]:
        machine = _native.Machine(
            lowered.code, record=True, instruction_limit=10_000, thread_names=oracle.machine.thread_names()
        )
        for name, choices in schedule:
            numbers = {machine.thread_name(thread): thread for thread in machine.threads()}
            machine.step(numbers[name], choices)
        operations = machine.operations()
        return machine.state(), [
            (o.kind, o.thread, tuple(o.frames), o.address, o.size, o.read, o.written, o.visible) for o in operations
        ]

    state, operations = replay()
    assert state == oracle.machine.state()
    assert replay() == (state, operations)


@given(shapes(), seeds)
def test_the_order_of_independent_steps_does_not_matter(shape: Shape, seed: int) -> None:
    """And so that of dependent steps is recorded: wherever the order makes a difference, the accesses conflict."""
    oracle, source = Oracle(build(shape)), random.Random(seed)
    machine = oracle.machine
    past: list[Event] = []

    def take_both(first: Step, second: Step) -> tuple[bytes, set[Event]]:
        mark = machine.mark()
        event = oracle.take(*first, past)
        result = {event, oracle.take(*second, [*past, event])}
        state = machine.state()
        machine.rewind(mark)
        return state, result

    while steps := oracle.enabled():
        promised = {step: oracle.promise(*step, past) for step in steps}
        for one, other in combinations(steps, 2):
            if not dependent(promised[one], promised[other]):
                state, events = take_both(one, other)
                assert events == {promised[one], promised[other]}
                assert take_both(other, one) == (state, events)
        past.append(oracle.take(*source.choice(steps), past))


# ------------------------------------------------------------------------------------------------ faults


def failure_of(
    write: Callable[[ProgramBuilder, FunctionBuilder], object], *, uninitialised: bool = True
) -> tuple[str, str] | None:
    """The kind and the fault of a program that one thread runs by itself."""
    builder = ProgramBuilder()
    with builder.function("main") as f:
        write(builder, f)
    machine = _native.Machine(lower(builder.build()).code, uninitialised=uninitialised)
    while machine.status(1) == "ready":
        machine.step(1)
    failure = machine.failure()
    return (failure.kind, failure.fault) if failure else None


def test_reading_through_null() -> None:
    assert failure_of(lambda p, f: f.load(f.offset(p.variable("v", PTR), 0), type=I32)) is None
    assert failure_of(lambda p, f: f.load(f.load(p.variable("v", PTR), type=PTR), type=I32)) == ("memory", "null")


def test_writing_behind_the_end() -> None:
    assert failure_of(lambda p, f: f.store(f.offset(p.variable("v"), 4), 1, type=I8)) == ("memory", "bounds")


def test_writing_before_the_start() -> None:
    assert failure_of(lambda p, f: f.store(f.offset(p.variable("v"), -1), 1, type=I8)) == ("memory", "bounds")


def test_writing_over_the_end() -> None:
    assert failure_of(lambda p, f: f.store(f.offset(p.variable("v"), 2), 1, type=I32)) == ("memory", "bounds")


def test_writing_to_a_constant() -> None:
    assert failure_of(lambda p, f: f.store(p.variable("v", constant=True), 1)) == ("memory", "read_only")


def test_use_after_free() -> None:
    def write(p: ProgramBuilder, f: FunctionBuilder) -> None:
        block = f.malloc(4, I32)
        f.store(block, 1)
        f.free(block)
        f.load(block)

    assert failure_of(write) == ("memory", "freed")


def test_double_free() -> None:
    def write(p: ProgramBuilder, f: FunctionBuilder) -> None:
        block = f.malloc(4, I32)
        f.free(block)
        f.free(block)

    assert failure_of(write) == ("memory", "double_free")


@pytest.mark.parametrize("offset", [0, 1])
def test_freeing_what_was_not_allocated(offset: int) -> None:
    assert failure_of(lambda p, f: f.free(f.offset(p.variable("v"), offset))) == ("memory", "invalid_free")


def test_freeing_the_middle_of_a_block() -> None:
    assert failure_of(lambda p, f: f.free(f.offset(f.malloc(8), 4))) == ("memory", "invalid_free")


def test_freeing_null_is_fine() -> None:
    assert failure_of(lambda p, f: f.free(f.load(p.variable("v", PTR), type=PTR))) is None


def test_a_wild_pointer() -> None:
    assert failure_of(
        lambda p, f: f.load(f.convert("bitcast", f.load(p.variable("v", I64, 2**62)), PTR), type=I32)
    ) == (
        "memory",
        "wild",
    )


def test_branching_on_what_nobody_wrote() -> None:
    def write(p: ProgramBuilder, f: FunctionBuilder) -> None:
        value = f.load(f.malloc(4, I32))
        with f.if_(f.eq(value, 0)):
            f.store(p.variable("v"), 1)

    assert failure_of(write) == ("memory", "undefined_branch")
    assert failure_of(write, uninitialised=False) is None


def test_an_address_that_nobody_wrote() -> None:
    def write(p: ProgramBuilder, f: FunctionBuilder) -> None:
        f.load(f.load(f.malloc(8, PTR)), type=I32)

    assert failure_of(write) == ("memory", "undefined_address")


def test_copying_what_nobody_wrote_is_fine() -> None:
    def write(p: ProgramBuilder, f: FunctionBuilder) -> None:
        f.store(p.variable("v"), f.load(f.malloc(4, I32)))

    assert failure_of(write) is None


def test_bits_that_are_masked_out_may_be_undefined() -> None:
    def write(p: ProgramBuilder, f: FunctionBuilder) -> None:
        block = f.malloc(4, I32)
        word = f.or_(f.and_(f.load(block), 0xFFFFFF00), 5)
        f.store(block, word)
        f.check(f.eq(f.and_(f.load(block), 0xFF), 5))

    assert failure_of(write) is None


def test_division_by_zero() -> None:
    assert failure_of(lambda p, f: f.binary("sdiv", f.load(p.variable("v")), f.load(p.variable("w")))) == (
        "arithmetic",
        "division_by_zero",
    )


def test_the_one_division_that_overflows() -> None:
    assert failure_of(lambda p, f: f.binary("sdiv", f.load(p.variable("v", I32, -(2**31))), -1)) == (
        "arithmetic",
        "division_overflow",
    )


def test_calling_what_is_no_function() -> None:
    assert failure_of(lambda p, f: f.call(p.variable("v"))) == ("memory", "bad_call")


def test_endless_recursion() -> None:
    assert failure_of(lambda p, f: f.call("main")) == ("limit", "stack_overflow")


def test_an_endless_loop() -> None:
    def write(p: ProgramBuilder, f: FunctionBuilder) -> None:
        with f.loop():
            pass

    assert failure_of(write) == ("limit", "too_many_instructions")


def test_misaligned_access() -> None:
    def write(p: ProgramBuilder, f: FunctionBuilder) -> None:
        block = f.malloc(8)
        f.store(f.offset(block, 1), 1, type=I32, align=4)

    assert failure_of(write) == ("memory", "misaligned")


def test_a_local_variable_of_a_function_that_has_returned() -> None:
    builder = ProgramBuilder()
    keep = builder.variable("keep", PTR)
    with builder.function("leaky") as f:
        f.store(keep, f.local("gone", I32, 7))
    with builder.function("main") as f:
        f.call("leaky")
        f.load(f.load(keep), type=I32)
    machine = _native.Machine(lower(builder.build()).code)
    failure = machine.failure()
    assert failure is not None and failure.fault == "returned"
