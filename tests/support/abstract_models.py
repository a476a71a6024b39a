"""Small models, written by hand, for tests of the abstract engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mazurka.constrained.model import (
    FailureCause,
    Input,
    Location,
    Model,
    Rest,
    SharedAccess,
    StateVariable,
    ThreadModel,
    Transition,
)
from mazurka.constrained.model.solver import Solver
from mazurka.constrained.model.terms import TRUE, Term, compare, constant, disjunction, variable


class Maker:
    """A model to which transitions are added, from one numbered location of a thread to another."""

    def __init__(self) -> None:
        self.model = Model()

    def place(self, thread: int, number: int) -> Location:
        locations = self.model.threads[thread].locations
        while len(locations) <= number:
            locations.append(Location(thread, len(locations), TRUE))
        return locations[number]

    def add(
        self,
        thread: int,
        source: int,
        target: int,
        condition: Term,
        assigns: Mapping[StateVariable, Term] | None,
        inputs: Sequence[Input],
        accesses: Sequence[SharedAccess],
        *,
        starts: Sequence[int] = (),
        failure: FailureCause | None = None,
        silent: bool = False,
    ) -> Transition:
        made = Transition(
            len(self.model.transitions),
            thread,
            self.place(thread, source),
            self.place(thread, target),
            condition,
            dict(assigns or {}),
            tuple(inputs),
            tuple(accesses),
            tuple(starts),
            failure,
            silent,
            back=target <= source,
        )
        self.model.transitions.append(made)
        made.source.transitions.append(made)
        return made


class Threads(Maker):
    """A model of these threads, all of which exist from the start. A place is a location's number."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        for number, name in enumerate(names):
            first = Location(number, 0, TRUE)
            self.model.threads.append(ThreadModel(number, f"t{number}", name, first, [first]))


class Builder(Maker):
    """Thread 0 starts all others and ends; `thread` adds one, `step` a transition between two numbered locations."""

    def __init__(self) -> None:
        super().__init__()
        self._main = self.thread("main")

    def variable(
        self, name: str, initial: int | tuple[int, ...] | None = 0, *, width: int = 32, explicit: bool = False
    ) -> StateVariable:
        length = len(initial) if isinstance(initial, tuple) else None
        made = StateVariable(variable(name, width, length), initial, explicit=explicit, display=name)
        self.model.variables[name] = made
        return made

    def thread(self, name: str) -> int:
        number = len(self.model.threads)
        unborn = Location(number, 0, constant(0, 1), rest="unborn")
        first = Location(number, 1, TRUE)
        path = "main" if number == 0 else f"main.{number}"
        self.model.threads.append(ThreadModel(number, path, name, first, [unborn, first]))
        return number

    def step(
        self,
        thread: int,
        source: int,
        target: int,
        condition: Term = TRUE,
        assigns: Mapping[StateVariable, Term] | None = None,
        *,
        inputs: Sequence[Input] = (),
        touches: Sequence[StateVariable] = (),
        starts: Sequence[int] = (),
        failure: str | None = None,
        rest: Rest | None = None,
        silent: bool = False,
    ) -> Transition:
        assigned = assigns or {}
        accesses = [SharedAccess(each, None, True, each in assigned) for each in {*assigned, *touches}]
        bad = FailureCause(failure, failure, None) if failure else None
        made = self.add(
            thread, source, target, condition, assigned, inputs, accesses, starts=starts, failure=bad, silent=silent
        )
        if failure or rest is not None:
            made.target.rest = "failed" if failure else rest
            made.target.enabled = constant(0, 1)
        return made

    def finish(self) -> Model:
        """Threads can run where one of their transitions can be taken."""
        others = tuple(range(1, len(self.model.threads)))
        self.step(0, 1, 2, starts=others, rest="end")
        solver = Solver()
        for thread in self.model.threads:
            for location in thread.locations:
                if location.transitions:
                    location.enabled = disjunction([each.condition for each in location.transitions])
                    if solver.implies((), location.enabled):
                        location.enabled = TRUE
        return self.model


def number(value: int, width: int = 32) -> Term:
    return constant(value, width)


def less(left: Term, right: Term) -> Term:
    return compare("slt", left, right)


def equal(left: Term, right: Term) -> Term:
    return compare("eq", left, right)
