"""What is known of a local loop at whose head a thread arrives, without going round.

Guesses are made from the conditions of the loop and from the values with which it is entered: which of two numbers is
less, by what multiple of each other two counters grow. Those that hold at the entry, and that each round keeps if all
of them hold before it, are invariants: the largest such set of guesses. What else the variables are is left open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from mazurka.constrained.extract.ranking import atoms, taken
from mazurka.constrained.model import LocalLoop
from mazurka.constrained.model.solver import Integers, Solver, TooHard
from mazurka.constrained.model.terms import Term, binary, compare, substitute

_PATIENCE = 30  # of the solver, for one question
_MOST_GUESSES = 40


class Summaries:
    def __init__(self, integers: Integers) -> None:
        self._solver = Solver(integers, patience=_PATIENCE)
        self._known: dict[tuple[LocalLoop, frozenset[Term]], tuple[Term, ...]] = {}

    def invariants(
        self, loop: LocalLoop, entry: Mapping[Term, Term], holds: Callable[[Term], bool]
    ) -> tuple[Term, ...]:
        """What holds whenever a thread comes by in a loop that it enters with some values of all variables; `holds`
        tells what does there."""
        guesses = dict.fromkeys(guess for guess in _guesses(loop, entry) if not guess.is_constant)
        true = [guess for guess in list(guesses)[:_MOST_GUESSES] if holds(guess)]
        key = loop, frozenset(true)
        if key not in self._known:
            self._known[key] = self._kept(loop, true)
        return self._known[key]

    def _kept(self, loop: LocalLoop, guesses: list[Term]) -> tuple[Term, ...]:
        """The largest subset that each round keeps."""
        steps = [
            (taken(transition), {variable.term: value for variable, value in transition.assigns.items()})
            for transition in loop.transitions
        ]
        while True:
            kept = [
                guess
                for guess in guesses
                if all(self._implied([*guesses, condition], substitute(guess, after)) for condition, after in steps)
            ]
            if len(kept) == len(guesses):
                return tuple(kept)
            guesses = kept

    def _implied(self, facts: list[Term], fact: Term) -> bool:
        try:
            return self._solver.implies(facts, fact)
        except TooHard:
            return False


def _guesses(loop: LocalLoop, entry: Mapping[Term, Term]) -> Iterator[Term]:
    changed = {variable.term for variable in loop.changed}
    first = {term: value for term in changed if (value := _nameable(entry[term], entry, changed)) is not None}
    counters = [term for term in sorted(first, key=lambda each: each.name) if _step(loop, term) is not None]
    for place in dict.fromkeys(transition.source for transition in loop.transitions):
        for transition in place.transitions:
            for atom in atoms(transition.condition):
                if not atom.variables.isdisjoint(changed) and all(each.length is None for each in atom.variables):
                    left, right = atom.args
                    for op in ("sle", "ule") if atom.op == "eq" else ("sle",) if atom.op[0] == "s" else ("ule",):
                        yield compare(op, left, right)
                        yield compare(op, right, left)
    for term in counters:
        for op in ("sle", "ule"):
            yield compare(op, first[term], term)
            yield compare(op, term, first[term])
    for counter in counters:
        step = _step(loop, counter)
        if step is None or step.value not in (1, (1 << counter.width) - 1):
            continue
        rounds = binary("mul", binary("sub", counter, first[counter]), step)
        for other in counters:
            if other is not counter and other.width == counter.width and (by := _step(loop, other)) is not None:
                yield compare("eq", other, binary("add", first[other], binary("mul", rounds, by)))
        break


def _nameable(value: Term, entry: Mapping[Term, Term], changed: set[Term]) -> Term | None:
    """A value as a constant, or as a variable that the loop does not change."""
    if value.length is not None:
        return None
    if value.is_constant:
        return value
    return next((term for term, other in entry.items() if other is value and term not in changed), None)


def _step(loop: LocalLoop, number: Term) -> Term | None:
    """By what a number grows in each round, if that is always the same."""
    steps = set()
    for transition in loop.transitions:
        after = next((value for each, value in transition.assigns.items() if each.term is number), None)
        if after is None or after.op != "add" or after.args[0] is not number or not after.args[1].is_constant:
            return None
        steps.add(after.args[1])
    return steps.pop() if len(steps) == 1 else None
