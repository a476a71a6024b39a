"""Iterative IMPACT against what going through all states of small models tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, product
from threading import Timer

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mazurka.constrained.checker import check, check_proof
from mazurka.constrained.impact.iterative import FinalVerdict, IterativeImpact
from mazurka.constrained.model import Model
from mazurka.constrained.model.solver import Integers, Solver
from mazurka.constrained.model.terms import (
    BINARY,
    COMPARISONS,
    TRUE,
    Term,
    binary,
    compare,
    conjunction,
    constant,
    convert,
    disjunction,
    evaluate,
    ite,
    negation,
    select,
    store,
    variable,
)
from mazurka.constrained.plan import program_schedule
from mazurka.constrained.proof import Counterexample, Proof
from mazurka.machine.layout import address_of
from tests.oracle.model_states import States, random_model
from tests.support.abstract_models import Builder, equal, less


def run_path(model: Model, example: Counterexample) -> None:
    """A counterexample's path can be taken, and ends where it says."""
    values = {each.term: each.initial for each in model.variables.values() if isinstance(each.initial, int)}
    locations = list(model.initial_locations)
    for transition, inputs in zip(example.path, example.inputs, strict=True):
        assert locations[transition.thread] is transition.source
        now = {**values, **{each.term: value for each, value in zip(transition.inputs, inputs, strict=True)}}
        assert evaluate(transition.condition, now)
        assert all(value < each.count.value for each, value in zip(transition.inputs, inputs, strict=True))
        values.update({target.term: evaluate(value, now) for target, value in transition.assigns.items()})
        locations[transition.thread] = transition.target
        for started in transition.starts:
            locations[started] = model.threads[started].entry
    if example.kind == "deadlock":
        assert not any(each.rest is None and evaluate(each.enabled, values) for each in locations)
    else:
        assert example.path[-1].failure is not None and example.path[-1].failure.kind == example.kind


# ------------------------------------------------------------------------------------------------------ properties


def check_complete_verification(seeds: range, most_states: int) -> None:
    for seed in seeds:
        model = random_model(seed, inputs=seed % 2 == 1)
        states = States(model)
        if len(states.successors) > most_states:
            continue
        found: set[str] = set()
        generator = IterativeImpact(model).complete()
        try:
            while not states.kinds or found != states.kinds:
                example = next(generator)
                run_path(model, example)
                found.add(example.kind)
        except StopIteration as end:
            assert end.value == "safe", seed
        assert found == states.kinds, seed


def check_incomplete_results(seeds: range, most_states: int) -> None:
    for seed in seeds:
        inputs = seed % 2 == 1
        model = random_model(seed, inputs=inputs)
        states = States(model)
        if len(states.successors) > most_states:
            continue
        proofs = []
        search = IterativeImpact(model)
        limit = Timer(1, search.stop)  # (with inputs, there need not be a strategy, and the search need not end then)
        if inputs:
            limit.start()
        for result in islice(search.iterate(), 4):
            if isinstance(result, Proof):
                proofs.append(result)
                assert check(model, program_schedule(result)) == [], seed
            else:
                assert result.kind in states.kinds
                run_path(model, result)
        limit.cancel()
        if proofs:
            assert states.has_safe_strategy(), seed
        if not inputs:
            assert search.has_schedule() == states.has_fair_execution(), seed


def test_complete_verification_finds_what_there_is() -> None:
    check_complete_verification(range(80), 25)


def test_incomplete_results_are_safe_and_found_if_there_are_any() -> None:
    check_incomplete_results(range(28), 25)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_complete_verification_of_many_models(chunk: int) -> None:
    check_complete_verification(range(chunk * 40, chunk * 40 + 40), 150)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_incomplete_results_of_many_models(chunk: int) -> None:
    check_incomplete_results(range(chunk * 30, chunk * 30 + 30), 150)


# --------------------------------------------------------------------------------------------------- certain models


