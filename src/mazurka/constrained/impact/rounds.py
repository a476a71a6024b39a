"""Executions of a path on which the rounds of local loops were left out: what happens in them is found by doing it."""

from __future__ import annotations

from collections.abc import Container, Sequence

from mazurka.constrained.model import LocalLoop, Location, Model, Transition, Values
from mazurka.constrained.model.terms import Term, evaluate

_MOST_ROUNDS = 150_000

# A transition, and the values of its inputs.
Taken = tuple[Transition, tuple[int, ...]]


class TooManyRounds(Exception):
    """A loop goes round so often that it takes too long to do that."""


def with_rounds(
    model: Model, path: Sequence[Taken], condition: Term, unrolled: Container[LocalLoop]
) -> list[Taken] | None:
    """The path with all rounds of local loops, but for those that were `unrolled` on it already, if there is an
    execution that takes it with these inputs, and the condition holds at its end."""
    state = model.initial_values
    run: list[Taken] = []
    at: dict[int, Location] = {}  # where the threads are that are in loops
    for transition, inputs in path:
        loop = transition.source.loop
        if loop is not None and transition.source.ends and loop not in unrolled:
            location = at.setdefault(transition.thread, transition.source)
            if transition in loop.transitions:
                continue
            while location is not transition.source or not _is_taken(transition, inputs, state):
                step = next((each for each in location.transitions if _goes_round(each, loop, state)), None)
                if step is None:
                    return None
                if len(run) > len(path) + _MOST_ROUNDS:
                    raise TooManyRounds
                state = step.after(state, {})
                run.append((step, ()))
                location = step.target
            del at[transition.thread]
        if not _is_taken(transition, inputs, state):
            return None
        state = transition.after(state, _named(transition, inputs))
        run.append((transition, inputs))
    return run if evaluate(condition, state) else None


def _goes_round(transition: Transition, loop: LocalLoop, state: Values) -> bool:
    return transition in loop.transitions and not transition.inputs and _is_taken(transition, (), state)


def _is_taken(transition: Transition, inputs: tuple[int, ...], state: Values) -> bool:
    chosen = _named(transition, inputs)
    before = {**state, **chosen}
    in_range = all(chosen[each.term] < evaluate(each.count, before) for each in transition.inputs)
    return in_range and bool(evaluate(transition.condition, before))


def _named(transition: Transition, inputs: tuple[int, ...]) -> dict[Term, int]:
    return {each.term: value for each, value in zip(transition.inputs, inputs, strict=True)}
