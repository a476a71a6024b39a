"""What all searches over abstract reachability trees share: making nodes, covering them, telling what went wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import NoReturn

from mazurka.constrained.impact.labels import Labels
from mazurka.constrained.impact.rounds import TooManyRounds, with_rounds
from mazurka.constrained.impact.summaries import Summaries
from mazurka.constrained.impact.tree import Key, TreeNode, root_of
from mazurka.constrained.model import FailureCause, LocalLoop, Location, Model, Transition, dependent
from mazurka.constrained.model.solver import Solver
from mazurka.constrained.model.terms import TRUE, Term, compare, conjunction, constant, negation, substitute, variable
from mazurka.constrained.proof import Counterexample
from mazurka.errors import InputError
from mazurka.executions.schedule import Schedule, Step
from mazurka.leeway import TRUSTING
from mazurka.machine.layout import address_of

# Locations at which threads wait for ever, in the states of a condition.
Deadlock = tuple[tuple[Location, ...], Term]


@dataclass(slots=True)
class Counters:
    nodes: int = 0  # made
    covered: int = 0  # coverings made


class Imprecise(Exception):
    """What was left open of local loops matters: the search has to begin anew, and go round in these."""


class Unwinding:
    """A tree that grows. `open` are the nodes to be looked at; `found` is what has gone wrong so far. `unrolled` are
    the local loops in which each round is looked at, and `summarised` those in which none is. `shows_everything`: what
    goes wrong has to be shown, even if that takes more rounds of a loop than there is time for."""

    shows_everything = True

    def __init__(self, model: Model, solver: Solver, counters: Counters, *, shortcuts: bool) -> None:
        self.model = model
        self.solver = solver
        self.counters = counters
        self.labels = Labels(solver, shortcuts=shortcuts)
        self.found: list[Counterexample] = []
        self.unrolled: set[LocalLoop] = set()
        self._summaries = Summaries(solver.integers)
        self._blocks = {address_of(thread.number + 1, 0): thread.number for thread in model.threads}
        self.begin()

    def begin(self) -> None:
        """A tree with nothing but a root."""
        self.root = root_of(self.model)
        self.made = 1
        self.by_key: dict[Key, list[TreeNode]] = {self.root.key: [self.root]}
        self.open: list[TreeNode] = [self.root]
        self.summarised: set[LocalLoop] = set()
        for location in self.root.locations:
            self._summarise(self.root, location.thread)
        self.labels.changed.clear()
        self.counters.nodes += 1

    # ------------------------------------------------------------------------------------------- growing

    def child(self, node: TreeNode, transition: Transition) -> TreeNode:
        """Where a transition leads; not in the tree yet."""
        number = self.made
        self.made += 1
        names = {each.term: variable(f"{each.term.name}@{number}", each.term.width) for each in transition.inputs}
        now = {**node.values, **names}
        ranges = [substitute(compare("ult", each.term, each.count), now) for each in transition.inputs]
        taken = [each for each in [substitute(transition.condition, now), *ranges] if not each.is_true]
        feasible = node.feasible and not self.solver.implies(node.path, negation(conjunction(taken)))
        values = dict(node.values)
        for assigned, value in transition.assigns.items():
            values[assigned.term] = substitute(value, now)
        explicit = {term: values[term] for term in node.explicit}
        assert all(value.is_constant for value in explicit.values()), (transition.number, explicit)
        locations = list(node.locations)
        locations[transition.thread] = transition.target
        for started in transition.starts:
            locations[started] = self.model.threads[started].entry
        path = (*node.path, *taken)
        inputs = tuple(names.values())
        made = TreeNode(number, node, transition, tuple(locations), explicit, values, path, inputs, feasible)
        made.exact = node.exact
        for arrived in (transition.thread, *transition.starts):
            self._summarise(made, arrived)
        return made

    def _summarise(self, node: TreeNode, thread: int) -> None:
        """If a thread has arrived at a local loop that ends, let the node stand for all rounds of it."""
        loop = node.locations[thread].loop
        if loop is None or loop.ranks is None or loop in self.unrolled or _comes_round(node, thread, loop):
            return
        known: tuple[Term, ...] = ()
        if node.feasible:
            holds = partial(self.labels.is_true_on_path, node)
            known = self._summaries.invariants(loop, node.values, holds)
        for each in loop.changed:
            node.values[each.term] = variable(f"{each.name}~{node.number}", each.term.width, each.term.length)
        node.path = (*node.path, *(substitute(fact, node.values) for fact in known))
        node.summaries[loop] = known
        node.exact = False
        self.summarised.add(loop)

    def unroll(self, loops: Iterable[LocalLoop]) -> NoReturn:
        """Begin anew, and look at each round of some loops."""
        self.unrolled.update(loops)
        raise Imprecise

    def attach(self, node: TreeNode, thread: int, children: list[TreeNode]) -> None:
        node.children[thread] = children
        for child in children:
            self.by_key.setdefault(child.key, []).append(child)
        self.counters.nodes += len(children)
        self.open += reversed(children)

    def exclude(self, node: TreeNode, transition: Transition, *, is_shortcut: bool = False) -> bool:
        """Let the label of a node say that a transition is impossible, as it is on the path there."""
        never = self.labels.never(node, transition)
        if never is not None and self.labels.require(node, never, is_shortcut):
            return True
        if not node.exact:
            self.unroll(node.summarised_loops())
        if transition.failure is not None:
            raise InputError(
                f"{_place(transition.failure)}whether this can fail depends on inputs in a way that this engine cannot "
                f"describe ({transition.failure.message}): restrict them with __VERIFIER_assume where they are made"
            )
        return False

    def cuts(self, node: TreeNode, child: TreeNode) -> bool:
        """Whether a branch that the path excludes is excluded by the label from now on, which is a shortcut."""
        if child.feasible or child.transition is None or not self.labels.shortcuts:
            return False
        return self.exclude(node, child.transition, is_shortcut=True)

    # ------------------------------------------------------------------------------------------ covering

    def missing(self, node: TreeNode, other: TreeNode) -> list[Term]:
        """What is known at `other` and does not follow at `node`, as far as that can be seen from the paths to them
        from their last common ancestor. The rest is known at `node` from now on."""
        ancestors = set(node.path_from_root())
        common = other
        while common not in ancestors:
            assert common.parent is not None
            common = common.parent
        return [fact for fact in list(other.label) if not self.labels.derive(node, fact, common)]

    def cover(self, node: TreeNode, other: TreeNode) -> None:
        node.cover(other)
        self.counters.covered += 1

    def reopen(self) -> None:
        """Coverings by nodes whose labels have become stronger have to be found anew."""
        for node in self.labels.changed:
            self._reopen(node)
        self.labels.changed.clear()

    def _reopen(self, node: TreeNode) -> None:
        for covered in sorted(node.covers, key=lambda each: each.number):
            covered.uncover()
            self.open.append(covered)

    def remove(self, node: TreeNode) -> None:
        """Take a node and all below it out of the tree."""
        for below in list(node.descendants()):
            below.in_tree = False
            self.by_key[below.key].remove(below)
            below.uncover()
            self._reopen(below)

    # -------------------------------------------------------------------------------- what goes wrong

    def circles(self, node: TreeNode) -> list[Deadlock]:
        """Threads that may wait for each other at a node, each for what the next one holds, whatever the others do."""
        waits = [self._waits_for(node, location) for location in node.locations]
        return [(tuple(node.locations[thread] for thread in threads), when) for threads, when in _circles(waits)]

    def nobody_runs(self, node: TreeNode) -> list[Deadlock]:
        """When no thread can go on at a node, and not because of an assumption, or because `main` has returned."""
        threads = [location for location in node.locations if location.rest is None]
        excused = any(location.rest in ("stuck", "return") for location in node.locations)
        if node.ended or excused or any(location.waits != "await" for location in threads):
            return []
        stay = [part for location in threads for part in (negation(location.enabled), location.awaits)]
        nobody = self.labels.at(node, conjunction(stay))
        return [] if nobody.is_false else [(tuple(threads), nobody)]

    def _waits_for(self, node: TreeNode, location: Location) -> dict[int, Term]:
        """When a thread waits for what another one holds."""
        if location.rest is not None or location.waits != "await" or location.holder is None:
            return {}
        disabled = self.labels.at(node, negation(location.enabled))
        if disabled.is_false:
            return {}
        holder = self.labels.at(node, location.holder)
        if holder.is_constant:
            other = self._blocks.get(holder.value)
            return {} if other is None else {other: disabled}
        waits = {
            other: conjunction([disabled, _is_held_by(holder, address)]) for address, other in self._blocks.items()
        }
        return {other: condition for other, condition in waits.items() if not condition.is_false}

    def deadlock(self, node: TreeNode, condition: Term) -> Counterexample | None:
        """How the path to a node leads to a deadlock, if it can."""
        if self.labels.is_true_on_path(node, negation(condition)):
            return None
        failure = FailureCause("deadlock", "threads wait for each other", None)
        return self.counterexample(node, failure, condition)

    def exclude_deadlock(self, node: TreeNode, condition: Term) -> None:
        """Let the label of a node say that there is no deadlock, as there is none on the path there."""
        if not self.labels.require(node, negation(condition)):
            if not node.exact:
                self.unroll(node.summarised_loops())
            places = ", ".join(str(each.point.source) for each in node.locations if each.point and not each.rest)
            raise InputError(
                f"{places}: whether threads wait here for ever depends on inputs in a way that this engine cannot "
                "describe: restrict the inputs with __VERIFIER_assume where they are made"
            )

    def counterexample(self, node: TreeNode, failure: FailureCause, condition: Term = TRUE) -> Counterexample:
        """How the path to a node is taken, so that `condition` holds at its end."""
        nodes = node.path_from_root()[1:]
        wanted = [name for each in nodes for name in each.inputs]
        values = self.solver.values([*node.path, substitute(condition, node.values)], wanted)
        assert values is not None
        chosen = dict(zip(wanted, values, strict=True))
        taken = [(each.transition, tuple(chosen[name] for name in each.inputs)) for each in nodes if each.transition]
        if not node.exact:
            try:
                rounds = with_rounds(self.model, taken, condition, self.unrolled)
            except TooManyRounds:
                if not self.shows_everything:
                    raise
                rounds = None
            if rounds is None:
                self.unroll(node.summarised_loops())
            taken = rounds
        if failure.kind == "beyond":
            raise InputError(f"{_place(failure)}{failure.message}")
        steps: list[tuple[int, list[int]]] = []
        # The choices of each thread's last step, to which silent transitions belong: at its beginning, the step that
        # has created it; what the first thread computes at its beginning is no step.
        last: dict[int, list[int]] = {0: []}
        for transition, inputs in taken:
            thread = transition.thread
            if not transition.silent:
                last[thread] = []
                steps.append((thread, last[thread]))
            last[thread] += inputs
            last.update((started, last[thread]) for started in transition.starts)
        names = tuple(thread.name for thread in self.model.threads)
        choices = tuple(Step(names[thread], tuple(choices)) for thread, choices in steps)
        schedule = Schedule(names, choices, transforms=self.model.transforms, inputs=True, leeway=TRUSTING)
        path, values_on_it = zip(*taken, strict=True) if taken else ((), ())
        return Counterexample(failure.kind, failure.message, path, values_on_it, schedule)


def _comes_round(node: TreeNode, thread: int, loop: LocalLoop) -> bool:
    """Whether a thread in a local loop has been at the same location before, since it came there."""
    location = node.locations[thread]
    while node.parent is not None and node.transition in loop.transitions:
        node = node.parent
        if node.locations[thread] is location:
            return True
    return False


def _place(failure: FailureCause) -> str:
    return f"{failure.location}: " if failure.location is not None else ""


def _is_held_by(holder: Term, address: int) -> Term:
    return compare("eq", holder, constant(address, holder.width))


def _circles(waits: list[dict[int, Term]]) -> list[tuple[tuple[int, ...], Term]]:
    """All circles of threads that wait for each other, and when; each thread comes with those it may wait for."""
    circles: list[tuple[tuple[int, ...], Term]] = []

    def follow(passed: tuple[int, ...], so_far: Term) -> None:
        for other, condition in waits[passed[-1]].items():
            together = conjunction([so_far, condition])
            if together.is_false:
                continue
            if other == passed[0]:
                circles.append((passed, together))
            elif other > passed[0] and other not in passed:
                follow((*passed, other), together)

    for first in range(len(waits)):
        follow((first,), TRUE)
    return circles


def is_skipped(node: TreeNode, thread: int) -> bool:
    """Whether a thread need not run at a node (the paper's `Skip`): it might as well have run before the last step, of
    a thread with a higher number, which it has nothing to do with; and there it is not left out for the same reason
    for ever, since each loop has a transition after which nobody is. (Silent transitions belong to the step.)"""
    last = node.transition
    step: list[Transition] = []
    while last is not None and last.silent and not last.back and node.parent is not None:
        step.append(last)
        node = node.parent
        last = node.transition
    if last is None or last.silent or last.back or thread >= last.thread:
        return False
    step.append(last)
    return not any(dependent(each, part) for each in node.locations[thread].transitions for part in step)
