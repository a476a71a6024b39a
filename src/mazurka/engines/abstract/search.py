"""The face of the abstract engine: schedules that are proved to be safe, executions that go wrong, a verdict."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Literal

from mazurka.engines.abstract.complete import Complete
from mazurka.engines.abstract.exploration import Counters
from mazurka.engines.abstract.model import Model
from mazurka.engines.abstract.proof import Counterexample, Proof
from mazurka.engines.abstract.solver import Integers, Interrupted, Solver
from mazurka.engines.abstract.strategy import Strategy

FinalVerdict = Literal["safe", "partially safe", "unsafe"]


@dataclass(frozen=True, slots=True)
class SearchProgress:
    nodes: int
    covered: int
    queries: int
    solver_seconds: float


class Search:
    """`proof` is that of the last incomplete verification result. `gave_up`: there may be one that was not found."""

    def __init__(self, model: Model, *, integers: Integers = "bits") -> None:
        self.model = model
        self.proof: Proof | None = None
        self._solver = Solver(integers)
        self._counters = Counters()
        self._strategy = Strategy(model, self._solver, self._counters)
        self._iterations = self._strategy.iterate()
        self._complete = Complete(model, self._solver, self._counters, shortcuts=False)

    @property
    def gave_up(self) -> bool:
        return self._strategy.gave_up

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
            yield result

    def complete(self) -> Generator[Counterexample, None, FinalVerdict | None]:
        """Everything that can go wrong in any schedule; in the end the verdict, or None if it was stopped or gave up.
        If something goes wrong, the verdict depends on whether there is an incomplete verification result."""
        wrong = False
        try:
            for example in self._complete.run():
                wrong = True
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
        if self.proof is not None:
            return "partially safe"
        return None if self.gave_up else "unsafe"
