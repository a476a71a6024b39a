"""What `mazurka fences` proposes is enough, and nothing that costs less is: by axioms, on random litmus tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

import mazurka
from mazurka import Verdict
from mazurka.fencing import Change
from tests.oracle.axioms import Fence, Litmus, Operation
from tests.oracle.litmus import LITMUS_TESTS
from tests.oracle.litmus_generator import random_litmus
from tests.oracle.strengthening import Wrong, random_wrong, simple, to_c, with_other_orders
from tests.support.applying import applied_to_text

KNOWN = [simple(known.litmus) for known in LITMUS_TESTS]


def is_weak(litmus: Litmus) -> bool:
    """Whether an access is weaker than seq_cst: if not, `check` has no graphs to explore, but only interleavings."""
    accesses = [each for thread in litmus.threads for each in thread if not isinstance(each, Fence)]
    orders = {getattr(each, name, "plain") for each in accesses for name in ("order", "failure")}
    return not orders <= {"plain", "seq_cst"}


def wrong_for(seed: int) -> Wrong:
    """A test of the literature with other orders, or a random one."""
    source = Random(seed)
    while True:
        litmus = source.choice(KNOWN) if source.random() < 0.5 else simple(random_litmus(source))
        litmus = with_other_orders(source, litmus)
        if sum(map(len, litmus.threads)) <= 6 and all(litmus.threads) and is_weak(litmus):
            memory = source.choice(["c11", "c11", "c11", "tso", "pso", "ra"])
            wrong = random_wrong(source, litmus, memory)
            if wrong is not None:
                return wrong


def applied(wrong: Wrong, lines: dict[tuple[int, int], int], changes: Sequence[Change]) -> Wrong:
    """The litmus test with the same changes."""
    positions = {line: place for place, line in lines.items()}
    threads: list[list[list[Operation]]] = [[[each] for each in thread] for thread in wrong.litmus.threads]
    for change in changes:
        thread, position = positions[change.line]
        around = threads[thread][position]
        number = next(n for n, each in enumerate(around) if each is wrong.litmus.threads[thread][position])
        operation = around[number]
        if change.before is None:
            around.insert(number if change.where == "before" else number + 1, Fence(change.after))  # type: ignore[arg-type]
            continue
        name = "failure" if change.operation == "failing compare-exchange" else "order"
        fields = {**vars(operation), name: change.after}
        around[number] = type(operation)(**fields)
        replaced = list(wrong.litmus.threads[thread])
        replaced[position] = around[number]
        wrong = Wrong(
            Litmus((*wrong.litmus.threads[:thread], tuple(replaced), *wrong.litmus.threads[thread + 1 :])),
            *(wrong.outcome, wrong.memory, wrong.races),
        )
    return Wrong(
        Litmus(tuple(tuple(each for around in thread for each in around) for thread in threads)),
        *(wrong.outcome, wrong.memory, wrong.races),
    )


def compare(seed: int, tmp_path: Path, most: int) -> str:
    """`most` is how many of the cheaper changes are tried; of more than that, a random choice."""
    wrong = wrong_for(seed)
    plain = any(getattr(each, "order", "") == "plain" for thread in wrong.litmus.threads for each in thread)
    source = to_c(wrong, builtins=plain or seed % 2 == 0)
    file = tmp_path / f"litmus{seed}.c"
    file.write_text(source.text)
    races = "warn" if wrong.races else "ignore"
    found = mazurka.fences(file, memory=wrong.memory, races=races)
    where = f"{seed}: {wrong}"
    assert found.verdict != "incomplete", where
    assert (found.verdict == "verified") == wrong.is_right(), where
    assert (found.verdict == "bug") == (not wrong.strongest.is_right()), where
    if found.verdict != "proposals":
        return found.verdict
    (proposal,) = found.proposals
    fixed = tmp_path / f"fixed{seed}.c"
    fixed.write_text(applied_to_text(source.text, proposal.changes))
    result = mazurka.check(fixed, memory=wrong.memory, races=races)
    assert result.verdict is Verdict.OK and not result.races, where
    assert applied(wrong, source.lines, proposal.changes).is_right(), where
    cheaper = list(wrong.cheaper(proposal.cost))
    if len(cheaper) > most:
        cheaper = Random(seed).sample(cheaper, most)
    for other in cheaper:
        assert not other.is_right(), f"{where}\nis right, too, for less than {proposal.cost}: {other}"
    return found.verdict


def test_nothing_cheaper_is_enough(tmp_path: Path) -> None:
    verdicts = [compare(seed, tmp_path, most=20) for seed in range(12)]
    assert verdicts.count("proposals") >= 10


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(20))
def test_nothing_cheaper_is_enough_of_many(chunk: int, tmp_path: Path) -> None:
    for seed in range(1000 + 100 * chunk, 1000 + 100 * chunk + 100):
        compare(seed, tmp_path, most=3000)


def compare_strength(seed: int) -> None:
    """More is never worse, by the axioms."""
    source, wrong = Random(seed), wrong_for(seed)
    weaker = source.choice(list(wrong.cheaper(7)))
    stronger = source.choice(list(weaker.cheaper(8)))
    assert stronger.is_right() or not weaker.is_right(), f"{weaker}\n{stronger}"


def test_more_is_never_worse() -> None:
    for seed in range(50):
        compare_strength(seed)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_more_is_never_worse_in_many(chunk: int) -> None:
    for seed in range(1000 + 1000 * chunk, 2000 + 1000 * chunk):
        compare_strength(seed)
