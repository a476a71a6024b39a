"""What C leaves open, explored: blocks whose addresses are used again, and leaks, against the oracle and between the
engines, on random programs; arithmetic that is checked, against numbers without limits."""

from __future__ import annotations

import random

import pytest

from mazurka import _native
from mazurka.machine.lowering import Lowered, lower
from mazurka.program.builder import FunctionBuilder, ProgramBuilder
from mazurka.program.types import I32, I64, PTR, Int, signed
from tests.laws.test_exploration import compare_with_oracle

WORDS = ("left", "right")


def heap_program(source: random.Random, *, reuse: bool) -> Lowered:
    """Threads that exchange, free, look at and swap blocks whose addresses are in two global words."""
    p = ProgramBuilder()
    words = [p.variable(name, PTR) for name in WORDS]

    def act(f: FunctionBuilder) -> None:
        word, other = source.choice(words), source.choice(words)
        match source.choice(["publish", "publish", "free", "look", "swap", "move", "drop"]):
            case "publish":
                block = f.malloc(source.choice([8, 8, 8, 16]), I64, zeroed=True, reuse=reuse)
                f.store(block, source.randrange(1, 4), type=I64)
                f.store(word, block, ordering="seq_cst")
            case "free":
                old = f.update("exchange", word, 0)
                f.free(old)
            case "look":
                block = f.load(word, ordering="seq_cst", type=PTR)
                with f.if_(f.ne(block, 0)):
                    f.check(f.ne(f.load(block, type=I64), source.randrange(1, 9)))
            case "swap":
                seen = f.load(word, ordering="seq_cst", type=PTR)
                if source.random() < 0.5:
                    act(f)
                f.compare_exchange(word, seen, f.load(other, ordering="seq_cst", type=PTR))
            case "move":
                f.store(word, f.load(other, ordering="seq_cst", type=PTR), ordering="seq_cst")
            case "drop":
                f.store(word, 0, ordering="seq_cst", type=PTR)

    for name in ("one", "two"):
        with p.function(name) as f:
            for _ in range(source.randrange(1, 4)):
                act(f)
    with p.function("main") as f:
        for _ in range(source.randrange(3)):
            act(f)
        threads = [f.spawn(name) for name in ("one", "two")]
        if source.random() < 0.7:
            for thread in threads:
                f.join(thread)
            act(f)
    return lower(p.build())


@pytest.mark.parametrize("chunk", range(4))
def test_explorers_agree_with_the_oracle_on_addresses_that_are_used_again(chunk: int) -> None:
    told = sum(
        compare_with_oracle(heap_program(random.Random(seed), reuse=True), limit=600)
        for seed in range(40 * chunk, 40 * (chunk + 1))
    )
    assert told > 10


def verdicts(lowered: Lowered, *, leaks: bool) -> dict[str, set[str]]:
    """All faults that each search finds."""
    found: dict[str, set[str]] = {}
    for algorithm in ("exhaustive", "optimal", "pop"):
        exploration = _native.Exploration(lowered.code, algorithm=algorithm, leaks=leaks, max_executions=3000)
        exploration.run()
        if exploration.bug() is None and not exploration.finished():
            return {}
        found[algorithm] = {"bug"} if exploration.bug() else set()
    for reduction in ("cpc", "cycle-detection", "none"):
        search = _native.StateSearch(lowered.code, reduction=reduction, leaks=leaks)
        search.run()
        assert search.finished() or search.bug() is not None
        found[reduction] = {"bug"} if search.bug() else set()
    return found


@pytest.mark.parametrize("reuse", [False, True])
def test_engines_agree_on_leaks_and_on_addresses_that_are_used_again(reuse: bool) -> None:
    told = 0
    for seed in range(250):
        found = verdicts(heap_program(random.Random(seed), reuse=reuse), leaks=True)
        assert len(set(map(frozenset, found.values()))) <= 1, f"{seed}: {found}"
        told += bool(found)
    assert told > 150


NUMBERS = {
    bits: [
        0,
        1,
        2,
        3,
        7,
        (1 << (bits - 1)) - 1,
        1 << (bits - 1),
        (1 << (bits - 1)) + 1,
        (1 << bits) - 1,
        1 << bits // 2,
    ]
    for bits in (8, 16, 32, 64)
}


@pytest.mark.parametrize("bits", NUMBERS)
def test_checked_arithmetic_fails_just_where_the_result_does_not_fit(bits: int) -> None:
    exact = {"add": int.__add__, "sub": int.__sub__, "mul": int.__mul__}
    for op in ("add", "sub", "mul", "shl", "lshr", "ashr"):
        for left in NUMBERS[bits]:
            for right in NUMBERS[bits]:
                p = ProgramBuilder()
                a, b = p.variable("a", Int(bits), left), p.variable("b", Int(bits), right)
                with p.function("main") as f:
                    f.binary(op, f.load(a), f.load(b), checked=True)
                if op in exact:
                    result = exact[op](signed(left, bits), signed(right, bits))
                    fits = -(1 << (bits - 1)) <= result < 1 << (bits - 1)
                    expected = None if fits else "signed_overflow"
                else:
                    expected = None if right < bits else "shift_out_of_range"
                failed = _native.Machine(lower(p.build()).code).failure()
                assert (failed.fault if failed else None) == expected, (op, left, right)


def test_what_nobody_wrote_does_not_overflow() -> None:
    p = ProgramBuilder()
    with p.function("main") as f:
        block = f.malloc(4, I32)
        f.binary("add", f.load(block), (1 << 31) - 1, checked=True)
    assert _native.Machine(lower(p.build()).code).failure() is None
