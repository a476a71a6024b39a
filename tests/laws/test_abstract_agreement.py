"""The abstract engine against the others: on small programs, all of them come to the same verdict; what it calls wrong
goes wrong in the virtual machine; and every schedule that it proves to be safe passes the checker and is followed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from threading import Timer

import pytest

import mazurka
from mazurka import Verdict
from mazurka.constrained.checker import check
from mazurka.constrained.extract.extraction import extract
from mazurka.constrained.follow import follow
from mazurka.constrained.impact.iterative import FinalVerdict, IterativeImpact
from mazurka.constrained.model import Model
from mazurka.constrained.plan import program_schedule
from mazurka.constrained.proof import Counterexample, Proof
from mazurka.errors import InputError
from mazurka.executions.replaying import replay_schedule
from mazurka.executions.schedule import Transformations
from mazurka.frontends.c import load_c_program
from mazurka.machine.lowering import lower
from mazurka.program.program import Program
from mazurka.result import Result
from mazurka.transforms import prepare
from tests.oracle import generator, state_generator
from tests.programs.test_programs import CORPUS, Expectation
from tests.support.c_threads import random_c_program

TRANSFORMS = Transformations(purity=False)  # as `load_model` has them: loops go round, as for the stateful engine
ITERATIONS = 2
LONG = 60.0  # seconds, which nothing takes in quick tests
SHORT = 1.0  # of the many, what takes longer is not compared
NOT_WRONG = ("livelock", "too_many_instructions", "exit")  # a program may run for ever, and end with any status


def search_all(model: Model, seconds: float) -> tuple[list[Counterexample], list[Proof], FinalVerdict | None]:
    """As the command line does it: some iterations, and then everything. What goes wrong, what is proved to be safe,
    and the verdict; None if that takes too long."""
    search = IterativeImpact(model)
    timer = Timer(seconds, search.stop)
    timer.start()
    results = list(islice(search.iterate(), ITERATIONS))
    found = [result for result in results if isinstance(result, Counterexample)]
    proofs = [result for result in results if isinstance(result, Proof)]
    rest = search.complete()
    try:
        while True:
            found.append(next(rest))
    except StopIteration as end:
        verdict: FinalVerdict | None = end.value
    finally:
        timer.cancel()
    if search.proof is not None and search.proof not in proofs:
        proofs.append(search.proof)
    return found, proofs, verdict


def judgements(program: Program, seconds: float) -> Iterator[Result]:
    """What the other engines say."""
    yield mazurka.check(program, engine="stateless", timeout=seconds, max_steps=500, any_status=True)
    with suppress(InputError):  # it takes no program in which threads wait in loops that do not go round
        yield mazurka.check(program, engine="stateful", timeout=seconds, any_status=True)


def compare(program: Program, seconds: float = LONG) -> str:
    """What all engines say of a program, or why there is nothing to compare."""
    lowered = lower(prepare(program, purity=TRANSFORMS.purity, awaits=TRANSFORMS.awaits))
    try:
        model = extract(program, lowered, TRANSFORMS)
        found, proofs, verdict = search_all(model, seconds)
    except InputError:
        return "refused"
    for proof in proofs:
        check_proof(model, proof)
    if verdict is None:
        return "slow"
    for result in judgements(program, seconds):
        if result.bug is not None and result.bug.kind not in NOT_WRONG:
            assert found and verdict != "safe", f"{verdict}, but: {result.bug.message}"
        elif result.verdict is Verdict.OK:
            assert verdict == "safe", f"{[example.message for example in found]}, but not for another engine"
    for example in [] if computes_for_ever(model) else found:
        bug = replay_schedule(program, lowered, example.schedule, any_status=True).end.bug
        assert bug is not None, f"{example.message} is not what a replay shows"
        # Of several failures in one step, the machine tells the first one.
        assert (bug.kind == "deadlock") == (example.kind == "deadlock"), f"{example.message}, but {bug.message}"
    assert (verdict == "safe") == (not found) and (verdict != "unsafe" or not proofs)
    return verdict


def computes_for_ever(model: Model) -> bool:
    """Whether some thread may go round without an event: the machine, which takes that for one step, gives up."""
    return any(each.silent and each.target is each.source for each in model.transitions if each.condition.is_true)


def check_proof(model: Model, proof: Proof) -> None:
    schedule = program_schedule(proof)
    assert check(model, schedule) == []
    for seed in [] if computes_for_ever(model) else range(3):
        follow(proof, seed=seed, steps=50)
        follow(schedule, seed=seed, steps=50)


def compare_random_programs(
    make: Callable[[random.Random], Program], numbers: range, seconds: float = LONG
) -> Counter[str]:
    totals: Counter[str] = Counter()
    for number in numbers:
        try:
            totals[compare(make(random.Random(number)), seconds)] += 1
        except Exception as error:
            raise AssertionError(f"{make.__name__}(random.Random({number})): {error}") from error
    return totals


def short_program(source: random.Random) -> Program:
    return generator.build(generator.random_shape(source))


def access_program(source: random.Random) -> Program:
    return generator.build(generator.random_access_shape(source))


def await_program(source: random.Random) -> Program:
    return generator.build(generator.random_await_shape(source))


def section_program(source: random.Random) -> Program:
    return generator.build(generator.random_section_shape(source))


def endless_program(source: random.Random) -> Program:
    return state_generator.build(state_generator.random_state_shape(source))


# How many of each kind there are in a quick test, and at least so many of them must be judged as safe or not safe.
GENERATORS: list[tuple[Callable[[random.Random], Program], int, int, int]] = [
    (short_program, 50, 30, 4),
    (access_program, 50, 40, 0),
    (await_program, 10, 5, 0),
    (section_program, 60, 30, 10),
    (endless_program, 30, 5, 5),
]


@pytest.mark.parametrize(("make", "count", "safe", "wrong"), GENERATORS)
def test_engines_agree(make: Callable[[random.Random], Program], count: int, safe: int, wrong: int) -> None:
    totals = compare_random_programs(make, range(count))
    assert totals["safe"] >= safe and totals["unsafe"] + totals["partially safe"] >= wrong, totals


def c_program(folder: Path) -> Callable[[random.Random], Program]:
    def random_program(source: random.Random) -> Program:
        file = folder / "program.c"
        file.write_text(random_c_program(source))
        return load_c_program([file], inputs=True)

    return random_program


def test_engines_agree_on_c_programs(tmp_path: Path) -> None:
    totals = compare_random_programs(c_program(tmp_path), range(11))
    assert totals["safe"] >= 5 and totals["unsafe"] + totals["partially safe"] >= 2, totals


@pytest.mark.slow
@pytest.mark.parametrize("make", [make for make, *_ in GENERATORS])
def test_engines_agree_on_many_programs(make: Callable[[random.Random], Program]) -> None:
    compare_random_programs(make, range(1000, 2000), SHORT)


@pytest.mark.slow
def test_engines_agree_on_many_c_programs(tmp_path: Path) -> None:
    compare_random_programs(c_program(tmp_path), range(1000, 2000), SHORT)


@pytest.mark.slow
@pytest.mark.parametrize("file", CORPUS, ids=lambda path: path.name)
def test_the_corpus_is_judged_right(file: Path) -> None:
    """A program can be refused, but never be called safe if it is not."""
    expected = Expectation.read(file)
    try:
        program = load_c_program(
            [file, *expected.files], compiler_arguments=expected.options, program_arguments=expected.arguments
        )
    except InputError:
        pytest.skip("refused")
    verdict = compare(program, SHORT)
    if verdict in ("refused", "slow"):
        pytest.skip(verdict)
    assert (verdict == "safe") == (expected.kind in (None, *NOT_WRONG))
