"""Whether there is a safe schedule at all: the game on all states against one that is solved in another way, and models
for which the answer is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random

import pytest

from mazurka.constrained.checker import check
from mazurka.constrained.extract.extraction import extract
from mazurka.constrained.impact.iterative import IterativeImpact
from mazurka.constrained.model import Input, Model
from mazurka.constrained.model.terms import TRUE, binary, compare, constant, negation, variable
from mazurka.constrained.plan import program_schedule
from mazurka.constrained.proof import Proof
from mazurka.errors import InputError
from mazurka.machine.lowering import lower
from mazurka.program.program import Program
from mazurka.transforms import prepare
from tests.laws.test_abstract_agreement import (
    TRANSFORMS,
    access_program,
    await_program,
    c_program,
    endless_program,
    section_program,
    short_program,
)
from tests.laws.test_abstract_search import verdict_of
from tests.oracle.model_states import States, random_model
from tests.oracle.oracle import TooLarge
from tests.oracle.schedule_game import has_blind_schedule, has_schedule, machine_has_schedule
from tests.support.abstract_models import Builder, equal, number


def expected_answer(states: States) -> bool | None:
    """None: there is a schedule, but only such as depend on values."""
    if not has_schedule(states):
        return False
    return True if has_blind_schedule(states) else None


def small_models(seeds: Iterable[int], most_states: int) -> Iterator[tuple[int, States, IterativeImpact]]:
    """Random models that do not have too many states."""
    for seed in seeds:
        model = random_model(seed, inputs=seed % 2 == 1)
        states = States(model)
        if len(states.successors) <= most_states:
            yield seed, states, IterativeImpact(model)


def check_games(seeds: range, most_states: int) -> Counter[str]:
    totals: Counter[str] = Counter()
    for seed, states, search in small_models(seeds, most_states):
        answer = search.has_schedule()
        assert answer == expected_answer(states), seed
        assert (search.proof is not None) == (answer is True), seed
        if search.proof is not None:
            assert_proved(search)
        totals[str(answer)] += 1
        totals["only fairness is in the way"] += answer is False and states.has_safe_strategy()
        totals["must be avoided"] += answer is True and bool(states.kinds)
    return totals


def check_verdicts(seeds: range, most_states: int) -> Counter[str]:
    totals: Counter[str] = Counter()
    for seed, states, search in small_models(seeds, most_states):
        verdict, found = verdict_of(search)
        assert {example.kind for example in found} == states.kinds, seed
        names = {True: "partially safe", False: "unsafe", None: None}
        assert verdict == (names[expected_answer(states)] if states.kinds else "safe"), seed
        if verdict == "partially safe":
            assert_proved(search)
        totals[str(verdict)] += 1
    return totals


def assert_proved(search: IterativeImpact) -> None:
    assert search.proof is not None
    assert check(search.model, program_schedule(search.proof)) == []


def test_games_are_won_and_lost_as_they_should_be() -> None:
    totals = check_games(range(200), 40)
    assert totals["True"] > 50 and totals["False"] > 50
    assert totals["only fairness is in the way"] > 10 and totals["must be avoided"] > 10


def test_verdicts_are_exact() -> None:
    totals = check_verdicts(range(1000, 1040), 30)
    assert totals["safe"] > 10 and totals["unsafe"] > 10 and totals["partially safe"] > 0


def check_partial_games(seeds: range, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """If only some states and inputs are looked at, nothing is said that is wrong."""
    monkeypatch.setattr("mazurka.constrained.impact.states._FEW_INPUTS", 0)
    monkeypatch.setattr("mazurka.constrained.impact.states._MOST_OUTCOMES", 2)
    monkeypatch.setattr("mazurka.constrained.impact.states._SOME_OUTCOMES", 1)
    totals: Counter[str] = Counter()
    for seed, states, search in small_models(seeds, 60):
        monkeypatch.setattr("mazurka.constrained.impact.states._MOST_STATES", 4 + seed % 9)
        answer = search.has_schedule()
        assert answer is None or answer == expected_answer(states), seed
        totals[str(answer)] += 1
        totals["lost for certain"] += answer is False and len(states.successors) > 4 + seed % 9
    return totals


def test_what_is_lost_although_something_is_left_out_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    totals = check_partial_games(range(200), monkeypatch)
    assert totals["None"] > 50 and totals["lost for certain"] > 2


@pytest.mark.slow
def test_many_partial_games(monkeypatch: pytest.MonkeyPatch) -> None:
    check_partial_games(range(50_000, 53_000), monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(8))
def test_many_games(chunk: int) -> None:
    totals = check_games(range(10_000 + chunk * 500, 10_500 + chunk * 500), 200)
    assert totals["None"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(8))
def test_many_verdicts(chunk: int) -> None:
    check_verdicts(range(20_000 + chunk * 60, 20_060 + chunk * 60), 100)


def compare_with_machine(program: Program, most_states: int) -> str:
    """What the game on the model and one on the states of the virtual machine say of a program."""
    lowered = lower(prepare(program, purity=TRANSFORMS.purity, awaits=TRANSFORMS.awaits))
    try:
        model = extract(program, lowered, TRANSFORMS)
    except InputError:
        return "refused"
    search = IterativeImpact(model)
    answer = search.has_schedule()
    if search.proof is not None:
        assert_proved(search)
    elif answer is None and "depend on values" not in (search.undecided or ""):
        return "out of reach"
    try:
        expected = machine_has_schedule(lowered, [thread.name for thread in model.threads], limit=most_states)
    except TooLarge:
        return "too large"
    assert (answer is not False) == expected, answer
    return str(answer)


def compare_programs(make: Callable[[Random], Program], seeds: range, most_states: int = 300) -> Counter[str]:
    totals: Counter[str] = Counter()
    for seed in seeds:
        try:
            totals[compare_with_machine(make(Random(seed)), most_states)] += 1
        except AssertionError as error:
            raise AssertionError(f"{make.__name__}(random.Random({seed})): {error}") from error
    return totals


@pytest.mark.parametrize("make", [section_program, endless_program])
def test_games_are_those_of_the_machine(make: Callable[[Random], Program]) -> None:
    totals = compare_programs(make, range(40))
    assert totals["True"] > 5 and totals["False"] > 2, totals


def test_games_of_c_programs_are_those_of_the_machine(tmp_path: Path) -> None:
    totals = compare_programs(c_program(tmp_path), range(40))
    assert totals["True"] > 5 and totals["False"] > 2, totals


@pytest.mark.slow
@pytest.mark.parametrize("make", [short_program, access_program, await_program, section_program, endless_program])
def test_many_games_are_those_of_the_machine(make: Callable[[Random], Program]) -> None:
    compare_programs(make, range(1000, 1300), 1000)


@pytest.mark.slow
def test_many_games_of_c_programs_are_those_of_the_machine(tmp_path: Path) -> None:
    compare_programs(c_program(tmp_path), range(1000, 1300), 1000)


# --------------------------------------------------------------------------------------------------- certain models


def explicit_proof(model: Model) -> Proof:
    """What the game finds, without any iterations."""
    search = IterativeImpact(model)
    assert search.has_schedule() is True
    assert_proved(search)
    assert search.proof is not None
    return search.proof


def test_starving_is_no_way_out() -> None:
    """One thread fails as soon as it runs; that the other one goes on for ever does not help."""
    builder = Builder()
    fails, spins = builder.thread("fails"), builder.thread("spins")
    builder.step(fails, 1, 2, failure="assertion")
    builder.step(spins, 1, 1)
    assert verdict_of(IterativeImpact(builder.finish()))[0] == "unsafe"


def test_starving_is_fair_where_a_thread_cannot_run() -> None:
    """The same, if the thread can only run when a gate is open, and the other one need not open it."""
    builder = Builder()
    gate = builder.variable("gate", width=1)
    fails, spins = builder.thread("fails"), builder.thread("spins")
    builder.step(fails, 1, 2, gate.term, failure="assertion", touches=[gate])
    opens = Input(variable("opens", 2), constant(2, 2))
    builder.step(spins, 1, 2)
    builder.step(spins, 2, 1)
    assert verdict_of(IterativeImpact(builder.finish()))[0] == "safe"
    # Nobody but its input decides whether it is opened: then nobody can prevent it.
    builder = Builder()
    gate = builder.variable("gate", width=1)
    fails, spins = builder.thread("fails"), builder.thread("spins")
    builder.step(fails, 1, 2, gate.term, failure="assertion", touches=[gate])
    is_open = equal(opens.term, constant(1, 2))
    builder.step(spins, 1, 1, is_open, {gate: TRUE}, inputs=[opens])
    builder.step(spins, 1, 1, negation(is_open), {}, inputs=[opens])
    assert verdict_of(IterativeImpact(builder.finish()))[0] == "unsafe"


def guessing(*, shows: bool) -> Model:
    """A thread reads 0 or 1; then first one and then the other of two more must run, which depends on what was read.
    shows: whether it takes another way for each value."""
    builder = Builder()
    x, order = builder.variable("x", width=2), builder.variable("order", width=2)
    reads = builder.thread("reads")
    entered = Input(variable("entered", 2), constant(2, 2))
    if shows:
        is_zero = equal(entered.term, constant(0, 2))
        builder.step(reads, 1, 2, is_zero, {x: constant(1, 2)}, inputs=[entered])
        builder.step(reads, 1, 3, negation(is_zero), {x: constant(2, 2)}, inputs=[entered])
        builder.step(reads, 2, 4, rest="end")
        builder.step(reads, 3, 4, rest="end")
    else:
        after = binary("add", entered.term, constant(1, 2))
        builder.step(reads, 1, 4, assigns={x: after}, inputs=[entered], rest="end")
    for mine in (1, 2):
        thread = builder.thread("follows")
        is_right = binary("or", equal(x.term, constant(mine, 2)), negation(equal(order.term, constant(0, 2))))
        builder.step(thread, 1, 2, is_right, {order: constant(1, 2)}, touches=[x], rest="end")
        builder.step(thread, 1, 3, negation(is_right), failure="assertion", touches=[x, order])
    return builder.finish()


def test_a_schedule_may_depend_on_the_way_that_a_thread_takes() -> None:
    assert verdict_of(IterativeImpact(guessing(shows=True)))[0] == "partially safe"
    explicit_proof(guessing(shows=True))


def test_a_schedule_cannot_depend_on_values_that_do_not_show() -> None:
    search = IterativeImpact(guessing(shows=False))
    assert verdict_of(search)[0] is None
    assert search.proof is None
    assert search.undecided is not None and "depend on values" in search.undecided


def wide_input(*, keeps: bool) -> Model:
    """A thread reads any number of 32 bits and ends if it is 7; another one fails if it runs before. keeps: whether it
    also adds the number to what somebody looks at later."""
    builder = Builder()
    done, total = builder.variable("done", width=1), builder.variable("total")
    reads, late = builder.thread("reads"), builder.thread("late")
    entered = Input(variable("entered", 32), constant(0xFFFFFFFF, 32))
    is_seven = equal(entered.term, number(7))
    sums = {total: binary("add", total.term, entered.term)}
    builder.step(reads, 1, 2, is_seven, {done: TRUE, **sums}, inputs=[entered], rest="end")
    builder.step(reads, 1, 3, negation(is_seven), {done: TRUE, **sums}, inputs=[entered])
    builder.step(reads, 3, 2, equal(total.term, total.term) if not keeps else compare("ult", total.term, number(9)))
    if keeps:
        builder.step(reads, 3, 2, negation(compare("ult", total.term, number(9))), touches=[total])
    builder.step(late, 1, 2, done.term, rest="end", touches=[done])
    builder.step(late, 1, 3, negation(done.term), failure="assertion", touches=[done])
    return builder.finish()


def test_inputs_of_a_large_range_are_taken_together() -> None:
    assert len(explicit_proof(wide_input(keeps=False)).nodes) < 10
    search = IterativeImpact(wide_input(keeps=True))
    assert search.has_schedule() is None
    assert search.undecided is not None and "it is not known whether there is a safe schedule" in search.undecided


def kept_input(*, fails: bool) -> Model:
    """A thread reads a number of 32 bits, waits for the other one, and looks at what it has read, or at a copy."""
    builder = Builder()
    seen, copied = builder.variable("seen"), builder.variable("copied", initial=None)
    turn = builder.variable("turn", width=1)
    reads, other = builder.thread("reads"), builder.thread("other")
    entered = Input(variable("entered", 32), constant(0xFFFFFFFF, 32))
    builder.step(reads, 1, 2, assigns={seen: entered.term}, inputs=[entered])
    builder.step(reads, 2, 3, turn.term, {copied: seen.term}, touches=[turn])
    is_small = compare("ult", copied.term, number(1000))
    builder.step(reads, 3, 4, is_small, touches=[copied])
    builder.step(reads, 3, 5, negation(is_small), touches=[copied], rest="end")
    is_seven = equal(seen.term, number(7))
    builder.step(reads, 4, 5, negation(is_seven), rest="end", touches=[seen])
    builder.step(reads, 4, 6, is_seven, failure="assertion" if fails else None, touches=[seen])
    builder.step(other, 1, 2, assigns={turn: TRUE}, rest="end")
    if not fails:
        builder.step(reads, 6, 5, rest="end")
    return builder.finish()


def test_values_that_are_only_compared_are_taken_together() -> None:
    search = IterativeImpact(kept_input(fails=True))
    assert verdict_of(search)[0] == "unsafe"
    assert len(explicit_proof(kept_input(fails=False)).nodes) < 30


def test_inputs_that_have_gone_wrong_are_tried() -> None:
    """Two inputs of 32 bits are kept, and compared with each other: they are too many to try all of them."""
    builder = Builder()
    first, second = builder.variable("first"), builder.variable("second")
    thread = builder.thread("reads")
    entries = [Input(variable(f"entered{each}", 32), constant(0xFFFFFFFF, 32)) for each in range(2)]
    builder.step(thread, 1, 2, assigns={first: entries[0].term}, inputs=[entries[0]])
    builder.step(thread, 2, 3, assigns={second: entries[1].term}, inputs=[entries[1]])
    is_wrong = equal(binary("add", first.term, number(1234)), second.term)
    builder.step(thread, 3, 4, negation(is_wrong), rest="end", touches=[first, second])
    builder.step(thread, 3, 5, is_wrong, failure="assertion", touches=[first, second])
    model = builder.finish()
    assert verdict_of(IterativeImpact(model))[0] == "unsafe"
    assert IterativeImpact(model).has_schedule() is None  # it does not know what has gone wrong


def test_what_nobody_looks_at_makes_no_states() -> None:
    """A counter of 32 bits that goes round for ever, and an assertion that must fail in the end."""
    builder = Builder()
    count, rounds = builder.variable("count"), builder.variable("rounds", width=2)
    thread = builder.thread("counts")
    more = {count: binary("add", count.term, number(1)), rounds: binary("add", rounds.term, constant(1, 2))}
    is_three = equal(rounds.term, constant(3, 2))
    builder.step(thread, 1, 1, negation(is_three), more)
    builder.step(thread, 1, 2, is_three, failure="assertion", touches=[rounds])
    assert verdict_of(IterativeImpact(builder.finish()))[0] == "unsafe"


def test_unsafe_is_not_said_where_there_are_too_many_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """It fails under all schedules, but that takes more states than can be looked at."""
    monkeypatch.setattr("mazurka.constrained.impact.states._MOST_STATES", 500)
    builder = Builder()
    count = builder.variable("count")
    for _ in range(2):
        thread = builder.thread("counts")
        is_many = equal(count.term, number(1000))
        builder.step(thread, 1, 1, negation(is_many), {count: binary("add", count.term, number(1))})
        builder.step(thread, 1, 2, is_many, failure="assertion", touches=[count])
    search = IterativeImpact(builder.finish())
    assert search.has_schedule() is None
    assert search.undecided is not None and "more than 500 states" in search.undecided


def test_a_thread_that_computes_for_ever_is_interrupted() -> None:
    """Nobody notices what it does, but the others have their turns; and the assertion depends on their order."""
    builder = Builder()
    x = builder.variable("x", width=1)
    computes, writes, reads = (builder.thread(name) for name in ("computes", "writes", "reads"))
    builder.step(computes, 1, 1, silent=True)
    builder.step(writes, 1, 2, assigns={x: TRUE}, rest="end")
    builder.step(reads, 1, 2, x.term, rest="end", touches=[x])
    builder.step(reads, 1, 3, negation(x.term), failure="assertion", touches=[x])
    search = IterativeImpact(builder.finish())
    assert verdict_of(search)[0] == "partially safe"
    assert_proved(search)
    proof = explicit_proof(search.model)
    assert {edge.transition.thread for node in proof.nodes for edge in node.edges} == {0, computes, writes, reads}
