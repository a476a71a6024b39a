"""Abstract reachability trees: what has been explored, what is known at each node, and which node covers which."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from mazurka.constrained.graphs import reached
from mazurka.constrained.model import LocalLoop, Location, Model, Transition
from mazurka.constrained.model.terms import Term, array, constant, store
from mazurka.constrained.proof import Edge, Proof, ProofNode

Key = tuple[tuple[int, ...], tuple[int, ...]]

# The facts of a label; whether each was made stronger than it had to be (see `labels`).
Label = dict[Term, bool]


@dataclass(eq=False, slots=True)
class TreeNode:
    """A node stands for the states in which its path from the root can end, and more: those at its `locations` with the
    values `explicit` of the explicit variables that satisfy its `label`.

    `values` are those of all variables after exactly this path, over the path's inputs, and `path` the conditions under
    which it is taken: what an execution of this path alone knows, while the label holds what matters of it.
    `inputs` are the names that the inputs of `transition` have there. `feasible`: some inputs lead along the path.

    Where a thread has arrived at a local loop that ends, the node may stand for all of its rounds: the `values` of what
    the loop changes are any, but for what is known of them, which is in `summaries`. From there on, the path is not
    `exact`: it may go on in ways that no execution takes."""

    number: int
    parent: TreeNode | None
    transition: Transition | None
    locations: tuple[Location, ...]
    explicit: dict[Term, Term]
    values: dict[Term, Term]
    path: tuple[Term, ...] = ()
    inputs: tuple[Term, ...] = ()
    feasible: bool = True
    summaries: dict[LocalLoop, tuple[Term, ...]] = field(default_factory=dict)
    exact: bool = True
    label: Label = field(default_factory=dict)
    children: dict[int, list[TreeNode]] = field(default_factory=dict)
    covered_by: TreeNode | None = None
    covers: set[TreeNode] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)  # threads with which no safe schedule was found here
    forced: int = 0  # how often labels were made stronger so that it could be covered
    over: bool = False  # `main` has returned, and nobody can go on
    in_tree: bool = True
    key: Key = field(init=False)  # what nodes that cover each other have in common

    def __post_init__(self) -> None:
        self.key = tuple(map(id, self.locations)), tuple(value.value for value in self.explicit.values())

    @property
    def state(self) -> tuple[object, ...] | None:
        """The state in which the path ends, if that does not depend on inputs."""
        values = tuple(self.values.values())
        if not self.feasible or not self.exact or (self.path and any(value.variables for value in values)):
            return None
        return self.locations, values

    @property
    def ended(self) -> bool:
        """Whether the program ends here: nobody has anything left to do."""
        rests = [location.rest for location in self.locations]
        return self.over or "exit" in rests or None not in rests

    @property
    def busy(self) -> int | None:
        """The thread that is in the middle of a step, if any: it computes on its own, and nobody notices when."""
        for location in self.locations:
            if location.is_silent:
                return location.thread
        return None

    def offers(self, thread: int) -> bool:
        """Whether a thread may run here, in a schedule that is read off this tree: it surely can, and all that it does
        has nodes."""
        return bool(self.children.get(thread))

    def successors(self) -> Iterator[TreeNode]:
        """Where executions go from here."""
        if self.covered_by is not None:
            yield self.covered_by
        for nodes in self.children.values():
            yield from nodes

    def summarised_loops(self) -> set[LocalLoop]:
        """The local loops on the path whose rounds are left out."""
        return {loop for node in self.path_from_root() for loop in node.summaries}

    def summary(self) -> tuple[Term, ...]:
        """What is known of the local loops that threads are in."""
        known = {loop: facts for node in self.path_from_root() for loop, facts in node.summaries.items()}
        loops = dict.fromkeys(location.loop for location in self.locations)
        return tuple(fact for loop in loops if loop is not None for fact in known.get(loop, ()))

    def path_from_root(self) -> list[TreeNode]:
        nodes: list[TreeNode] = []
        node: TreeNode | None = self
        while node is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]

    def descendants(self) -> Iterator[TreeNode]:
        """This node and all below it."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            for nodes in node.children.values():
                waiting.extend(nodes)

    def cover(self, other: TreeNode) -> None:
        """Let `other` cover this node."""
        self.covered_by = other
        other.covers.add(self)

    def uncover(self) -> None:
        if self.covered_by is not None:
            self.covered_by.covers.discard(self)
            self.covered_by = None


class Snapshot:
    """A tree as it was, to go back to."""

    def __init__(self, root: TreeNode) -> None:
        self._nodes = [
            (
                node,
                dict(node.label),
                {thread: list(nodes) for thread, nodes in node.children.items()},
                node.covered_by,
                set(node.covers),
                set(node.failed),
            )
            for node in root.descendants()
        ]

    def restore(self) -> None:
        for node, label, children, covered_by, covers, failed in self._nodes:
            node.label, node.children, node.covered_by, node.covers = label, children, covered_by, covers
            node.failed, node.in_tree = failed, True


