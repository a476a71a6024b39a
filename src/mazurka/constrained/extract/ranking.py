"""Which local loops end, and why: what a thread computes on its own must not be an obstacle to anybody.

An execution that goes round in a loop of silent transitions for ever starves all other threads, and a schedule must not
permit that. But most such loops end, whatever the state is in which they begin: some number becomes smaller in each
round. Such numbers are guessed from the conditions under which a loop goes on (b - a for a < b, say), and each guess is
proved, bit by bit, of the loop's transitions, with no assumption about states but the conditions of the transitions.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from mazurka.constrained.graphs import reached
from mazurka.constrained.model import LocalLoop, Location, Model, StateVariable, Transition
from mazurka.constrained.model.solver import Solver, TooHard
from mazurka.constrained.model.terms import (
    Term,
    binary,
    compare,
    conjunction,
    constant,
    convert,
    ite,
    negation,
    parts_first,
    substitute,
)

_PATIENCE = 300  # of the solver, for one question
_MOST_LEVELS = 6
_MOST_CANDIDATES = 60

_Node = TypeVar("_Node", bound=Hashable)

# A transition inside of a loop, under a condition.
_Step = tuple[Transition, Term]


def find_loops(model: Model) -> None:
    """Say at the locations of a model whether and why what threads compute on their own ends."""
    for thread in model.threads:
        silent = [each for each in thread.locations if each.is_silent]
        inside = [transition for each in silent for transition in each.transitions if transition.target.is_silent]
        for location in thread.locations:
            location.ends = True
        for steps in _circles([(transition, taken(transition)) for transition in inside]):
            loop = _loop(model, thread.number, steps)
            for location in {transition.source for transition in loop.transitions}:
                location.loop = loop
                location.ends = loop.ranks is not None


def taken(transition: Transition) -> Term:
    """When a transition is taken, with its inputs free."""
    ranges = [compare("ult", each.term, each.count) for each in transition.inputs]
    return conjunction([transition.condition, *ranges])


def _loop(model: Model, thread: int, steps: Sequence[_Step]) -> LocalLoop:
    transitions = tuple(transition for transition, _ in steps)
    changed = tuple(dict.fromkeys(variable for transition in transitions for variable in transition.assigns))
    own = _own(model, thread)
    candidates = [
        each for each in dict.fromkeys(_candidates(steps, changed)) if each.variables and each.variables <= own
    ]
    ranks = _Search(candidates[:_MOST_CANDIDATES]).ranks(steps)
    return LocalLoop(transitions, changed, ranks)


def _own(model: Model, thread: int) -> set[Term]:
    """The variables that no other thread assigns, once the thread exists: what others do in between does not matter."""
    others = {
        variable.term
        for transition in model.transitions
        if transition.thread != thread and thread not in transition.starts
        for variable in transition.assigns
    }
    return {variable.term for variable in model.variables.values()} - others


class _Search:
    def __init__(self, candidates: Sequence[Term]) -> None:
        self._candidates = candidates
        self._solver = Solver(patience=_PATIENCE)

    def ranks(self, steps: Sequence[_Step], levels: int = _MOST_LEVELS) -> dict[Location, tuple[Term, ...]] | None:
        """The terms of `LocalLoop.ranks`, for steps that all lie on cycles with each other."""
        here = list(dict.fromkeys(transition.source for transition, _ in steps))
        guesses = ((rank, head) for head in (None, *here) for rank in self._candidates) if levels else ()
        for rank, head in guesses:
            at = _at_places(rank, head, here, steps)
            left = self._left(steps, at) if at is not None else None
            if left is None:
                continue
            found: dict[Location, tuple[Term, ...]] = {location: (at[location],) for location in here} if at else {}
            for circle in _circles(left):
                inner = self.ranks(circle, levels - 1)
                if inner is None:
                    return None  # what decreases can come first: if there is an order, this is no worse
                found.update((location, (*found[location], *terms)) for location, terms in inner.items())
            return found
        return None

    def _left(self, steps: Sequence[_Step], ranks: Mapping[Location, Term]) -> list[_Step] | None:
        """The steps that keep a number, if none increases it and some decrease it."""
        left: list[_Step] = []
        decreases = False
        for transition, condition in steps:
            before, after = ranks[transition.source], _after(ranks[transition.target], transition)
            same = compare("eq", after, before)
            try:
                if not self._solver.implies([condition], compare("ule", after, before)):
                    return None
                if self._solver.implies([condition], same):
                    left.append((transition, condition))
                    continue
                decreases = True
                if self._solver.satisfiable([condition, same]):
                    left.append((transition, conjunction([condition, same])))
            except TooHard:
                return None
        return left if decreases else None


def _after(rank: Term, transition: Transition) -> Term:
    return substitute(rank, {variable.term: value for variable, value in transition.assigns.items()})


def _at_places(
    rank: Term, head: Location | None, here: Sequence[Location], steps: Sequence[_Step]
) -> dict[Location, Term] | None:
    """A number that is the same everywhere in a loop; or, if it is one of a head, at the other places what it will be
    there after the next step: a loop inside of the loop knows nothing of the outer one's condition."""
    ranks = dict.fromkeys(here, rank)
    if head is None:
        return ranks
    back = [transition for transition, _ in steps if transition.target is head and transition.source is not head]
    if not back:
        return None
    for transition in back:
        ranks[transition.source] = _after(rank, transition)
    return ranks


