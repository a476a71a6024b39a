"""Which values variables can have, where they are few: whatever happens, in whatever order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from mazurka.engines.abstract.model import Variable
from mazurka.engines.abstract.terms import Term, evaluate

MOST_VALUES = 512
_MOST_COMBINATIONS = 4096
_PATIENCE = 25  # rounds after which what still grows may have any value


@dataclass(frozen=True, slots=True)
class Rule:
    """What a transition does to variables, under some conditions; `inputs` have any value below a number."""

    conditions: Sequence[Term]
    changes: Mapping[Variable, Term]
    inputs: Mapping[Term, Term]


class ValueSets:
    """For each variable, the set of its values; None if they are many. `changing` are the names of what is ever
    assigned."""

    def __init__(self) -> None:
        self.known: dict[Term, frozenset[int] | None] = {}
        self.changing: set[str] = set()
        self._rounds = 0
        self._seen: dict[tuple[Term, Term, tuple[Term, ...]], set[tuple[int, ...]]] = {}

    def of(self, variable: Term, default: int | tuple[int, ...] | None = None) -> frozenset[int] | None:
        """The values of a variable that is no array. `default` is the first one of a variable that is not known."""
        if variable in self.known:
            return self.known[variable]
        return frozenset((default,)) if isinstance(default, int) else frozenset()

    def grow(self, initial: Mapping[Variable, int | tuple[int, ...] | None], rules: Iterable[Rule]) -> bool:
        """Add what the rules give, until that is nothing new. Whether anything was."""
        self._rounds += 1
        before = dict(self.known)
        changing = set(self.changing)
        for variable, first in initial.items():
            if isinstance(first, int):
                self._add(variable.term, frozenset((first,)))
        readers: dict[Term, list[tuple[Variable, Term, int, Rule]]] = {}
        pending: dict[tuple[Variable, Term, int], Rule] = {}
        for number, rule in enumerate(rules):
            for variable, value in rule.changes.items():
                self.changing.add(variable.name)
                if not variable.is_array:
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

    def _values(self, variable: Variable, term: Term, rule: Rule) -> frozenset[int] | None:
        """What a term that is assigned to a variable can be, as far as its own variables tell; what was found before is
        not found again."""
        names = list(term.variables)
        sets: list[Sequence[int]] = []
        count = 1
        for name in names:
            values: Sequence[int] | None
            if name in rule.inputs:
                limit = rule.inputs[name]
                values = range(limit.value) if limit.is_constant else None
            elif name.length is not None:
                values = None
            else:
                known = self.known.get(name, frozenset())
                values = None if known is None else list(known)
            if values is None:
                return None
            sets.append(values)
            count *= len(values)
            if count > _MOST_COMBINATIONS:
                return None
        relevant = tuple(condition for condition in rule.conditions if condition.variables <= term.variables)
        seen = self._seen.setdefault((variable.term, term, relevant), set())
        found = set()
        for combination in product(*sets):
            if combination not in seen:
                seen.add(combination)
                state = dict(zip(names, combination, strict=True))
                if all(evaluate(condition, state) for condition in relevant):
                    found.add(evaluate(term, state))
        return frozenset(found)
