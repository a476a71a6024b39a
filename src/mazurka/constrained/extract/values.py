"""Which values variables can have, where they are few: whatever happens, in whatever order.

Of an array, it is what its elements can be, all together: what is read with an index that is not known is one of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, product
from weakref import WeakKeyDictionary

from mazurka.constrained.model import StateVariable
from mazurka.constrained.model import terms as t
from mazurka.constrained.model.terms import Term, evaluate

MOST_VALUES = 512
_MOST_COMBINATIONS = 4096
_PATIENCE = 25  # rounds after which what still grows may have any value

ValuesOf = Callable[[Term], Iterable[int] | None]  # the values of a variable, or of an element of an array that is read

_elements: WeakKeyDictionary[Term, Term] = WeakKeyDictionary()
_numbers = count()


def opened(term: Term) -> tuple[Term, dict[Term, Term]]:
    """A term with a variable in place of each element of an array that it reads, and which elements these are."""
    if all(variable.length is None for variable in term.variables):
        return term, {}
    read: dict[Term, Term] = {}
    made: dict[Term, Term] = {}
    for part in t.parts_first(term, made):
        if part.op == "select":
            if part not in _elements:
                _elements[part] = t.variable(f"[{next(_numbers)}]", part.width)
            made[part] = _elements[part]
            read[made[part]] = part
        elif part.length is None:
            made[part] = t.remake(part, [made[arg] for arg in part.args])
        else:  # what is read of it is read by a part that is above it
            made[part] = part
    return made[term], {name: part for name, part in read.items() if name in made[term].variables}


def atoms(term: Term) -> list[Term]:
    """What the value of a term depends on: variables, by name, and elements of arrays that it reads."""
    whole, elements = opened(term)
    return [*sorted(whole.variables - elements.keys(), key=lambda variable: variable.name), *elements.values()]


@dataclass(frozen=True, slots=True)
class Rule:
    """What a transition does to variables, under some conditions; `inputs` have any value below a number."""

    conditions: Sequence[Term]
    changes: Mapping[StateVariable, Term]
    inputs: Mapping[Term, Term]


class ValueSets:
    """For each variable, the set of its values; None if they are many. `changing` are the names of what is ever
    assigned; `arrays` how those are at the start that have known elements then."""

    def __init__(self) -> None:
        self.known: dict[Term, frozenset[int] | None] = {}
        self.changing: set[str] = set()
        self.arrays: dict[Term, tuple[int, ...]] = {}
        self._rounds = 0
        self._seen: dict[tuple[Term, Term, tuple[Term, ...]], set[tuple[int, ...]]] = {}

    def of(self, variable: Term, default: int | tuple[int, ...] | None = None) -> frozenset[int] | None:
        """The values of a variable that is no array. `default` is the first one of a variable that is not known."""
        if variable in self.known:
            return self.known[variable]
        return frozenset((default,)) if isinstance(default, int) else frozenset()

    def grow(self, initial: Mapping[StateVariable, int | tuple[int, ...] | None], rules: Iterable[Rule]) -> bool:
        """Add what the rules give, until that is nothing new. Whether anything was."""
        self._rounds += 1
        before = dict(self.known)
        changing = set(self.changing)
        for variable, first in initial.items():
            if isinstance(first, int):
                self._add(variable.term, frozenset((first,)))
            elif first is not None:
                self._add(variable.term, frozenset(first))
                self.arrays[variable.term] = first
        readers: dict[Term, list[tuple[StateVariable, Term, int, Rule]]] = {}
        pending: dict[tuple[StateVariable, Term, int], Rule] = {}
        for number, rule in enumerate(rules):
            for variable, value in rule.changes.items():
                self.changing.add(variable.name)
                pending[variable, value, number] = rule
                for name in value.variables:
                    readers.setdefault(name, []).append((variable, value, number, rule))
        while pending:
            (variable, value, number), rule = pending.popitem()
            if self._add(variable.term, self._values(variable, value, rule)):
                for reader, term, of, other in readers.get(variable.term, ()):
                    pending[reader, term, of] = other
        if self._rounds > _PATIENCE:
            for term, values in self.known.items():
                if values != before.get(term):
                    self.known[term] = None
        return self.known != before or self.changing != changing

    def _add(self, variable: Term, values: frozenset[int] | None) -> bool:
        known = self.known.get(variable, frozenset())
        if known is None:
            return False
        merged = None if values is None else known | values
        if merged is not None and len(merged) > MOST_VALUES:
            merged = None
        self.known[variable] = merged
        return merged != known

    def _values(self, variable: StateVariable, term: Term, rule: Rule) -> frozenset[int] | None:
        """What a term that is assigned to a variable can be, as far as its own variables tell; what was found before is
        not found again."""

        def values_of(atom: Term) -> Iterable[int] | None:
            if atom.op == "select":
                return self.element(atom, values_of)
            if atom in rule.inputs:
                limit = rule.inputs[atom]
                return range(limit.value) if limit.is_constant else None
            return None if atom.length is not None else self.known.get(atom, frozenset())

        if variable.is_array:
            return self._elements(term, values_of)
        whole, elements = opened(term)
        relevant = tuple(
            condition
            for condition in (opened(condition)[0] for condition in rule.conditions)
            if condition.variables <= whole.variables
        )
        seen = self._seen.setdefault((variable.term, term, relevant), set())
        return _evaluated(whole, elements, values_of, relevant, seen)

    # ------------------------------------------------------------------------------------------ elements

    def element(self, read: Term, values_of: ValuesOf) -> frozenset[int] | None:
        """What an element of an array that is read can be. (An index is never beyond the array: that is a failure.)"""
        array, index = read.args
        first = self.arrays.get(array)
        if first is not None and array.name not in self.changing:
            at = _evaluated(*opened(index), values_of)
            if at is not None:
                return frozenset(first[place] for place in at if place < len(first))
        return self._elements(array, values_of)

    def _elements(self, array: Term, values_of: ValuesOf) -> frozenset[int] | None:
        """What all elements of an array can be."""
        found: set[int] = set()
        pending = [array]
        while pending:
            current = pending.pop()
            match current.op:
                case "variable":
                    values = self.known.get(current, frozenset())
                case "ite":
                    values = frozenset()
                    pending += current.args[1:]
                case _:  # a store, or an array of equal elements
                    values = _evaluated(*opened(current.args[-1]), values_of)
                    pending += current.args[:-2]
            if values is None:
                return None
            found |= values
        return frozenset(found)


def possible(
    whole: Term, elements: Mapping[Term, Term], values_of: ValuesOf, most: int
) -> Iterator[tuple[int, ...]] | None:
    """The values that the variables of an opened term can have together; None if these are many."""
    sets: list[Sequence[int]] = []
    size = 1
    for name in whole.variables:
        values = values_of(elements.get(name, name))
        if values is None:
            return None
        sets.append(values if isinstance(values, range) else list(values))
        size *= len(sets[-1])
        if size > most:
            return None
    return product(*sets)


def _evaluated(
    whole: Term,
    elements: Mapping[Term, Term],
    values_of: ValuesOf,
    conditions: Sequence[Term] = (),
    seen: set[tuple[int, ...]] | None = None,
) -> frozenset[int] | None:
    """The values of an opened term under some conditions, for all values of its variables that were not `seen` yet."""
    names, combinations = list(whole.variables), possible(whole, elements, values_of, _MOST_COMBINATIONS)
    if combinations is None:
        return None
    found = set()
    for combination in combinations:
        if seen is not None:
            if combination in seen:
                continue
            seen.add(combination)
        state = dict(zip(names, combination, strict=True))
        if all(evaluate(condition, state) for condition in conditions):
            found.add(evaluate(whole, state))
    return frozenset(found)
