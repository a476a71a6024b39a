"""The face of the abstract engine: schedules that are proved to be safe, executions that go wrong, a verdict."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Literal

from mazurka.constrained.impact.complete import Complete
from mazurka.constrained.impact.game import winning_proof, winning_states
from mazurka.constrained.impact.states import OutOfReach, StateGraph
from mazurka.constrained.impact.strategy import Strategy
from mazurka.constrained.impact.unwinding import Counters
from mazurka.constrained.model import Model, Transition
from mazurka.constrained.model.solver import Integers, Interrupted, Solver
from mazurka.constrained.proof import Counterexample, Proof

FinalVerdict = Literal["safe", "partially safe", "unsafe"]

_MOST_LIKELY = 4  # inputs of one transition that are remembered
_UNKNOWN = "it is not known whether there is a safe schedule: none was found"
_UNSEEN = "there are safe schedules, but they depend on values that do not show in which way threads go"


@dataclass(frozen=True, slots=True)
class SearchProgress:
    nodes: int
    covered: int
    queries: int
    solver_seconds: float


class IterativeImpact:
    """`proof` is that of the last incomplete verification result. `undecided` is why it is not known whether there is
    one, after `has_schedule` has answered that; `decided`, that it was not the iterations that told."""

    def __init__(self, model: Model, *, integers: Integers = "bits", last_first: bool = False) -> None:
        self.model = model
        self.proof: Proof | None = None
        self.undecided: str | None = None
        self.decided = False
        self._integers = integers
        self._likely: dict[Transition, list[tuple[int, ...]]] = {}  # inputs with which something has gone wrong
        self._solver = Solver(integers)
        self._counters = Counters()
        self._strategy = Strategy(model, self._solver, self._counters, last_first=last_first)
        self._iterations = self._strategy.iterate()
        self._complete = Complete(model, self._solver, self._counters, shortcuts=False)

    def stop(self) -> None:
        """End all searches at the next node. May be called at any time, from any thread or signal handler."""
        self._strategy.stopped = self._complete.stopped = True
        self._solver.interrupt()

    def progress(self) -> SearchProgress:
        counters, solver = self._counters, self._solver
        return SearchProgress(counters.nodes, counters.covered, solver.calls, solver.seconds)

    def iterate(self) -> Iterator[Proof | Counterexample]:
        """The results of iterations, as they are found: schedules that are safe, more with each, or how one goes
        wrong. If it is called again, it goes on from there."""
        while True:
            try:
                result = next(self._iterations)
            except (StopIteration, Interrupted):
                return
            if isinstance(result, Proof):
                self.proof = result
            if result is None:  # what takes long may have no end: a game may tell
                self.has_schedule()
                result = self.proof if self.decided else None
                if self.decided:
                    self._iterations = iter(())
            if isinstance(result, Counterexample):
                self._remember(result)
            if result is not None:
                yield result

    def _remember(self, example: Counterexample) -> None:
        for transition, inputs in zip(example.path, example.inputs, strict=True):
            known = self._likely.setdefault(transition, [])
            if inputs and inputs not in known and len(known) < _MOST_LIKELY:
                known.append(inputs)

    def complete(self) -> Generator[Counterexample, None, FinalVerdict | None]:
        """Everything that can go wrong in any schedule; in the end the verdict, or None if it was stopped or is not
        known. If something goes wrong, it depends on whether there is a schedule under which nothing does: "unsafe" is
        said only if it is certain that there is none."""
        wrong = False
        try:
            for example in self._complete.run():
                wrong = True
                self._remember(example)
                yield example
            if wrong and self.proof is None:
                for result in self.iterate():
                    if isinstance(result, Proof):
                        break
        except Interrupted:
            return None
        if self._complete.stopped:
            return None
        if not wrong:
            return "safe"
        return {True: "partially safe", False: "unsafe", None: None}[self.has_schedule()]

    def has_schedule(self) -> bool | None:
        """Whether there is a schedule under which the program is safe, free of deadlocks and fair. Where none was found
        by iterations, a game on all states decides it, if these are not too many; and if the scheduler loses although
        some that others could do was left out, it loses all the same. If there is a schedule, it is `proof` from then
        on. None: it is not known, or it was stopped."""
        if self.proof is not None:
            return True
        if self.decided or self.undecided is not None:
            return False if self.decided else None
        if self._integers != "bits":
            self.undecided = f"{_UNKNOWN}, and with integers that have no limits not all states can be looked at"
            return None
        try:
            states = StateGraph(self.model, self._solver, lambda: self._complete.stopped, self._likely)
            winning = winning_states(states)
            self.decided = 0 not in winning
            if self.decided:
                return False
            if states.partial is not None:
                raise OutOfReach(states.partial)
            self.proof = winning_proof(states, winning)
        except Interrupted:
            return None
        except OutOfReach as problem:
            self.undecided = f"{_UNKNOWN}, and {problem}"
            return None
        self.decided = self.proof is not None
        if not self.decided:
            self.undecided = _UNSEEN
        return self.decided or None
