"""Everything that small models do, found by going through all of their states, and random models to do that with."""

from __future__ import annotations

import random
from collections.abc import Iterator

from mazurka.constrained.model import Input, Location, Model, Rest, Transition
from mazurka.constrained.model.terms import TRUE, Term, binary, constant, evaluate, negation, variable
from tests.support.abstract_models import Builder, equal, less

State = tuple[tuple[int, ...], tuple[int, ...]]  # the numbers of the locations, the values of the variables


class States:
    """Everything that a model with variables of a few bits can do."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.variables = list(model.variables.values())
        self.failures: set[str] = set()
        self.deadlocks: set[State] = set()
        self.ends: set[State] = set()
        # For each state and thread that can run there: where that leads, None if it goes wrong.
        self.successors: dict[State, dict[int, set[State | None]]] = {}
        first = tuple(location.number for location in model.initial_locations)
        self.initial: State = first, tuple(each.initial for each in self.variables if isinstance(each.initial, int))
        waiting = [self.initial]
        while waiting:
            state = waiting.pop()
            if state in self.successors:
                continue
            self.successors[state] = self._successors(state)
            waiting += [each for nodes in self.successors[state].values() for each in nodes if each is not None]

    def locations(self, state: State) -> list[Location]:
        return [thread.locations[number] for thread, number in zip(self.model.threads, state[0], strict=True)]

    def _successors(self, state: State) -> dict[int, set[State | None]]:
        locations = self.locations(state)
        result: dict[int, set[State | None]] = {}
        values = {each.term: value for each, value in zip(self.variables, state[1], strict=True)}
        for location in locations:
            if location.rest is not None or not evaluate(location.enabled, values):
                continue
            result[location.thread] = set()
            for transition in location.transitions:
                for inputs in inputs_of(transition.inputs):
                    now = {**values, **inputs}
                    if evaluate(transition.condition, now):
                        result[location.thread].add(self.after(state, transition, now))
        if all(location.rest is not None for location in locations):
            self.ends.add(state)
        elif not result and not any(location.rest in ("stuck", "return") for location in locations):
            self.deadlocks.add(state)
        return result

    def after(self, state: State, transition: Transition, values: dict[Term, int]) -> State | None:
        if transition.failure is not None:
            self.failures.add(transition.failure.kind)
            return None
        numbers = list(state[0])
        numbers[transition.thread] = transition.target.number
        for started in transition.starts:
            numbers[started] = self.model.threads[started].entry.number
        after = [
            evaluate(transition.assigns[each], values) if each in transition.assigns else values[each.term]
            for each in self.variables
        ]
        return tuple(numbers), tuple(after)

    @property
    def kinds(self) -> set[str]:
        return self.failures | ({"deadlock"} if self.deadlocks else set())

    def has_safe_strategy(self) -> bool:
        """Whether a scheduler can avoid failures and deadlocks, whatever the inputs are; not looking at fairness."""
        good = set(self.successors) - self.deadlocks
        while True:
            bad = {
                state
                for state in good - self.ends
                if not any(nodes <= good for nodes in self.successors[state].values())
            }
            if not bad:
                return self.initial in good
            good -= bad

    def has_fair_execution(self) -> bool:
        """Whether there is a fair execution without failures and deadlocks: one that ends, or a cycle in which each
        thread takes a step or can never take one."""
        reachable = self._reachable({self.initial}, set(self.successors))
        return bool(reachable & self.ends) or self._has_fair_cycle(reachable)

    def _has_fair_cycle(self, states: set[State]) -> bool:
        for component in self._components(states):
            runs = {
                thread
                for state in component
                for thread, nodes in self.successors[state].items()
                if any(node in component for node in nodes)
            }
            if not runs:
                continue
            starved = {state for state in component if any(thread not in runs for thread in self.successors[state])}
            if not starved or self._has_fair_cycle(component - starved):
                return True
        return False

    def _components(self, states: set[State]) -> Iterator[set[State]]:
        left = set(states)
        while left:
            state = next(iter(left))
            forward = self._reachable({state}, left)
            component = {other for other in forward if state in self._reachable({other}, forward)}
            yield component
            left -= component

    def _reachable(self, start: set[State], within: set[State]) -> set[State]:
        found = set(start)
        waiting = list(start)
        while waiting:
            for nodes in self.successors[waiting.pop()].values():
                for node in nodes:
                    if node is not None and node in within and node not in found:
                        found.add(node)
                        waiting.append(node)
        return found


def inputs_of(inputs: tuple[Input, ...]) -> Iterator[dict[Term, int]]:
    if not inputs:
        yield {}
        return
    for rest in inputs_of(inputs[1:]):
        for value in range(inputs[0].count.value):
            yield {inputs[0].term: value, **rest}


def random_model(seed: int, *, inputs: bool) -> Model:
    """Two or three threads of a few locations, over variables of two bits, with loops, waiting and failures."""
    rng = random.Random(seed)
    builder = Builder()
    variables = [builder.variable(name, rng.choice((0, 0, 1)), width=2, explicit=rng.random() < 0.3) for name in "xyz"]
    hidden = [each for each in variables if not each.explicit]

    def value(target_is_explicit: bool, entered: Input | None) -> Term:
        known = [each for each in variables if each.explicit or not target_is_explicit]
        kind = rng.randrange(4)
        if entered is not None and not target_is_explicit and kind < 2:
            return entered.term
        if kind == 0 or not known:
            return constant(rng.randrange(4), 2)
        source = rng.choice(known).term
        return source if kind == 1 else binary("add", source, constant(rng.choice((1, 3)), 2))

    def condition() -> Term:
        left = rng.choice(variables).term
        right = rng.choice((constant(rng.randrange(4), 2), rng.choice(variables).term))
        made = equal(left, right) if rng.random() < 0.7 else less(left, right)
        return negation(made) if rng.random() < 0.4 else made

    for each in range(rng.choice((2, 2, 3))):
        thread = builder.thread(f"t{each}")
        size = rng.choice((2, 3, 4))
        for source in range(1, size + 1):
            following = source + 1 if source < size or rng.random() < 0.4 else rng.randint(1, source)
            rest: Rest | None = "end" if following > size else None
            entered = None
            if inputs and hidden and rng.random() < 0.4:
                entered = Input(variable(f"input{thread}.{source}", 2), constant(rng.choice((2, 3)), 2))
            assigned = rng.sample(variables, rng.choice((0, 1, 1, 2)))
            assigns = {target: value(target.explicit, entered) for target in assigned}
            entries = [entered] if entered is not None else []
            guard = condition()
            reads = [
                each for each in variables if any(each.term in term.variables for term in (guard, *assigns.values()))
            ]
            kind = rng.randrange(10)
            if kind == 9:  # computes on its own
                builder.step(thread, source, following, silent=True, rest=rest)
                continue
            if kind >= 7:  # neither waits nor branches
                guard = TRUE
            builder.step(thread, source, following, guard, assigns, inputs=entries, touches=reads, rest=rest)
            if kind in (3, 4, 5):
                builder.step(thread, source, rng.randint(1, size), negation(guard), touches=reads)
            elif kind == 6:
                builder.step(thread, source, size + 2, negation(guard), failure="assertion", touches=reads)
    return builder.finish()