# ------------------------------------------------------------------------------------------------- guesses


def _candidates(steps: Sequence[_Step], changed: Sequence[StateVariable]) -> Iterator[Term]:
    """Numbers that may become smaller in each round."""
    names = {variable.term for variable in changed}
    for _, condition in steps:
        for atom in atoms(condition):
            if atom.variables.isdisjoint(names):
                continue
            left, right = atom.args
            distances = [(left, right), (right, left)]
            if atom.op == "eq":
                for low, high in distances:
                    yield binary("sub", high, low)
                continue
            # a < b, or the negation of it, which is b <= a.
            for holds in (atom, negation(atom)):
                low, high = distances[0] if holds is atom else distances[1]
                yield _while(holds, binary("sub", high, low))
    for variable in changed:
        if not variable.is_array and variable.term.width > 1:
            yield from _of_number(variable.term)


def _of_number(number: Term) -> Iterator[Term]:
    width = number.width
    zero, ones, sign = constant(0, width), constant(-1, width), constant(1 << (width - 1), width)
    yield number
    yield binary("xor", number, ones)
    yield binary("xor", number, sign)  # as a signed number
    yield binary("xor", number, binary("xor", sign, ones))
    negative = binary("sub", zero, number)
    yield ite(compare("slt", number, zero), negative, number)
    lowest = binary("and", number, negative)  # bit that is set
    yield ite(compare("eq", number, zero), zero, binary("xor", lowest, ones))


def _while(condition: Term, number: Term) -> Term:
    """A number that counts, while a condition holds: 0 is less than what it is then."""
    wide = convert("zext", number, number.width + 1)
    return ite(condition, binary("add", wide, constant(1, wide.width)), constant(0, wide.width))


def atoms(condition: Term) -> Iterator[Term]:
    """The comparisons that a condition is made of."""
    known: set[Term] = set()
    for part in parts_first(condition, known):
        known.add(part)
        if part.op in ("eq", "ult", "ule", "slt", "sle") and part.args[0].length is None and part.args[0].width > 1:
            yield part


# ------------------------------------------------------------------------------------------------- circles


def _circles(steps: Iterable[_Step]) -> list[list[_Step]]:
    """The steps that lie on cycles, those together that lie on the same ones."""
    steps = list(steps)
    successors: dict[Location, set[Location]] = {}
    for transition, _ in steps:
        successors.setdefault(transition.source, set()).add(transition.target)
    after = {each: reached(own, lambda other: successors.get(other, ())) for each, own in successors.items()}
    circles: dict[frozenset[Location], list[_Step]] = {}
    for transition, condition in steps:
        source, target = transition.source, transition.target
        if source in after.get(target, ()):
            together = frozenset(each for each in after[source] if source in after.get(each, ()))
            circles.setdefault(together, []).append((transition, condition))
    return list(circles.values())
