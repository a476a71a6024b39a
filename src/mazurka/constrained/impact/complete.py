"""Complete verification: all schedules, but for those that partial-order reduction shows to be like others.

This is IMPACT for concurrent programs: every thread runs at every node, unless it is skipped or the node is covered.
Labels say what is needed to exclude failures, and deadlocks; so coverings are found early, and taken back when labels
become stronger.

Why skipping and covering go together: a thread T is skipped at a node that a step of T' has led to if both steps are
independent and T < T'; then "T, T'" is explored instead of "T', T" from the node before, where T' is not skipped after
T. That need not be so if the node after T is covered by one at which T' is skipped. So when a node is covered, the
threads that are not skipped at it are no longer skipped at the node that covers it either (the paper's set I). No
thread is skipped for ever: each cycle of the tree contains a cycle of some thread's locations, hence a step that goes
round a loop, and after that nobody is skipped.

A thread in the middle of a step (`TreeNode.busy`) does nothing that others could notice, so all others are skipped,
unless it goes round there for ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush

from mazurka.constrained.graphs import reached
from mazurka.constrained.impact.tree import TreeNode
from mazurka.constrained.impact.unwinding import Imprecise, Unwinding, is_skipped
from mazurka.constrained.model import Location, Transition
from mazurka.constrained.model.terms import negation
from mazurka.constrained.proof import Counterexample

_PATIENCE = 600  # in nodes made and in the solver's work


class Complete(Unwinding):
    """`stopped` ends the search at the next node."""

    stopped = False

    def run(self) -> Iterator[Counterexample]:
        """Everything that can go wrong, each transition that fails and each deadlock once. When it ends (and was not
        stopped) without any, the program is safe. Short paths come first, and those that no execution takes (but labels
        permit) last, so that what goes wrong is found soon.

        Labels have no shortcuts, so that they hold for as many executions as possible; but programs that count to some
        number and end are easier with them: if it takes long, both are tried in turn, with more patience each time."""
        self._unskipped: set[tuple[TreeNode, int]] = set()
        self._failing: set[Transition] = set()
        self._deadlocked: set[tuple[Location, ...]] = set()
        waiting: list[tuple[bool, int, TreeNode]] = []
        patience = _PATIENCE
        before = self.made + self.solver.work
        while (self.open or waiting) and not self.stopped:
            if self.made + self.solver.work - before > patience:
                patience *= 2
                self.labels.shortcuts = not self.labels.shortcuts
                self.begin()
                waiting.clear()
                before = self.made + self.solver.work
            for opened in self.open:
                heappush(waiting, (not opened.feasible, opened.number, opened))
            self.open.clear()
            node = heappop(waiting)[-1]
            if node.children or node.covered_by is not None or node.ended:
                continue
            try:
                if not self._close(node):
                    self._check_deadlocks(node)
                    for location in node.locations:
                        if not self._skips(node, location.thread):
                            self._expand_thread(node, location.thread)
            except Imprecise:
                self.begin()
                waiting.clear()
                continue
            self.reopen()
            if self.found:
                yield from self.found
                if any(example.kind != "deadlock" for example in self.found):
                    self.begin()  # labels say that it is impossible elsewhere: nobody needs that any more
                    waiting.clear()
                    before = self.made + self.solver.work
                self.found.clear()

    def _close(self, node: TreeNode) -> bool:
        for other in self.by_key[node.key]:
            if other is node or other.covered_by is not None or not (other.children or other.ended):
                continue
            if self._entails(node, other):
                self.cover(node, other)
                busy = node.busy
                goes_round = busy is not None and not node.locations[busy].ends and _reaches(other, node, busy)
                for location in node.locations:
                    thread = location.thread
                    if thread not in other.children and (goes_round or not self._skips(node, thread)):
                        self._unskipped.add((other, thread))
                        self._expand_thread(other, thread)
                return True
        return False

    def _entails(self, node: TreeNode, other: TreeNode) -> bool:
        if not all(self.labels.is_true_on_path(node, fact) for fact in other.label):
            return False
        missing = self.missing(node, other)
        if not missing:
            return True
        if node.forced or other in node.path_from_root():
            return False
        node.forced += 1
        return all([self.labels.require(node, fact) for fact in missing])

    def _skips(self, node: TreeNode, thread: int) -> bool:
        if (node, thread) in self._unskipped:
            return False
        if node.busy is not None:
            return node.busy != thread
        return is_skipped(node, thread)

    def _expand_thread(self, node: TreeNode, thread: int) -> None:
        children: list[TreeNode] = []
        for transition in node.locations[thread].transitions:
            if not self.labels.is_possible(node, transition):
                continue
            child = self.child(node, transition)
            if transition.failure is None:
                if not self.cuts(node, child):
                    children.append(child)
            elif transition in self._failing:
                continue
            elif child.feasible:
                self.found.append(self.counterexample(child, transition.failure))
                self._failing.add(transition)
            else:
                self.exclude(node, transition)
        self.attach(node, thread, children)

    def _check_deadlocks(self, node: TreeNode) -> None:
        for where, condition in [*self.circles(node), *self.nobody_runs(node)]:
            if where in self._deadlocked or self.labels.knows(node, negation(condition)):
                continue
            example = self.deadlock(node, condition)
            if example is None:
                self.exclude_deadlock(node, condition)
            else:
                self._deadlocked.add(where)
                self.found.append(example)


def _reaches(first: TreeNode, last: TreeNode, thread: int) -> bool:
    """Whether steps that others do not notice lead from one node to another."""
    return last in reached([first], lambda node: (each for each in node.successors() if each.busy == thread))
