"""All states that a model can reach, one by one, and everything that its threads can do in each.

That is for questions whose answer has to be exact, where an abstract node that stands for more states than are reached
would not do. Nothing is left out but what makes no difference:

- Values that nobody will look at. A variable *matters* at a location of a thread if the thread may use its value from
  there on, before it writes it: in a condition, or to compute the value of a variable that matters after that (to the
  thread itself, or anywhere to another one). In a state those variables have values that matter at one of its
  locations. Two executions that differ in the others only can do the same, and go on differing in the others only.
- Inputs with which a transition leads to the same state. If there are many inputs, the solver is asked for one that
  leads to yet another state, until there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from mazurka.engines.abstract.memory import address_of
from mazurka.engines.abstract.model import Location, Model, Transition, Variable
from mazurka.engines.abstract.solver import Solver
from mazurka.engines.abstract.terms import (
    INDEX_WIDTH,
    Term,
    compare,
    conjunction,
    constant,
    evaluate,
    evaluate_array,
    negation,
    select,
    substitute,
)
from mazurka.engines.abstract.tree import constant_of

Value = int | tuple[int, ...]

_MOST_STATES = 20_000
_MOST_OUTCOMES = 64  # states to which one transition can lead from one state
_FEW_INPUTS = 64  # so many are tried without asking the solver


class OutOfReach(Exception):
    """There are too many states, or the model does not tell what happens in one."""


class State(NamedTuple):
    """`values` are those of the variables that matter at the locations, in the order of `States.variables`."""

    locations: tuple[Location, ...]
    values: tuple[Value, ...]

    @property
    def ended(self) -> bool:
        rests = [location.rest for location in self.locations]
        return "exit" in rests or None not in rests


class States:
    """`states` are all that are reached, the initial one first. `moves` are, for each of them and each thread that can
    run there, its transitions with the numbers of the states to which they can lead; None if it can fail. `stuck` are
    those in which threads wait for each other in a circle, or nobody can run although the program has not ended."""

    def __init__(self, model: Model, solver: Solver, is_stopped: Callable[[], bool]) -> None:
        self.model = model
        self._solver = solver
        self._matter = _Matter(model)
        self._variables: dict[tuple[Location, ...], tuple[Variable, ...]] = {}
        self._outcomes: dict[tuple[object, ...], list[tuple[Value, ...]]] = {}
        first = model.initial_locations
        self.states = [State(first, tuple(_initial(each) for each in self.variables(first)))]
        self.moves: list[dict[int, list[tuple[Transition, tuple[int, ...]]] | None]] = []
        self.stuck: set[int] = set()
        self._numbers = {self.states[0]: 0}
        while len(self.moves) < len(self.states):
            if len(self.states) > _MOST_STATES or is_stopped():
                raise OutOfReach(f"there are more than {_MOST_STATES} states")
            self._visit(len(self.moves))

    def variables(self, locations: tuple[Location, ...]) -> tuple[Variable, ...]:
        """The variables that matter there."""
        found = self._variables.get(locations)
        if found is None:
            matter = {term for location in locations for term in self._matter.at[location]}
            found = tuple(each for each in self.model.variables.values() if each.term in matter)
            self._variables[locations] = found
        return found

    def _visit(self, number: int) -> None:
        state = self.states[number]
        values = {each.term: value for each, value in zip(self.variables(state.locations), state.values, strict=True)}
        moves: dict[int, list[tuple[Transition, tuple[int, ...]]] | None] = {}
        waits: dict[int, int] = {}  # for which thread each of those that wait does
        for location in () if state.ended else state.locations:
            if location.rest is not None:
                continue
            if evaluate(location.enabled, values):
                moves[location.thread] = self._moves(state, location, values)
            elif location.waits == "await" and location.holder is not None:
                holder = evaluate(location.holder, values)
                for other in range(len(state.locations)):
                    if address_of(other + 1, 0) == holder:
                        waits[location.thread] = other
        self.moves.append(moves)
        if _has_circle(waits) or not (moves or state.ended):
            self.stuck.add(number)

    def _moves(
        self, state: State, location: Location, values: dict[Term, Value]
    ) -> list[tuple[Transition, tuple[int, ...]]] | None:
        found: list[tuple[Transition, tuple[int, ...]]] = []
        can_fail = False
        for transition in location.transitions:
            locations = list(state.locations)
            locations[transition.thread] = transition.target
            for started in transition.starts:
                locations[started] = self.model.threads[started].entry
            after = tuple(locations)
            assigned = [each for each in self.variables(after) if each in transition.assigns]
            targets: dict[int, None] = {}
            for outcome in self._outcomes_of(transition, assigned, values):
                if transition.failure is not None:
                    if transition.failure.kind == "beyond":
                        raise OutOfReach(f"{transition.failure.location}: {transition.failure.message}")
                    can_fail = True
                    break
                new = values | {each.term: value for each, value in zip(assigned, outcome, strict=True)}
                targets[self._number(State(after, tuple(new[each.term] for each in self.variables(after))))] = None
            if targets:
                found.append((transition, tuple(targets)))
        if not found and not can_fail:
            raise OutOfReach("a thread has no way to go on")
        return None if can_fail else found

    def _number(self, state: State) -> int:
        number = self._numbers.setdefault(state, len(self.states))
        if number == len(self.states):
            self.states.append(state)
        return number

    # ------------------------------------------------------------------------------------------- outcomes

    def _outcomes_of(
        self, transition: Transition, assigned: list[Variable], values: dict[Term, Value]
    ) -> list[tuple[Value, ...]]:
        """What the values of the assigned variables can be after a transition; nothing if it cannot be taken."""
        terms = [transition.assigns[each] for each in assigned]
        counts = [each.count for each in transition.inputs]
        used = {part for term in (transition.condition, *counts, *terms) for part in term.variables if part in values}
        known = {part: values[part] for part in sorted(used, key=lambda part: part.name)}
        key = (transition, *assigned, *known.values())
        if key not in self._outcomes:
            self._outcomes[key] = list(dict.fromkeys(self._each_outcome(transition, terms, known)))
        return self._outcomes[key]

    def _each_outcome(
        self, transition: Transition, terms: list[Term], known: dict[Term, Value]
    ) -> Iterator[tuple[Value, ...]]:
        few = _few_inputs(transition, known)
        if few is not None:
            for inputs in few:
                now = {**known, **inputs}
                if evaluate(transition.condition, now):
                    yield tuple(_meaning(term, now) for term in terms)
            return
        # One after the other, each with a new value of at least one of the terms.
        state = {part: constant_of(part, value) for part, value in known.items()}
        ranges = [compare("ult", each.term, each.count) for each in transition.inputs]
        facts = [substitute(fact, state) for fact in (transition.condition, *ranges)]
        wanted = [each.term for each in transition.inputs]
        for _ in range(_MOST_OUTCOMES):
            found = self._solver.values(facts, wanted)
            if found is None:
                return
            now = {**known, **dict(zip(wanted, found, strict=True))}
            outcome = tuple(_meaning(term, now) for term in terms)
            yield outcome
            facts.append(negation(conjunction(_are(terms, outcome, state))))
        raise OutOfReach("an input can lead to too many states")


class _Matter:
    """`at`: the terms of the variables that matter at each location. That is the least fixpoint of the definition; a
    thread that does not exist yet will use what matters at its entry."""

    def __init__(self, model: Model) -> None:
        known = {each.term for each in model.variables.values()}
        self.at: dict[Location, set[Term]] = {
            location: set() for thread in model.threads for location in thread.locations
        }
        changed = True
        while changed:
            changed = False
            anywhere = [set().union(*(self.at[each] for each in thread.locations)) for thread in model.threads]
            for thread in model.threads:
                others = set().union(*(each for number, each in enumerate(anywhere) if number != thread.number))
                for location in thread.locations:
                    found = {*location.enabled.variables, *(location.holder.variables if location.holder else ())}
                    if location.rest == "unborn":
                        found |= self.at[thread.entry]
                    for transition in location.transitions:
                        after = self.at[transition.target]
                        assigned = {each.term: value for each, value in transition.assigns.items()}
                        used = [value for term, value in assigned.items() if term in after or term in others]
                        for term in (transition.condition, *(each.count for each in transition.inputs), *used):
                            found |= term.variables
                        found |= after - assigned.keys()
                    found &= known
                    if not found <= self.at[location]:
                        self.at[location] |= found
                        changed = True


def _initial(variable: Variable) -> Value:
    if variable.initial is None:  # then it is never used
        return 0 if variable.term.length is None else (0,) * variable.term.length
    return variable.initial


def _few_inputs(transition: Transition, known: dict[Term, Value]) -> list[dict[Term, Value]] | None:
    """All values of the inputs, unless there are many."""
    found: list[dict[Term, Value]] = [{}]
    for each in transition.inputs:
        counts = [(before, evaluate(each.count, {**known, **before})) for before in found]
        if sum(count for _, count in counts) > _FEW_INPUTS:
            return None
        found = [{**before, each.term: value} for before, count in counts for value in range(count)]
    return found


def _meaning(term: Term, values: dict[Term, Value]) -> Value:
    return evaluate(term, values) if term.length is None else tuple(evaluate_array(term, values))


def _are(terms: Sequence[Term], outcome: Sequence[Value], state: dict[Term, Term]) -> list[Term]:
    """That the terms, in a state, have these values."""
    return [
        compare("eq", part, constant(element, part.width))
        for term, value in zip(terms, outcome, strict=True)
        for part, element in cells(substitute(term, state), value)
    ]


def cells(term: Term, value: Value) -> list[tuple[Term, int]]:
    """A term with its value; of an array, each element with its."""
    if isinstance(value, int):
        return [(term, value)]
    return [(select(term, constant(index, INDEX_WIDTH)), each) for index, each in enumerate(value)]


def _has_circle(waits: dict[int, int]) -> bool:
    for start in waits:
        thread: int | None = waits[start]
        for _ in waits:
            if thread is None or thread == start:
                break
            thread = waits.get(thread)
        if thread == start:
            return True
    return False