def producer_consumer(producers: int, consumers: int, size: int, *, checks: bool = True) -> Model:
    """A buffer of so many items behind a mutex; without `checks`, consumers do not look whether there is one."""
    builder = Builder()
    mutex = builder.variable("mutex", explicit=True)
    count = builder.variable("count")
    is_free = equal(mutex.term, constant(0, 32))
    for number in range(producers + consumers):
        produces = number < producers
        thread = builder.thread("producer" if produces else "consumer")
        possible = less(count.term, constant(size, 32)) if produces else less(constant(0, 32), count.term)
        change = binary("add", count.term, constant(1 if produces else -1, 32))
        builder.step(thread, 1, 2, is_free, {mutex: constant(thread, 32)})
        if produces or checks:
            builder.step(thread, 2, 3, possible, touches=[count])
            builder.step(thread, 2, 5, negation(possible), touches=[count])
        else:
            builder.step(thread, 2, 3, touches=[count])
        builder.step(thread, 3, 4, possible, touches=[count])
        builder.step(thread, 3, 6, negation(possible), failure="assertion", touches=[count])
        builder.step(thread, 4, 5, assigns={count: change})
        builder.step(thread, 5, 1, assigns={mutex: constant(0, 32)})
    return builder.finish()


def permits(proof: Proof, other: Proof) -> bool:
    """Whether a proof permits all that another one does."""
    reached = {(0, 0)}
    waiting = list(reached)
    while waiting:
        mine, yours = (each.nodes[number] for each, number in zip((proof, other), waiting.pop(), strict=True))
        mine = mine if mine.covered_by is None else proof.nodes[mine.covered_by]
        yours = yours if yours.covered_by is None else other.nodes[yours.covered_by]
        if not set(mine.threads) >= set(yours.threads):
            return False
        targets = {edge.transition: edge.target for edge in mine.edges}
        for edge in yours.edges:
            if edge.transition in targets:  # (the other proof may not know that it is impossible)
                pair = targets[edge.transition], edge.target
                if pair not in reached:
                    reached.add(pair)
                    waiting.append(pair)
    return True


def verdict_of(search: IterativeImpact) -> tuple[FinalVerdict | None, list[Counterexample]]:
    found = []
    generator = search.complete()
    while True:
        try:
            found.append(next(generator))
        except StopIteration as end:
            return end.value, found


@pytest.mark.parametrize("integers", ["bits", "mathematical"])
@pytest.mark.parametrize(("producers", "consumers", "size"), [(1, 1, 5), (2, 1, 1000), (1, 2, 3), (4, 4, 1000)])
def test_producers_and_consumers(producers: int, consumers: int, size: int, integers: Integers) -> None:
    model = producer_consumer(producers, consumers, size)
    search = IterativeImpact(model, integers=integers)
    last: Proof | None = None
    for result in islice(search.iterate(), 4):
        assert isinstance(result, Proof)
        assert check(model, program_schedule(result)) == []
        assert last is None or (permits(result, last) and not permits(last, result))
        last = result
    assert verdict_of(search) == ("safe", [])


def lock_rounds(threads: int) -> Model:
    """Threads that lock, write and unlock, for ever."""
    builder = Builder()
    mutex = builder.variable("mutex", explicit=True)
    x = builder.variable("x")
    is_free = equal(mutex.term, constant(0, 32))
    for _ in range(threads):
        thread = builder.thread("goes round")
        builder.step(thread, 1, 2, is_free, {mutex: constant(thread, 32)})
        builder.step(thread, 2, 3, assigns={x: binary("add", x.term, constant(1, 32))})
        builder.step(thread, 3, 1, assigns={mutex: constant(0, 32)})
    return builder.finish()


def goes_round_alone(proof: Proof, thread: int) -> bool:
    """Whether some cycle has no steps but those of one thread."""
    for start in range(len(proof.nodes)):
        current, met = start, set()
        while current not in met:
            met.add(current)
            own = [edge for edge in proof.nodes[current].edges if edge.transition.thread == thread]
            if own:
                current = proof.uncovered(own[0].target)
                if current == start:
                    return True
    return False


