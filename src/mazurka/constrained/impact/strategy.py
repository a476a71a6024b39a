"""Incomplete verification results: schedules that are proved to be safe, more of them with each iteration.

An iteration looks for a *strategy* of the scheduler: at each node one thread that surely can run, all of whose
transitions lead to nodes that have a strategy. If that fails for a thread, another one is tried (the paper's
`Backtrack`). A node whose states are among those of an earlier one is covered by it, unless an unfair cycle would arise
(`Close`). Branches that the path to a node excludes are excluded by its label (`Refine`), so that the first strategy
has few of them: a shortcut (see `labels`).

Later iterations add more threads at nodes that have some left (`New_Schedule_Start`), and strategies for where that
leads. The result permits what was found before, and more. What makes a program fast is a choice in the cycles in which
it stays, not at its beginning, so these come first: that anybody may go where somebody has gone round, also the one
that has; then what else there is.

A cycle is fair if each thread that can run in it takes a step in it, or may run at one of its nodes instead of the
thread that does: an offer that is made again and again is taken (the paper's Definition 4). Nothing rests on an offer
that has been withdrawn: a thread is removed from a node only if it was the only one there, and then no cycle goes
through the node any more; or everything becomes again what it was before the thread was added.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain

from mazurka.constrained.impact.rounds import TooManyRounds
from mazurka.constrained.impact.tree import Snapshot, TreeNode, must_be_idle, on_cycles, proof_of
from mazurka.constrained.impact.unwinding import Counters, Imprecise, Unwinding, is_skipped
from mazurka.constrained.model import Model, Transition
from mazurka.constrained.model.solver import Solver
from mazurka.constrained.model.terms import FALSE, conjunction, negation, substitute
from mazurka.constrained.proof import Counterexample, Proof

# Coverings that need stronger labels can need stronger labels again, for ever.
_FORCED = 2

_PATIENCE = 300  # in nodes made and in the solver's work
_PATIENCE_PER_THREAD = 40  # more than that
_PATIENCE_LATER = 10  # times that, for an iteration that is not the first
_ENOUGH = 40_000  # there is no more patience than that


class _OtherLabels(Exception):
    """The search should begin anew with the other kind of labels."""


class Strategy(Unwinding):
    """`stopped` ends the search at the next node. It can also end although there is a strategy. `last_first`: of
    threads that have waited equally long, the one that is created last goes first."""

    stopped = False
    shows_everything = False  # a thread that may be to blame does not run, and that is all that matters

    def __init__(self, model: Model, solver: Solver, counters: Counters, *, last_first: bool = False) -> None:
        self._last_first = last_first
        self._patience = _PATIENCE + _PATIENCE_PER_THREAD * len(model.threads)
        self._only_shortcuts = False  # the other labels were tried in vain
        super().__init__(model, solver, counters, shortcuts=True)

    def begin(self) -> None:
        super().begin()
        self._lost: set[object] = set()  # states from which there is no strategy
        self._in_the_way = False  # whether a covering has failed because of shortcuts
        self._is_first = True  # whether this is the first iteration
        self._spent_before = self.made + self.solver.work

    def iterate(self) -> Iterator[Proof | Counterexample | None]:
        """The results of the iterations. When the search has begun anew, what the last proof permits comes first, and
        is not yielded again. None: it will take more patience, if it leads to anything."""
        proof: Proof | None = None  # the last one
        known: set[object] = set()  # where those counterexamples end that have been yielded
        while True:
            try:
                self._is_first = True
                progress = self._solve(0)
                self._is_first = False
                while progress and proof is not None and (start := self._lack(proof)) is not None:
                    self._add_thread(*start)
                while not self.stopped:
                    yield from self._new_examples(known)
                    if not progress:
                        return
                    if proof is None:
                        proof = proof_of(self.model, self.root, self.labels.is_possible)
                        yield proof
                    starts = self._new_starts()
                    if not starts:
                        return
                    before = self.made + self.solver.work
                    for node, thread in starts:
                        is_enough = proof is None and self.made + self.solver.work > before + _PATIENCE
                        if not self.stopped and not is_enough and self._add_thread(node, thread):
                            proof = None
                return
            except Imprecise:
                yield from self._new_examples(known)
                self.begin()
            except _OtherLabels:
                yield from self._new_examples(known)
                if not self.labels.shortcuts:
                    self._patience *= 2
                    self._only_shortcuts = True
                    if self._patience > _ENOUGH:
                        return
                    yield None
                self.labels.shortcuts = not self.labels.shortcuts
                self.begin()

    def _new_examples(self, known: set[object]) -> Iterator[Counterexample]:
        """What has gone wrong, unless there is something known that has gone wrong at the same place."""
        for example in self.found:
            end = example.path[-1] if example.kind != "deadlock" else _last_steps(example)
            if end not in known:
                known.add(end)
                yield example
        self.found.clear()

    def _add_thread(self, node: TreeNode, thread: int) -> bool:
        """Let one more thread run at a node, and find strategies for where that leads. If there are none, everything is
        as it was."""
        before = Snapshot(self.root)
        first = self.made
        self._in_the_way = False
        self._spent_before = self.made + self.solver.work
        if self._surely_runs(node, thread) and self._expand_thread(node, thread):
            self.reopen()
            if self._solve(first):
                return True
        if not self.stopped:
            before.restore()
            self.by_key = {}
            for each in sorted(self.root.descendants(), key=lambda each: each.number):
                self.by_key.setdefault(each.key, []).append(each)
            self.open.clear()
            self.labels.changed.clear()
        node.failed.add(thread)
        return False

    def _lack(self, proof: Proof) -> tuple[TreeNode, int] | None:
        """A node and a thread that does not run there yet, but does in a proof; not one that was tried in vain."""
        reached = {(0, self.root)}
        waiting = deque(reached)
        while waiting:
            number, node = waiting.popleft()
            known = proof.nodes[number]
            if known.covered_by is not None:
                known = proof.nodes[known.covered_by]
            if node.covered_by is not None:
                node = node.covered_by
            for thread in known.threads:
                if thread not in node.children and thread not in node.failed:
                    return node, thread
            targets = {edge.transition: edge.target for edge in known.edges}
            for child in chain.from_iterable(node.children.values()):
                if child.transition in targets:
                    pair = targets[child.transition], child
                    if pair not in reached:
                        reached.add(pair)
                        waiting.append(pair)
        return None

    def _new_starts(self) -> list[tuple[TreeNode, int]]:
        """Nodes with threads that could run there as well: all threads at those nodes of cycles at which a round has
        ended, and last those that have gone round, since that they may go round for ever is only fair where all others
        may go as well. If there are none left, the first thread at the first node of a cycle, breadth first, or else of
        all nodes. A thread that could as well have run before the last step, which it has nothing to do with, is left
        out (the paper's `Skip`)."""
        cycles = on_cycles(self.root)
        starts: list[list[tuple[TreeNode, int]]] = [[], [], [], []]
        waiting = deque([self.root])
        while waiting:
            node = waiting.popleft()
            rounds = _rounds(node) if node in cycles else set()
            for thread in self._order(node) if node.children else ():
                is_done = thread in node.children or thread in node.failed or node.locations[thread].rest
                if not is_done and not is_skipped(node, thread):
                    urgency = 3 if node not in cycles else 2 if not rounds else 1 if thread in rounds else 0
                    starts[urgency].append((node, thread))
            for child in chain.from_iterable(node.children.values()):
                assert child.transition is not None
                if self.labels.is_possible(node, child.transition):
                    waiting.append(child)
        return starts[0] + starts[1] or starts[2][:1] or starts[3][:1]

    def _solve(self, first: int) -> bool:
        """Find strategies for all open nodes; only nodes from number `first` on may change their minds."""
        while self.open:
            if self.stopped or not self._is_patient():
                return False
            node = self.open.pop()
            if not node.in_tree or node.children or node.covered_by is not None or node.ended:
                continue
            hopeless = None
            if node.state in self._lost:
                hopeless = node
            elif not self._close(node):
                self._unroll_if_needed(node)
                hopeless = self._going_round(node)
                if hopeless is None and not self._expand(node):
                    hopeless = node
            self.reopen()
            if hopeless is not None:
                if hopeless.state is not None:
                    self._lost.add(hopeless.state)
                parent, transition = hopeless.parent, hopeless.transition
                if parent is None or transition is None or parent.number < first:
                    if self._is_first and self.summarised:
                        self.unroll(self.summarised)
                    return False
                parent.failed.add(transition.thread)
                for child in parent.children.pop(transition.thread):
                    self.remove(child)
                assert not parent.children, "an offer on which others may rest is withdrawn"
                self.open.append(parent)
        return True

    def _unroll_if_needed(self, node: TreeNode) -> None:
        """If a round of a local loop leads to where more is known than it keeps, it has to be looked at."""
        transition = node.transition
        loop = transition.target.loop if transition is not None else None
        if loop in self.summarised and transition in loop.transitions and loop not in node.summaries:
            self.unroll([loop])

    def _is_patient(self) -> bool:
        """Labels with shortcuts make loops that end after a while easy: they are unrolled. Those without are needed for
        others. Which it is is not known in advance, so both are tried in turn, with more patience each time. In a later
        iteration shortcuts are given up as soon as they are in the way, unless the first one needs them, and it is
        itself given up in the end."""
        spent = self.made + self.solver.work - self._spent_before
        in_the_way = self.labels.shortcuts and self._in_the_way and not self._only_shortcuts
        if spent > self._patience if self._is_first else in_the_way:
            raise _OtherLabels
        return spent < _PATIENCE_LATER * self._patience

    # ------------------------------------------------------------------------------------------- closing

    def _close(self, node: TreeNode) -> bool:
        """Find a node that covers this one."""
        for other in self.by_key[node.key]:
            if other is node or other.covered_by is not None or not (other.children or other.ended):
                continue
            false = [fact for fact in other.label if not self.labels.is_true_on_path(node, fact)]
            if not false:
                if self._is_fair(node, other) and self._entails(node, other):
                    self.cover(node, other)
                    return True
            elif not self._in_the_way and all(other.label[fact] for fact in false):
                self._in_the_way = self._is_fair(node, other)
        return False

    def _is_fair(self, node: TreeNode, other: TreeNode) -> bool:
        """Whether no unfair cycle arises if `other` covers `node`; that is known at the nodes from then on."""
        idle = []
        for each, thread in must_be_idle(node, other):
            location = each.locations[thread]
            if location.rest is None:
                disabled = negation(self.labels.at(each, location.enabled))
                if disabled.is_false or not self.labels.is_true_on_path(each, disabled):
                    return False
                if not disabled.is_true:
                    idle.append((each, disabled))
        return all([self.labels.require(each, disabled) for each, disabled in idle])

    def _entails(self, node: TreeNode, other: TreeNode) -> bool:
        """Whether all that is known at `other` is known at `node`, or can be."""
        path = node.path_from_root()
        before, changed = [dict(each.label) for each in path], dict(self.labels.changed)
        missing = self.missing(node, other)
        if missing and other in path and all([self.labels.require(other, fact) for fact in other.summary()]):
            missing = self.missing(node, other)
        while missing and node.forced < _FORCED and all(self.labels.is_true_on_path(node, fact) for fact in missing):
            node.forced += 1
            if not all([self.labels.require(node, fact, other.label[fact]) for fact in missing]):
                break
            missing = self.missing(node, other)
        if missing:
            self._in_the_way = self._in_the_way or all(other.label[fact] for fact in missing)
            self.labels.changed = changed
            for each, label in zip(path, before, strict=True):
                each.label = label
        return not missing

    def _going_round(self, node: TreeNode) -> TreeNode | None:
        """A node from which the path has come by the same place so often that every thread has had its turn, and still
        one would starve if it went on so: the first such node. There is little hope then that it goes better with other
        turns on the way."""
        enough = len(node.locations) + 2
        same = [other for other in node.path_from_root()[:-1] if other.key == node.key]
        if len(same) > enough and node.state is not None:
            same = [other for other in same if other.state == node.state]
        elif len(same) > enough:
            same = [each for each in same if all(self.labels.is_true_on_path(node, fact) for fact in each.label)]
        return same[0] if len(same) > enough else None

    # ----------------------------------------------------------------------------------------- expanding

    def _expand(self, node: TreeNode) -> bool:
        """Let a thread run that surely can; False if there is none left, or if threads may be in a deadlock."""
        for _, condition in self.circles(node):
            try:
                deadlock = self.deadlock(node, condition)
            except TooManyRounds:
                return False
            if deadlock is not None:
                self.found.append(deadlock)
                return False
            self.exclude_deadlock(node, condition)
        for thread in self._order(node):
            if thread not in node.failed and self._surely_runs(node, thread) and self._expand_thread(node, thread):
                return True
            node.failed.add(thread)
        if not node.feasible:
            return self.labels.require(node, FALSE)
        if self._is_over(node):
            return True
        for _, condition in self.nobody_runs(node):
            with suppress(TooManyRounds):
                deadlock = self.deadlock(node, condition)
                if deadlock is not None:
                    self.found.append(deadlock)
        return False

    def _is_over(self, node: TreeNode) -> bool:
        """Whether `main` has returned and nobody can go on, so that the process ends, whoever waits."""
        if not any(location.rest == "return" for location in node.locations):
            return False
        nobody = conjunction([negation(location.enabled) for location in node.locations if location.rest is None])
        node.over = self.labels.is_true_on_path(node, nobody) and self.labels.require(node, nobody)
        return node.over

    def _order(self, node: TreeNode) -> list[int]:
        """The threads, as they should be tried: the one that ran last goes on until it has gone round a loop, then it
        is the turn of the one that has not run for longest. Those that an assumption would stop for good come last."""
        if node.busy is not None:
            return [node.busy]
        path = node.path_from_root()
        last_run = {location.thread: 0 for location in node.locations}
        rounds = 0  # of loops, by anybody
        rounds_then = dict(last_run)  # when a thread ran last
        for time, each in enumerate(path):
            if each.transition is not None:
                last_run[each.transition.thread] = time
                rounds += each.transition.back
                for thread in (each.transition.thread, *each.transition.starts):
                    rounds_then[thread] = rounds
        goes_on = node.transition.thread if node.transition is not None and not node.transition.back else None

        def urgency(thread: int) -> tuple[bool, bool, bool, int]:
            starves = rounds - rounds_then[thread] > len(rounds_then)
            return self._gets_stuck(node, thread), not starves, thread != goes_on, last_run[thread]

        return sorted(reversed(last_run) if self._last_first else last_run, key=urgency)

    def _gets_stuck(self, node: TreeNode, thread: int) -> bool:
        return any(
            transition.target.rest == "stuck" and substitute(transition.condition, node.values).is_true
            for transition in node.locations[thread].transitions
        )

    def _surely_runs(self, node: TreeNode, thread: int) -> bool:
        location = node.locations[thread]
        if location.rest is not None:
            return False
        enabled = self.labels.at(node, location.enabled)
        if substitute(enabled, node.values).is_false:
            return False
        return self.labels.is_true_on_path(node, enabled) and self.labels.require(node, enabled)

    def _expand_thread(self, node: TreeNode, thread: int) -> bool:
        """Add all that a thread can do at a node; False if that can go wrong."""
        children: list[TreeNode] = []
        for transition in node.locations[thread].transitions:
            if not self.labels.is_possible(node, transition):
                continue
            child = self.child(node, transition)
            if transition.failure is not None:
                if child.feasible:
                    with suppress(TooManyRounds):
                        self.found.append(self.counterexample(child, transition.failure))
                    return False
                self.exclude(node, transition)
            elif not self.cuts(node, child):
                children.append(child)
        self.attach(node, thread, children)
        return True


def _rounds(node: TreeNode) -> set[int]:
    """The threads that have just gone round a loop when executions come to a node."""
    arrivals = [each.transition for each in (node, *node.covers)]
    return {transition.thread for transition in arrivals if transition is not None and transition.back}


def _last_steps(example: Counterexample) -> frozenset[Transition]:
    return frozenset({transition.thread: transition for transition in example.path}.values())
