"""The condition of a path: what holds on it, what follows from that, and where it divides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mazurka.constrained.extract.paths import Blocked, Fault, Guard, Path, PathEnd, SymbolicLocation, Value, source_of
from mazurka.constrained.extract.values import opened, possible
from mazurka.constrained.model import FailureCause, Waits
from mazurka.constrained.model import terms as t
from mazurka.constrained.model.terms import FALSE, TRUE, Term

if TYPE_CHECKING:
    from mazurka.constrained.extract.extraction import Extraction

NOBODY = t.constant(0, 64)
_MOST_COMBINATIONS = 2000  # of values, to find out whether a condition can hold


class PathConditions:
    """A path from a `place` on. `others` are the paths that have divided off. `prefix`: it is what the first thread
    does before its first event."""

    def __init__(self, whole: Extraction, place: SymbolicLocation, path: Path, prefix: bool) -> None:
        self.whole = whole
        self.place = place
        self.path = path
        self.prefix = prefix
        self.others: list[Path] = []

    def known(self, term: Term) -> Term:
        if self.path.elements:
            whole, elements = opened(term)
            known = {name: self.path.elements.get(read, read) for name, read in elements.items()}
            term = t.substitute(whole, known)
        return t.substitute(term, self.path.known) if self.path.known else term

    def decide(self, condition: Term) -> bool | None:
        """Whether a condition holds on this path, if that is known."""
        condition = self.known(condition)
        positive = True
        if condition.op == "xor" and condition.args[1] is TRUE:
            condition, positive = condition.args[0], False
        if condition.is_constant:
            return bool(condition.value) == positive
        decided = self.path.decided.get(condition)
        if decided is not None:
            return decided == positive
        can_hold, can_fail = self._possible(condition)
        if can_hold and can_fail:
            return None
        return can_hold == positive

    def _possible(self, condition: Term) -> tuple[bool, bool]:
        """Whether a condition can be true, and whether it can be false, where its variables have few values."""
        condition, elements = opened(condition)
        names = list(condition.variables)
        combinations = possible(condition, elements, self.whole.values_of, _MOST_COMBINATIONS)
        if combinations is None:
            return True, True
        conditions = (opened(other)[0] for other in self.path.conditions)
        others = [other for other in conditions if other.variables <= condition.variables]
        holds = fails = False
        for values in combinations:
            state = dict(zip(names, values, strict=True))
            if all(t.evaluate(other, state) for other in others):
                if t.evaluate(condition, state):
                    holds = True
                else:
                    fails = True
                if holds and fails:
                    break
        return holds, fails

    def assume(self, condition: Term, value: bool) -> bool:
        """Go on only where the condition has the value. Whether that is possible."""
        decided = self.decide(condition)
        if decided is not None:
            # (with an empty set of values, neither is possible, and either answer will do for this round)
            if decided == value and not condition.is_constant and not self.known(condition).is_constant:
                self._note(condition, value)
            return decided == value
        before = dict(self.path.known)
        self._note(condition, value)
        new = {name: number for name, number in self.path.known.items() if name not in before}
        if new:  # this condition says more than some that are there already
            self.path.conditions = [c for c in self.path.conditions if not t.substitute(c, new).is_true]
        self.path.conditions.append(condition if value else t.negation(condition))
        return True

    def _note(self, condition: Term, value: bool) -> None:
        if condition.op == "xor" and condition.args[1] is TRUE:
            condition, value = condition.args[0], not value
        self.path.decided[condition] = value
        term, number = condition, TRUE if value else FALSE
        if value and condition.op == "eq" and condition.args[1].is_constant:
            term, number = condition.args
        if term.op == "variable":
            self.path.known[term] = number
        elif term.op == "select":
            self.path.elements[term] = number
        if value and condition.op == "and":
            self._note(condition.args[0], True)
            self._note(condition.args[1], True)
        if not value and condition.op == "or":
            self._note(condition.args[0], False)
            self._note(condition.args[1], False)

    def branch(self, condition: Term) -> bool:
        """Which way to go; the other one, if possible, is a path of its own, which comes here again."""
        decided = self.decide(condition)
        if decided is not None:
            return decided
        self.others.append(self._otherwise(condition).path)
        self.assume(condition, True)
        return True

    def require(self, condition: Term, kind: str, message: str) -> None:
        """Where the condition does not hold, the program goes wrong."""
        decided = self.decide(condition)
        if decided is None:
            self._otherwise(condition).fail(kind, message)
            self.assume(condition, True)
        elif not decided:
            raise Fault(kind, message)

    def guard(self, condition: Term, waits: Waits, holder: Value = NOBODY) -> None:
        """The section goes on only where the condition holds."""
        decided = self.decide(condition)
        if decided is None:
            self._otherwise(condition).block(waits, holder)
            self.assume(condition, True)
        elif not decided:
            raise Blocked(waits, holder)

    def _otherwise(self, condition: Term) -> PathConditions:
        """The same path, where a condition does not hold."""
        other = PathConditions(self.whole, self.place, self.path.copy(), self.prefix)
        other.assume(condition, False)
        return other

    def fail(self, kind: str, message: str) -> None:
        frames = self.path.frames
        failure = FailureCause(kind, message, source_of(frames) or frames[-1].instruction.location)
        self.path.memory.clear()
        self.path.starts.clear()
        self.place.outcomes.append(PathEnd(self.path, "failed", failure=failure))

    def block(self, waits: Waits, holder: Value) -> None:
        """The path ends at a guard that does not hold."""
        path = self.path
        self.place.guards.append(Guard(t.conjunction(path.conditions), tuple(path.inputs), waits, holder))