@pytest.mark.parametrize(("threads", "most_nodes"), [(2, 15), (3, 30), (4, 60)])
def test_the_second_schedule_lets_each_thread_go_round_again(threads: int, most_nodes: int) -> None:
    model = lock_rounds(threads)
    first, second = islice(IterativeImpact(model).iterate(), 2)
    assert isinstance(first, Proof) and isinstance(second, Proof)
    assert check(model, program_schedule(second)) == []
    assert len(second.nodes) <= most_nodes
    for thread in range(1, threads + 1):
        assert not goes_round_alone(first, thread) and goes_round_alone(second, thread)
    assert any(len(node.threads) == threads for node in second.nodes)


def test_a_proof_without_one_of_its_offers_is_refused() -> None:
    """Where a cycle is fair to a thread only because it may run there, the checker notices when it may not."""
    model = lock_rounds(2)
    _, proof, *_ = (result for result in islice(IterativeImpact(model).iterate(), 2) if isinstance(result, Proof))
    refused = 0
    for node in proof.nodes:
        for thread in node.threads if len(node.threads) > 1 else ():
            edges = tuple(edge for edge in node.edges if edge.transition.thread != thread)
            nodes = (*proof.nodes[: node.number], replace(node, edges=edges), *proof.nodes[node.number + 1 :])
            refused += any("passed over for ever" in each for each in check_proof(model, replace(proof, nodes=nodes)))
    assert refused == 2


def test_a_program_that_is_safe_under_some_schedules() -> None:
    search = IterativeImpact(producer_consumer(1, 1, 3, checks=False))
    verdict, found = verdict_of(search)
    assert verdict == "partially safe"
    assert [example.kind for example in found] == ["assertion"]
    assert search.proof is not None
    assert check(search.model, program_schedule(search.proof)) == []


def test_a_program_that_is_safe_under_no_schedule() -> None:
    builder = Builder()
    x = builder.variable("x")
    for _ in range(2):
        thread = builder.thread("adds")
        builder.step(thread, 1, 2, assigns={x: binary("add", x.term, constant(1, 32))})
        builder.step(thread, 2, 3, less(x.term, constant(2, 32)), rest="end", touches=[x])
        builder.step(thread, 2, 4, negation(less(x.term, constant(2, 32))), failure="assertion", touches=[x])
    search = IterativeImpact(builder.finish())
    assert [result for result in search.iterate() if isinstance(result, Proof)] == []
    assert verdict_of(search)[0] == "unsafe"
    assert list(search.iterate()) == []  # it has ended


def test_what_a_thread_computes_on_its_own_belongs_to_its_step() -> None:
    builder = Builder()
    x, y, seen = builder.variable("x"), builder.variable("y"), builder.variable("seen")
    reader, writer = builder.thread("reader"), builder.thread("writer")
    builder.step(reader, 1, 2, assigns={seen: x.term}, touches=[x])
    is_wrong = binary("and", equal(seen.term, constant(1, 32)), equal(y.term, constant(0, 32)))
    builder.step(reader, 2, 3, negation(is_wrong), rest="end", touches=[y])
    builder.step(reader, 2, 4, is_wrong, failure="assertion", touches=[y])
    builder.step(writer, 1, 2, assigns={x: constant(1, 32)})
    builder.step(writer, 2, 3, silent=True)
    builder.step(writer, 3, 4, assigns={y: constant(1, 32)}, rest="end")
    verdict, found = verdict_of(IterativeImpact(builder.finish()))
    assert verdict == "partially safe"
    assert [step.thread for step in found[0].schedule.steps] == ["main", "main.2", "main.1", "main.1"]


