"""Which memory orders have to be stronger, and which fences are missing, for a program to be verified: the least of it.

A program is *right* if a check verifies it, and finds no data race that stronger orders could remove (with `races`
"ignore", none is looked for; with "error", none may be left). What can be chosen are promises at sites: see
`strengthening`. First, everything is as strong as it can be, and promises are taken away in halves as long as that is
enough. What is left says how much the cheapest choice costs at most; so what costs more need not be looked at, such as
fences in most programs. Then the search is that for a minimum-cost hitting set: the cheapest choice that is not
excluded is checked; if it is not enough, it is extended to one to which nothing can be added without the program's
being right, and what is outside of that is a clause of which each choice that is enough has something.

Why the answer is a cheapest one: **more is never worse**. Take an execution graph of the program with more promises.
Without the fences that were added, it is a graph of the program with less, with the same reads and the same values,
since fences write nothing. Each axiom of each model says that a relation has no circle, or is irreflexive, and each
of these relations is made from what orders promise in such a way that with less of it, it is the same or less on the
events that are left: synchronisation (`sw`, and with it `hb`), the events that are seq_cst (`psc`, and the fences of
ra), and what is kept of program order in tso and pso. So the graph is consistent there, too, and what is wrong in it,
or a data race (two accesses without `hb` between them) is so with less. Hence a choice that is not enough has no part
that is; clauses are right, whatever executions showed them; and the cheapest choice that meets all of them costs no
more than any that is enough. Loops that wait are cut short by other rules where orders are others, but the verdict
does not depend on that (docs/memory-models.md).

A check that was not complete shows nothing: what it was about counts neither as enough nor as not enough, and if the
answer depends on it, there is none.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mazurka import checking, options
from mazurka.deadline import Deadline
from mazurka.engines.running import INTERRUPTED, NO_MEMORY
from mazurka.errors import InputError
from mazurka.leeway import Leeway
from mazurka.program.program import Program
from mazurka.result import Result, Verdict
from mazurka.strengthening.orders import ALL
from mazurka.transforms import prepare

if TYPE_CHECKING:
    from mazurka.frontends.c import Compiled
    from mazurka.strengthening.hitting import Addition, Choice
    from mazurka.strengthening.orders import Promises
    from mazurka.strengthening.sites import Site, Strengthenable

# So many proposals are told at most.
MOST_PROPOSALS = 20


@dataclass(frozen=True, slots=True)
class Change:
    """One change of the source: the `operation` at this place gets the order `after` instead of `before`, or, if that
    is None, a fence of that order is added `where`: "before" the line or "after" it, with `braces` around both if the
    line is the body of an `if` or a loop."""

    file: str
    line: int
    column: int
    operation: str
    object: str | None
    before: str | None
    after: str
    where: str | None
    braces: bool
    cost: int

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}"
        if self.before is None:
            return f"{place}: add atomic_thread_fence(memory_order_{self.after}) {self.where} this line"
        of = {"load": " of", "store": " to"}.get(self.operation, " on")
        what = self.operation + (f"{of} `{self.object}`" if self.object else "")
        return f"{place}: {what}: memory_order_{self.before} -> memory_order_{self.after}"


@dataclass(frozen=True, slots=True)
class Proposal:
    """Changes with which the program is verified; no others that are cheaper have that effect."""

    changes: tuple[Change, ...]
    cost: int


@dataclass(frozen=True, slots=True)
class FencesProgress:
    """So many choices were checked; whoever is enough costs at least `bound`."""

    checks: int
    bound: int
    seconds: float


@dataclass(frozen=True, slots=True)
class FoundFences:
    """What was found. verdict: "verified" if nothing has to change; "proposals" if the first of the `proposals` is
    enough, and none that is cheaper; "bug" if nothing that can be strengthened helps; or "incomplete", for a `reason`:
    a proposal is then enough, but perhaps not the least.

    `result` is that of the program as it is; or, for "bug", one that shows what remains: in an `interleaving` of the
    program as it is, if there is such a one, or else with everything as strong as it can be. There are so many
    `sites`, and `computed` are the places of orders that are left as they are, since they are only known when the
    program runs. If the search was not complete, what is enough costs `at_least` so much, and some proposals may be
    missing: `more` says whether others that cost the same were left out, or may have been."""

    verdict: str
    result: Result
    memory_model: str
    sites: int
    checks: int
    seconds: float
    proposals: tuple[Proposal, ...] = ()
    interleaving: bool = False
    computed: tuple[tuple[str, int], ...] = ()
    reason: str | None = None
    at_least: int = 0
    more: bool = False

    @property
    def exit_code(self) -> int:
        return {"verified": 0, "proposals": 0, "bug": 1, "incomplete": 3}[self.verdict]

    def to_json(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "memory_model": self.memory_model,
            "proposals": [asdict(proposal) for proposal in self.proposals],
            "more": self.more,
            "interleaving": self.interleaving,
            "reason": self.reason,
            "at_least": self.at_least,
            "sites": self.sites,
            "checks": self.checks,
            "seconds": round(self.seconds, 6),
            "computed": [{"file": file, "line": line} for file, line in self.computed],
            "result": self.result.to_json(),
        }


def fences(
    source: checking.Files | Compiled,
    *,
    compiler_arguments: Sequence[str] = (),
    program_arguments: Sequence[str] = (),
    cc: str | None = None,
    memory: str = "c11",
    timeout: float | None = None,
    uninitialised: bool = True,
    any_status: bool = False,
    suppress_race: Sequence[str] | None = None,
    races: str = "warn",
    allow_livelock: bool = False,
    overflow: bool = True,
    alignment: bool = True,
    member_bounds: bool = True,
    spurious: bool = False,
    failing_malloc: bool = False,
    reuse_addresses: bool = False,
    nondet: str | None = None,
    stdin: str | None = None,
    compat: str | None = None,
    leaks: bool = False,
    max_steps: int | None = None,
    every: bool = False,
    progress: Callable[[FencesProgress], None] | None = None,
) -> FoundFences:
    """The least that has to be stronger in a program for it to be verified under its `memory` model: memory orders of
    atomic accesses and fences, or fences that are added. `every`: also the other proposals that cost the same, up to
    20. The other options are those of `check`; `timeout` is for all of it. `progress` is called before each check.
    Ctrl-C ends the search with what is known."""
    given = dict(locals())
    chosen = options.chosen(options.FENCES, given)
    start = time.monotonic()
    deadline = Deadline.after(chosen["timeout"])
    compiled = _compiled(source, compiler_arguments, cc, chosen)
    judging = {option.keyword: given[option.keyword] for option in options.FENCES_CHECKS}
    leeway = {option.keyword: given[option.keyword] for option in options.LEEWAY}

    def check(**other: Any) -> Result:
        """The program as it is."""
        asked = {**judging, **leeway, "timeout": _left(deadline), **other}
        checked = checking.check(compiled, program_arguments=program_arguments, **asked)
        if checked.reason == INTERRUPTED and other:
            raise KeyboardInterrupt
        return checked

    result = check()
    search = _Search(deadline, judging, start, progress)

    def found(verdict: str, shown: Result = result, **other: Any) -> FoundFences:
        strong = search.strengthenable
        return FoundFences(
            *(verdict, shown, memory, len(strong.sites) if strong else 0, search.checks, time.monotonic() - start),
            computed=strong.computed if strong else (),
            **other,
        )

    if result.verdict is Verdict.INCOMPLETE:
        return found("incomplete", reason=f"the check of the program as it is was not complete: {_why(result)}")
    if result.verdict is Verdict.OK and not result.races:
        return found("verified")
    if memory == "sc":
        return found("verified" if result.verdict is Verdict.OK else "bug", interleaving=True)
    try:
        search.load(compiled, program_arguments, options.picked(Leeway, chosen))
        strongest = search.with_orders()
        if strongest is None:
            # Whatever orders there are, interleavings are among the executions; data races may not be among what is
            # wrong with them.
            in_order = check(memory="sc", races="warn" if races == "error" else races)
            if in_order.verdict is Verdict.BUG:
                return found("bug", in_order, interleaving=True)
            strongest = search.with_everything()
        if strongest.verdict is Verdict.BUG:
            # (A schedule of another program than the one that was given is of no use.)
            return found("bug", replace(strongest, schedule=None))
        if strongest.verdict is Verdict.INCOMPLETE:
            raise _Stopped(f"the check with everything as strong as it can be was not complete: {_why(strongest)}")
        if result.verdict is Verdict.OK and search.only_known(result):
            return found("verified")
        search.run(MOST_PROPOSALS if every else 1)
    except (_Stopped, KeyboardInterrupt, MemoryError) as stopped:
        known = {KeyboardInterrupt: INTERRUPTED, MemoryError: NO_MEMORY}
        reason = known.get(type(stopped), str(stopped))
        if not search.proposals:
            other = (search.least,) if search.least is not None else ()
            return found("incomplete", proposals=other, reason=reason, at_least=search.bound)
        return found("proposals", proposals=tuple(search.proposals), more=True, reason=reason)
    return found("proposals", proposals=tuple(search.proposals), more=search.more)


def _compiled(
    source: checking.Files | Compiled, arguments: Sequence[str], cc: str | None, chosen: dict[str, Any]
) -> Compiled:
    from mazurka.frontends.c import Compiled, compile_c
    from mazurka.frontends.c.compiler import compat_arguments

    if isinstance(source, Compiled):
        return source
    if isinstance(source, Program):
        raise InputError("fences are proposed in terms of the source: give the files, not a Program made of them")
    arguments = [*compat_arguments(chosen["compat"]), *arguments]
    return compile_c(checking.file_list(source), compiler_arguments=arguments, cc=cc)


class _Stopped(Exception):
    """There is no answer, and why."""


def _why(result: Result) -> str:
    if result.reason is None:
        return "loops were stopped at a bound, or executions at a limit"
    return result.reason


def _left(deadline: Deadline) -> float | None:
    return None if deadline.timeout is None else max(deadline.left(), 0.001)


@dataclass(slots=True)
class _Search:
    deadline: Deadline
    judging: dict[str, Any]
    start: float
    progress: Callable[[FencesProgress], None] | None
    strengthenable: Strengthenable | None = None
    checks: int = 0
    bound: int = 0
    more: bool = False
    least: Proposal | None = None  # of which nothing can be left out, though others may cost less
    proposals: list[Proposal] = field(default_factory=list)
    known_races: set[tuple[Any, ...]] | None = None  # those that no order removes, as soon as that is known
    enough: list[Choice] = field(default_factory=list)
    not_enough: list[Choice] = field(default_factory=list)

    def load(self, compiled: Compiled, program_arguments: Sequence[str], leeway: Leeway) -> None:
        from mazurka.frontends.c import load_c_program
        from mazurka.strengthening.sites import Strengthenable

        program = load_c_program(compiled, program_arguments=program_arguments, leeway=leeway)
        self.strengthenable = Strengthenable(program)

    @property
    def sites(self) -> tuple[Site, ...]:
        assert self.strengthenable is not None
        return self.strengthenable.sites

    def with_orders(self) -> Result | None:
        """The check with all orders as strong as they can be, if nothing is wrong then: there is no need for fences."""
        choice = frozenset(each for each in self._everything() if self.sites[each[0]].order is not None)
        result = self._check(choice)
        if result.verdict is not Verdict.OK or result.races:
            return None
        self.enough, self.known_races = [choice], set()
        return result

    def with_everything(self) -> Result:
        """The check with everything as strong as it can be, which knows of the data races that no order removes."""
        choice = self._everything()
        result = self._check(choice)
        self.enough, self.known_races = [choice], {race.identity for race in result.races}
        return result

    def only_known(self, result: Result) -> bool:
        return all(race.identity in (self.known_races or ()) for race in result.races)

    def run(self, most: int) -> None:
        """Find so many proposals, or as many as there are that cost the least."""
        from mazurka.strengthening.hitting import HittingSets

        least = self._reduced(self.enough[0])
        self.least = self._proposal(least)
        # What costs more by itself is in no choice that costs the least.
        affordable = frozenset(
            (number, promise)
            for number, promise in self._everything()
            if self._cost(self._closed(frozenset([(number, promise)]))) <= self.least.cost
        )
        hitting = HittingSets(self.sites, affordable)
        while (choice := hitting.cheapest()) is not None:
            if self.proposals and hitting.bound > self.bound:
                return
            self.bound = hitting.bound
            if len(self.proposals) == most:
                self.more = most > 1
                return
            right, result = self._judged(choice)
            if right:
                self.proposals.append(self._proposal(choice))
                if most == 1:
                    return
                hitting.forbid(choice)
            elif right is None:
                raise _Stopped(f"the check of a choice of {len(choice)} was not complete: {_why(result)}")
            else:
                hitting.exclude(self._extended(choice, affordable, result))
        if not self.proposals:
            raise AssertionError("a choice that was enough is not any more")

    def _reduced(self, choice: Choice) -> Choice:
        """A choice that is enough, without what can be left out: what costs the most first, such as fences."""
        costs = {
            each: self.sites[each[0]].cost(ALL)
            if self.sites[each[0]].order is None
            else self._cost(choice) - self._cost(self._opened(choice, [each]))
            for each in choice
        }
        for cost in sorted(set(costs.values()), reverse=True):
            choice = self._without(choice, sorted(each for each in choice if costs[each] == cost))
        return choice

    def _opened(self, choice: Choice, group: Iterable[Addition]) -> Choice:
        """Without a group, and without what has all other promises."""
        left_out = {each for number, promise in group for each in ((number, promise), (number, "seq_cst"))}
        return frozenset(each for each in choice if each not in left_out)

    def _without(self, choice: Choice, group: Sequence[Addition]) -> Choice:
        """A choice that is enough, without as much of a group as can be left out."""
        if not group:
            return choice
        smaller = self._opened(choice, group)
        if smaller == choice or self._is_right(smaller):
            return smaller
        if len(group) == 1:
            return choice
        middle = len(group) // 2
        return self._without(self._without(choice, group[:middle]), group[middle:])

    def _extended(self, choice: Choice, possible: Choice, result: Result) -> Choice:
        """A choice that is not enough, extended by what does not make it so: first by all that the execution that shows
        it does not come by, for that goes wrong with it all the same, as a check confirms; then in halves."""
        rest = sorted(possible - choice)
        lines = _lines(result)
        near = [each for each in rest if lines is None or self._line(each) in lines]
        current = choice
        for group in ([each for each in rest if each not in set(near)], near):
            current = self._with(current, group)
        self.not_enough.append(current)
        return current

    def _with(self, choice: Choice, group: Sequence[Addition]) -> Choice:
        """A choice with as much of a group as does not make it enough."""
        if not group:
            return choice
        larger = self._closed(choice | frozenset(group))
        if self._is_right(larger) is False:
            return larger
        if len(group) == 1:
            return choice
        middle = len(group) // 2
        return self._with(self._with(choice, group[:middle]), group[middle:])

    def _closed(self, choice: Choice) -> Choice:
        """With all that seq_cst implies."""
        more = [(site, each) for site, promise in choice if promise == "seq_cst" for each in self.sites[site].missing]
        return choice | frozenset(more)

    def _everything(self) -> Choice:
        return frozenset((number, each) for number, site in enumerate(self.sites) for each in site.missing)

    def _cost(self, choice: Choice) -> int:
        return sum(self.sites[number].cost(more) for number, more in _by_site(choice).items())

    def _line(self, addition: Addition) -> tuple[str, int]:
        site = self.sites[addition[0]]
        return site.file, site.line

    def _is_right(self, choice: Choice) -> bool | None:
        """Whether a choice is enough, which may be known without another check."""
        if any(choice >= other for other in self.enough):
            return True
        return False if any(choice <= other for other in self.not_enough) else self._judged(choice)[0]

    def _judged(self, choice: Choice) -> tuple[bool | None, Result]:
        """Whether a choice is enough, as a check says; None: that was not complete."""
        result = self._check(choice)
        if result.verdict is Verdict.INCOMPLETE:
            return None, result
        right = result.verdict is Verdict.OK and self.only_known(result)
        (self.enough if right else self.not_enough).append(choice)
        return right, result

    def _check(self, choice: Choice) -> Result:
        if self.progress is not None:
            self.progress(FencesProgress(self.checks, self.bound, time.monotonic() - self.start))
        if self.deadline.left() <= 0:
            raise _Stopped(self.deadline.reason)
        assert self.strengthenable is not None
        program = self.strengthenable.program(_by_site(choice))
        # Also where nothing is weak: interleavings are all there is to such a program only if it has no data race, and
        # not all of them have to go.
        prepare(program, weak=True)
        races = self.judging["races"]
        if self.known_races == set():
            races = "error" if races == "warn" else races  # the first one will do
        asked = {**self.judging, "races": races, "algorithm": "graphs", "timeout": _left(self.deadline)}
        result = checking.check(program, **asked)
        self.checks += 1
        if result.reason == INTERRUPTED:
            raise KeyboardInterrupt
        if result.verdict is Verdict.INCOMPLETE and self.deadline.left() <= 0:
            raise _Stopped(self.deadline.reason)
        return result

    def _proposal(self, choice: Choice) -> Proposal:
        changes = []
        for number, more in sorted(_by_site(choice).items(), key=lambda item: _reading_order(self.sites[item[0]])):
            site = self.sites[number]
            place = site.file, site.line, site.column, site.operation, site.object, site.order
            changes.append(Change(*place, site.with_more(more), site.where, site.braces, site.cost(more)))
        return Proposal(tuple(changes), sum(change.cost for change in changes))


def _by_site(choice: Choice) -> dict[int, Promises]:
    numbers = sorted({number for number, _ in choice})
    return {number: frozenset(promise for site, promise in choice if site == number) for number in numbers}


def _reading_order(site: Site) -> tuple[Any, ...]:
    return site.file, site.line, site.where == "after", site.column, site.operation


def _lines(result: Result) -> set[tuple[str, int]] | None:
    """The lines that an execution comes by, if that is known of all."""
    if result.trace is None or result.trace.omitted:
        return None
    lines: Iterable[tuple[str | None, int | None]] = ((step.file, step.line) for step in result.trace.steps)
    return {(file, line) for file, line in lines if file is not None and line is not None}
