"""All states that a model can reach, one by one, and everything that its threads can do in each.

That is for questions whose answer has to be exact, where an abstract node that stands for more states than are reached
would not do. Nothing is left out but what makes no difference:

- Values that nobody will look at. A variable *matters* at a location of a thread if the thread may use its value from
  there on, before it writes it: in a condition, or to compute the value of a variable that matters after that (to the
  thread itself, or anywhere to another one). In a state those variables have values that matter at one of its
  locations. Two executions that differ in the others only can do the same, and go on differing in the others only.
- Values between which nobody distinguishes. If a variable is only ever copied, or compared with constants, it is enough
  to know how these comparisons come out: one value stands for all with which they come out like this (`_Classes`).
- Inputs with which a transition leads to the same state. If there are many inputs, the solver is asked for one that
  leads to yet another state, until there is none.

If there is too much, some states are not followed, or some inputs not tried. What is there is still exact: each state
is reached, and each move is possible in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from mazurka.constrained.impact.tree import constant_of
from mazurka.constrained.model import Location, Model, StateVariable, Transition
from mazurka.constrained.model.solver import Solver
from mazurka.constrained.model.terms import (
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
from mazurka.machine.layout import address_of

# None: any, of a variable that has no value yet.
Value = int | tuple[int, ...] | None
Values = dict[Term, int | tuple[int, ...]]

_MOST_STATES = 50_000
_MOST_OUTCOMES = 64  # states to which one transition can lead from one state; if there are more, only ...
_SOME_OUTCOMES = 4  # ... so many are looked at
_FEW_INPUTS = 64  # so many are tried without asking the solver


# For transitions that have shown in executions that go wrong, the inputs with which they did.
Likely = Mapping[Transition, Sequence[tuple[int, ...]]]


class OutOfReach(Exception):
    """There are too many states, or the model does not tell what happens in one."""


class State(NamedTuple):
    """`values` are those of the variables that matter at the locations, in the order of `StateGraph.variables`."""

    locations: tuple[Location, ...]
    values: tuple[Value, ...]

    @property
    def ended(self) -> bool:
        rests = [location.rest for location in self.locations]
        return "exit" in rests or None not in rests


class StateGraph:
    """`states` are all that are reached, the initial one first, and then those that are reached in fewer steps. `moves`
    are, for each of them and each thread that can run there, its transitions with the numbers of the states to which
    they can lead; None if it can fail. `stuck` are those in which threads wait for each other in a circle, or nobody
    can run although the program has not ended; it has in those that are `over`, because `main` has returned.
    `partial` is why some of that is missing, if it is: all that is known of the `unknown` states is that they are
    reached, and inputs may have been left out, but none of those that are `likely`."""

    def __init__(self, model: Model, solver: Solver, is_stopped: Callable[[], bool], likely: Likely) -> None:
        self.model = model
        self.partial: str | None = None
        self.unknown: set[int] = set()
        self._likely = likely
        self.is_stopped = is_stopped
        self._solver = solver
        self._matter = _Matter(model)
        self._classes = _Classes(model, self._matter)
        self._variables: dict[tuple[Location, ...], tuple[StateVariable, ...]] = {}
        self._outcomes: dict[tuple[object, ...], list[tuple[Value, ...]]] = {}
        first = model.initial_locations
        self.states = [State(first, tuple(self._initial(each) for each in self.variables(first)))]
        self.moves: list[dict[int, list[tuple[Transition, tuple[int, ...]]] | None]] = []
        self.stuck: set[int] = set()
        self.over: set[int] = set()
        self._numbers = {self.states[0]: 0}
        while len(self.moves) < len(self.states):
            if is_stopped():
                raise OutOfReach("it was stopped")
            try:
                if len(self.moves) == _MOST_STATES:
                    raise OutOfReach(f"there are more than {_MOST_STATES} states")
                self._visit(len(self.moves))
            except OutOfReach as problem:
                self.partial = str(problem)
                left = len(self.states) if len(self.moves) == _MOST_STATES else len(self.moves) + 1
                self.unknown.update(range(len(self.moves), left))
                self.moves += [{} for _ in range(len(self.moves), left)]

    def variables(self, locations: tuple[Location, ...]) -> tuple[StateVariable, ...]:
        """The variables that matter there."""
        found = self._variables.get(locations)
        if found is None:
            matter = {term for location in locations for term in self._matter.at[location]}
            found = tuple(each for each in self.model.variables.values() if each.term in matter)
            self._variables[locations] = found
        return found

    def facts(self, state: State) -> list[Term]:
        """What characterises a state, as far as that matters."""
        return [
            fact
            for each, value in zip(self.variables(state.locations), state.values, strict=True)
            if value is not None
            for fact in self._classes.facts(each, each.term, value)
        ]

    def _initial(self, variable: StateVariable) -> Value:
        return None if variable.initial is None else self._classes.representative(variable, variable.initial)

    def _visit(self, number: int) -> None:
        state = self.states[number]
        pairs = zip(self.variables(state.locations), state.values, strict=True)
        values: Values = {each.term: value for each, value in pairs if value is not None}
        moves: dict[int, list[tuple[Transition, tuple[int, ...]]] | None] = {}
        waits: dict[int, int] = {}  # for which thread each of those that wait does
        for location in () if state.ended else state.locations:
            if location.rest is not None:
                continue
            if _evaluate(location.enabled, values):
                moves[location.thread] = self._moves(state, location, values)
            elif location.waits == "await" and location.holder is not None:
                holder = _evaluate(location.holder, values)
                for other in range(len(state.locations)):
                    if address_of(other + 1, 0) == holder:
                        waits[location.thread] = other
        self.moves.append(moves)
        returned = any(location.rest == "return" for location in state.locations)
        if _has_circle(waits) or not (moves or state.ended or returned):
            self.stuck.add(number)
        elif returned and not moves:
            self.over.add(number)

    def _moves(
        self, state: State, location: Location, values: Values
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
                targets[self._number(State(after, tuple(new.get(each.term) for each in self.variables(after))))] = None
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
        self, transition: Transition, assigned: list[StateVariable], values: Values
    ) -> list[tuple[Value, ...]]:
        """What the values of the assigned variables can be after a transition; nothing if it cannot be taken."""
        terms = {each: transition.assigns[each] for each in assigned}
        counts = [each.count for each in transition.inputs]
        all_terms = (transition.condition, *counts, *terms.values())
        used = {part for term in all_terms for part in term.variables if part in values}
        known = {part: values[part] for part in sorted(used, key=lambda part: part.name)}
        key = (transition, *assigned, *known.values())
        if key not in self._outcomes:
            self._outcomes[key] = list(dict.fromkeys(self._each_outcome(transition, terms, known)))
        return self._outcomes[key]

    def _each_outcome(
        self, transition: Transition, terms: dict[StateVariable, Term], known: Values
    ) -> Iterator[tuple[Value, ...]]:
        few = _few_inputs(transition, known)
        if few is not None:
            for inputs in few:
                now = {**known, **inputs}
                if _evaluate(transition.condition, now):
                    yield tuple(self._result(each, term, now) for each, term in terms.items())
            return
        # One after the other, each with a new value of at least one of the terms.
        state = {part: constant_of(part, value) for part, value in known.items()}
        after = {each: substitute(term, state) for each, term in terms.items()}
        ranges = [compare("ult", each.term, each.count) for each in transition.inputs]
        facts = [substitute(fact, state) for fact in (transition.condition, *ranges)]
        wanted = [each.term for each in transition.inputs]
        results: list[tuple[Value, ...]] = []
        likely = list(self._likely.get(transition, ()))
        while len(results) < _MOST_OUTCOMES:
            is_guess = bool(likely)
            found = list(likely.pop()) if is_guess else self._solver.values(facts, wanted)
            if found is None:
                yield from results
                return
            now = {**known, **dict(zip(wanted, found, strict=True))}
            if not all(_evaluate(fact, now) for fact in facts):
                if not is_guess:
                    raise OutOfReach("the solver has another idea of an input")
            else:
                outcome = {each: self._result(each, term, now) for each, term in terms.items()}
                results.append(tuple(outcome.values()))
                same = [
                    fact for each, value in outcome.items() for fact in self._classes.facts(each, after[each], value)
                ]
                facts.append(negation(conjunction(same)))
        self.partial = "an input can lead to too many states"
        yield from results[: len(self._likely.get(transition, ())) + _SOME_OUTCOMES]

    def _result(self, variable: StateVariable, term: Term, values: Values) -> int | tuple[int, ...]:
        """What stands for the value of a variable if it is that of a term."""
        value = _evaluate(term, values) if term.length is None else tuple(_evaluate_array(term, values))
        return self._classes.representative(variable, value)


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
        self.anywhere = set().union(*self.at.values())


class _Classes:
    """Values that are alike. Variables that are copied to each other make a group. If all that is done with those of a
    group, other than copying, is to look at conditions on one of them alone, then values for which these conditions
    come out alike are alike: whatever can be done with one can be done with the other, and leads to values that are."""

    def __init__(self, model: Model, matter: _Matter) -> None:
        self._group = {each: each for each in matter.anywhere if each.length is None}
        self._conditions: dict[Term, dict[Term, None]] = {}
        self._seen: dict[tuple[Term, tuple[int, ...]], int] = {}
        terms: list[Term] = []
        for location in matter.at:
            terms += [location.enabled, *([location.holder] if location.holder else [])]
            for transition in location.transitions:
                terms += [transition.condition, *(each.count for each in transition.inputs)]
                for variable, value in transition.assigns.items():
                    if value in self._group and variable.term in self._group:
                        self._group[self._root(value)] = self._root(variable.term)
                    elif variable.term in matter.anywhere:
                        terms.append(value)
        conditions: list[Term] = []
        others: set[Term] = set()  # the variables of groups with which something else is done
        met: set[Term] = set()
        while terms:
            term = terms.pop()
            if term not in met:
                met.add(term)
                if term.width == 1 and term.length is None and len(term.variables) == 1:
                    conditions.append(term)
                elif term in self._group:
                    others.add(self._root(term))
                else:
                    terms += term.args
        for condition in sorted(conditions, key=repr):
            for on in condition.variables & self._group.keys():
                root = self._root(on)
                if root not in others:
                    self._conditions.setdefault(root, {})[substitute(condition, {on: root})] = None

    def _root(self, variable: Term) -> Term:
        while self._group[variable] is not variable:
            variable = self._group[variable]
        return variable

    def representative(self, variable: StateVariable, value: int | tuple[int, ...]) -> int | tuple[int, ...]:
        """The value that stands for all those that are like this one."""
        conditions = self._of(variable)
        if conditions is None or not isinstance(value, int):
            return value
        root = self._root(variable.term)
        return self._seen.setdefault((root, tuple(evaluate(each, {root: value}) for each in conditions)), value)

    def facts(self, variable: StateVariable, term: Term, value: int | tuple[int, ...]) -> list[Term]:
        """That the value of a term is like this value of a variable."""
        conditions = self._of(variable)
        if conditions is None or not isinstance(value, int):
            return [compare("eq", part, constant(element, part.width)) for part, element in _cells(term, value)]
        root = self._root(variable.term)
        return [
            fact if evaluate(each, {root: value}) else negation(fact)
            for each in conditions
            for fact in [substitute(each, {root: term})]
        ]

    def _of(self, variable: StateVariable) -> Mapping[Term, None] | None:
        """The conditions that decide, None: values are alike only if they are equal."""
        return self._conditions.get(self._root(variable.term)) if variable.term in self._group else None


def _evaluate(term: Term, values: Values) -> int:
    try:
        return evaluate(term, values)
    except KeyError:
        raise OutOfReach("a value is used that was never written") from None


def _evaluate_array(term: Term, values: Values) -> Sequence[int]:
    try:
        return evaluate_array(term, values)
    except KeyError:
        raise OutOfReach("a value is used that was never written") from None


def _few_inputs(transition: Transition, known: Values) -> list[dict[Term, int]] | None:
    """All values of the inputs, unless there are many."""
    found: list[dict[Term, int]] = [{}]
    for each in transition.inputs:
        counts = [(before, _evaluate(each.count, {**known, **before})) for before in found]
        if sum(count for _, count in counts) > _FEW_INPUTS:
            return None
        found = [{**before, each.term: value} for before, count in counts for value in range(count)]
    return found


def _cells(term: Term, value: int | tuple[int, ...]) -> list[tuple[Term, int]]:
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