def test_threads_that_wait_for_each_other_are_in_a_deadlock_while_others_go_on() -> None:
    builder = Builder()
    first, second = (builder.variable(name, width=64, explicit=True) for name in ("first", "second"))
    free = constant(0, 64)
    for mine, other in ((first, second), (second, first)):
        thread = builder.thread("takes both")
        me = constant(address_of(thread + 1, 0), 64)
        builder.step(thread, 1, 2, equal(mine.term, free), {mine: me})
        builder.step(thread, 2, 3, equal(other.term, free), {other: me})
        builder.step(thread, 3, 1, assigns={first: free, second: free})
        builder.place(thread, 1).holder = mine.term
        builder.place(thread, 2).holder = other.term
    spinning = builder.thread("goes on")
    builder.step(spinning, 1, 1)
    search = IterativeImpact(builder.finish())
    verdict, found = verdict_of(search)
    assert (verdict, {example.kind for example in found}) == ("partially safe", {"deadlock"})
    assert search.proof is not None
    assert check(search.model, program_schedule(search.proof)) == []


def test_a_search_can_be_stopped() -> None:
    search = IterativeImpact(producer_consumer(2, 2, 1000))
    assert isinstance(next(iter(search.iterate())), Proof)
    search.stop()
    assert list(search.iterate()) == []
    assert verdict_of(search)[0] is None


# ----------------------------------------------------------------------------------------------------- the solver


@st.composite
def small_terms(draw: st.DrawFn, width: int, depth: int = 3) -> Term:
    """Terms over two numbers of two bits, and an array of them."""
    if depth == 0:
        if width == 1:
            return draw(st.sampled_from((TRUE, negation(TRUE))))
        return draw(st.sampled_from((variable("a", 2), variable("b", 2), constant(1, 2), constant(2, 2))))
    less_deep = small_terms(2, depth - 1)
    if width == 1:
        kind = draw(st.sampled_from((*COMPARISONS, "and", "or", "xor")))
        if kind in COMPARISONS:
            return compare(kind, draw(less_deep), draw(less_deep))
        return binary(kind, draw(small_terms(1, depth - 1)), draw(small_terms(1, depth - 1)))
    kind = draw(st.sampled_from((*BINARY, "ite", "extend", "select", "leaf")))
    if kind == "leaf":
        return draw(small_terms(2, 0))
    if kind == "ite":
        return ite(draw(small_terms(1, depth - 1)), draw(less_deep), draw(less_deep))
    if kind == "extend":
        return convert("trunc", convert(draw(st.sampled_from(("zext", "sext"))), draw(less_deep), 5), 2)
    if kind == "select":
        index, other = (convert("zext", draw(less_deep), 64) for _ in range(2))
        return select(store(variable("c", 2, 4), index, draw(less_deep)), other)
    return binary(kind, draw(less_deep), draw(less_deep))


@settings(max_examples=60, deadline=None)
@given(small_terms(1), small_terms(1))
def test_the_solver_knows_what_terms_mean(premise: Term, conclusion: Term) -> None:
    values: list[dict[Term, int | Sequence[int]]] = [
        {variable("a", 2): a, variable("b", 2): b, variable("c", 2, 4): c}
        for a, b in product(range(4), repeat=2)
        for c in ((0, 1, 2, 3), (3, 3, 0, 1))
    ]
    array = variable("c", 2, 4)
    is_one = [
        conjunction([equal(select(array, constant(i, 64)), constant(value, 2)) for i, value in enumerate(elements)])
        for elements in ((0, 1, 2, 3), (3, 3, 0, 1))
    ]
    domain = disjunction(is_one)
    solver = Solver()
    assert solver.satisfiable([premise, domain]) == any(evaluate(premise, each) for each in values)
    expected = all(evaluate(conclusion, each) for each in values if evaluate(premise, each))
    assert (not solver.satisfiable([premise, domain, negation(conclusion)])) == expected
    if solver.implies([premise, domain], conclusion):
        assert expected