def root_of(model: Model) -> TreeNode:
    values = {
        variable.term: variable.term if variable.initial is None else constant_of(variable.term, variable.initial)
        for variable in model.variables.values()
    }
    explicit = {each.term: values[each.term] for each in model.variables.values() if each.explicit}
    return TreeNode(0, None, None, model.initial_locations, explicit, values)


def constant_of(term: Term, value: int | tuple[int, ...]) -> Term:
    """A value of a variable, as a term."""
    if isinstance(value, int):
        return constant(value, term.width)
    assert term.length is not None
    usual = max(set(value), key=value.count)
    result = array(constant(usual, term.width), term.length)
    for index, element in enumerate(value):
        if element != usual:
            result = store(result, constant(index, 64), constant(element, term.width))
    return result


def between(first: TreeNode, last: TreeNode, without: int | None = None) -> set[TreeNode]:
    """The nodes on ways from `first` to `last`; if a thread is named, on those on which it may nowhere run. None if
    there is no way."""
    before: dict[TreeNode, list[TreeNode]] = {first: []}
    waiting = [first]
    while waiting:
        node = waiting.pop()
        if without is not None and node.offers(without):
            continue
        for successor in node.successors():
            if successor not in before:
                before[successor] = []
                waiting.append(successor)
            before[successor].append(node)
    if last not in before:
        return set()
    return set(reached([last], before.__getitem__))


def must_be_idle(node: TreeNode, other: TreeNode) -> Iterator[tuple[TreeNode, int]]:
    """Which threads must not be able to run at which nodes, so that every cycle that arises if `other` covers `node` is
    fair: those that may run at no node of a cycle, at all nodes of it. (A thread that may run at a node to which an
    execution comes again and again gets its turn: whoever follows a schedule sees to that.) A cycle is made of edges of
    the tree and of coverings, and the last covering that was added to it was asked about; where a thread might run
    then, it still may, since that is only taken back together with the cycle. So no cycle of a tree is unfair."""
    for location in node.locations:
        cycles = between(other, node, without=location.thread)
        if not _only_pass(cycles, without=location.thread):
            for each in cycles:
                yield each, location.thread


def _only_pass(nodes: set[TreeNode], without: int) -> bool:
    """Whether all that happens between some nodes is what threads compute on their own, which ends. No execution stays
    there for ever then; if it does in a larger cycle, that is asked about when it arises."""
    return all(
        child.transition is not None and child.transition.is_passing
        for node in nodes
        for thread, children in node.children.items()
        for child in children
        if thread != without and child in nodes
    )


def on_cycles(root: TreeNode) -> set[TreeNode]:
    """The nodes to which executions can come again and again."""
    found: set[TreeNode] = set()
    for node in root.descendants():
        if node.covered_by is not None and node not in found:
            found |= between(node.covered_by, node)
    return found


def proof_of(model: Model, root: TreeNode, is_possible: Callable[[TreeNode, Transition], bool]) -> Proof:
    """The part of a tree that executions can reach, as a proof. (Labels may have become so strong that they exclude
    transitions which they did not when their children were made. A thread that may run does not lose all of its edges,
    though: that others are fair to it may rest on them. If all seem impossible, no execution comes by anyway.)"""
    numbers: dict[TreeNode, int] = {root: 0}
    waiting = deque([root])
    order: list[tuple[TreeNode, list[TreeNode]]] = []
    while waiting:
        node = waiting.popleft()
        children: list[TreeNode] = []
        for thread in sorted(node.children):
            made = node.children[thread]
            possible = [child for child in made if child.transition and is_possible(node, child.transition)]
            children += possible or made
        assert children or node.ended or node.covered_by is not None, f"node {node.number} has no strategy"
        order.append((node, children))
        for successor in children if node.covered_by is None else [node.covered_by]:
            if successor not in numbers:
                numbers[successor] = len(numbers)
                waiting.append(successor)
    names = [variable.name for variable in model.variables.values() if variable.explicit]
    nodes = []
    for node, children in order:
        edges = [Edge(child.transition, numbers[child]) for child in children if child.transition is not None]
        explicit = tuple(zip(names, (value.value for value in node.explicit.values()), strict=True))
        covered_by = None if node.covered_by is None else numbers[node.covered_by]
        number = numbers[node]
        nodes.append(ProofNode(number, node.locations, explicit, tuple(node.label), tuple(edges), covered_by))
    return Proof(model, tuple(nodes))
