"""The cheapest choice of what to strengthen, as far as is known: a minimum-cost hitting set, found by Z3.

A choice is a set of promises at sites. Of each maximal choice that was found not to be enough, a *clause* remembers
that something outside of it is needed. A cheapest choice that meets all clauses costs no more than a cheapest one that
is enough, so if it is enough, it is one of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import z3

from mazurka.strengthening.orders import FENCE_COST, Promise
from mazurka.strengthening.sites import Site

# Something that can be added: a promise, at the site of this number.
Addition = tuple[int, Promise]
Choice = frozenset[Addition]


class HittingSets:
    """Of choices among what is `possible`. `bound` is what all of them cost that meet the clauses, at least."""

    def __init__(self, sites: Sequence[Site], possible: Choice) -> None:
        self.bound = 0
        self._sites = sites
        context = z3.Context()
        self._solver = z3.Solver(ctx=context)
        self._solver.set("ctrl_c", False)  # what an interrupt means is for the program to say
        self._added = {(site, promise): z3.Bool(f"{site}.{promise}", context) for site, promise in sorted(possible)}
        self._changed = {number: z3.Bool(str(number), context) for number in sorted({site for site, _ in possible})}
        self._cost = z3.Sum(*(term for number in self._changed for term in self._constrain(number)))
        self._changes = z3.Sum(*(z3.If(each, 1, 0) for each in self._changed.values()))
        self._most = sum(sites[number].cost(sites[number].missing) for number in self._changed)

    def _constrain(self, number: int) -> list[z3.ArithRef]:
        """What goes together at a site, and what each part adds to the cost."""
        site = self._sites[number]
        here = {promise: each for (at, promise), each in self._added.items() if at == number}
        self._solver.add(self._changed[number] == z3.Or(*here.values()))
        # A fence costs something by itself, each promise a part, and the last one what is missing to the whole.
        own = FENCE_COST if site.order is None else 0
        costs: dict[Promise, int] = {each: site.cost(frozenset([each])) - own for each in here if each != "seq_cst"}
        if "seq_cst" in here:
            self._solver.add(*(z3.Implies(here["seq_cst"], other) for other in here.values()))
            costs["seq_cst"] = site.cost(site.missing) - own - sum(costs.values())
        parts = [z3.If(here[promise], cost, 0) for promise, cost in costs.items()]
        return [z3.If(self._changed[number], own, 0), *parts]

    def exclude(self, enough_is_outside_of: Choice) -> None:
        """Learn that a choice is not enough, nor is any part of it."""
        self._solver.add(z3.Or(*(each for key, each in self._added.items() if key not in enough_is_outside_of)))

    def forbid(self, choice: Choice) -> None:
        """Ask for others, which do not have all of this one."""
        self._solver.add(z3.Not(z3.And(*(self._added[each] for each in choice))))

    def cheapest(self) -> Choice | None:
        """A choice that meets all clauses; none costs less, and none that costs the same has fewer sites. Among those,
        the one whose first site is the first, and so on."""
        while self.bound <= self._most:
            if self._satisfiable([self._cost <= self.bound]):
                return self._first()
            self.bound += 1
        return None

    def _first(self) -> Choice:
        fixed = [self._cost <= self.bound]
        most = range(len(self._changed) + 1)
        count = next(count for count in most if self._satisfiable([*fixed, self._changes <= count]))
        fixed.append(self._changes <= count)
        chosen = set()
        for addition, variable in self._added.items():
            if self._satisfiable([*fixed, variable]):
                chosen.add(addition)
            fixed.append(variable if addition in chosen else z3.Not(variable))
        return frozenset(chosen)

    def _satisfiable(self, facts: Iterable[z3.BoolRef]) -> bool:
        answer = self._solver.check(*facts)
        if answer == z3.unknown:
            raise AssertionError(f"the solver does not know the cheapest choice: {self._solver.reason_unknown()}")
        return bool(answer == z3.sat)
