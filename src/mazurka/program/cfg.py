"""The control-flow graph of a function: edges, orders, dominators, loops. Blocks are known by their names."""

from __future__ import annotations

from dataclasses import dataclass

from mazurka.program.instructions import Branch, Jump, Switch
from mazurka.program.program import Block, Function


def successors(block: Block) -> list[str]:
    """The blocks that control can go to, each once."""
    match block.terminator:
        case Jump(target):
            return [target]
        case Branch(_, if_true, if_false):
            return [if_true] if if_true == if_false else [if_true, if_false]
        case Switch(_, cases, default):
            return list(dict.fromkeys([*(target for _, target in cases), default]))
        case _:
            return []


def predecessors(function: Function) -> dict[str, list[str]]:
    """For each block, the blocks that control can come from, each once, reachable or not."""
    sources: dict[str, list[str]] = {name: [] for name in function.blocks}
    for name, block in function.blocks.items():
        for target in successors(block):
            sources[target].append(name)
    return sources


def reverse_postorder(function: Function) -> list[str]:
    """The reachable blocks, each after its predecessors except for those at the other end of a cycle."""
    entry = function.entry
    seen = {entry.name}
    finished: list[str] = []
    # Last successor first, so that the order reads like the source: the true branch before the false one.
    path = [(entry.name, successors(entry))]
    while path:
        name, remaining = path[-1]
        if not remaining:
            finished.append(name)
            path.pop()
            continue
        target = remaining.pop()
        if target not in seen:
            seen.add(target)
            path.append((target, successors(function.blocks[target])))
    finished.reverse()
    return finished


@dataclass(frozen=True, slots=True)
class Dominators:
    """The dominator tree of the reachable blocks. `order` is their reverse postorder, `parent` the immediate
    dominator of each but the entry, `spans` an interval for each that contains those of the blocks it dominates."""

    order: list[str]
    parent: dict[str, str]
    spans: dict[str, tuple[int, int]]

    def dominates(self, above: str, below: str) -> bool:
        """Whether every path from the entry to `below` goes through `above`. Both must be reachable."""
        start, end = self.spans[above]
        return start <= self.spans[below][0] < end


def dominators(function: Function) -> Dominators:
    """The iterative algorithm of Cooper, Harvey and Kennedy: a few rounds over the blocks in reverse postorder."""
    order = reverse_postorder(function)
    number = {name: index for index, name in enumerate(order)}
    sources: list[list[int]] = [[] for _ in order]
    for name in order:
        for target in successors(function.blocks[name]):
            sources[number[target]].append(number[name])

    parents = [0] + [-1] * (len(order) - 1)
    changed = True
    while changed:
        changed = False
        for block in range(1, len(order)):
            best = -1
            for source in sources[block]:
                if parents[source] < 0:
                    continue
                # The nearest common ancestor; numbers grow downwards in the tree.
                while best >= 0 and best != source:
                    if source > best:
                        source = parents[source]
                    else:
                        best = parents[best]
                best = source
            if parents[block] != best:
                parents[block] = best
                changed = True
    return Dominators(order, {order[b]: order[parents[b]] for b in range(1, len(order))}, _spans(order, parents))


def _spans(order: list[str], parents: list[int]) -> dict[str, tuple[int, int]]:
    """Number the tree in preorder; a block's span are the numbers of its subtree."""
    sizes = [1] * len(order)
    for block in range(len(order) - 1, 0, -1):
        sizes[parents[block]] += sizes[block]
    starts = [0] * len(order)
    unused = [1] * len(order)  # where the next child's subtree starts
    for block in range(1, len(order)):
        parent = parents[block]
        starts[block] = unused[parent]
        unused[parent] += sizes[block]
        unused[block] = starts[block] + 1
    return {name: (starts[block], starts[block] + sizes[block]) for block, name in enumerate(order)}


def dominance_frontiers(function: Function, tree: Dominators) -> dict[str, list[str]]:
    """For each reachable block, the blocks at which its dominance ends: where its definitions meet others."""
    frontiers: dict[str, list[str]] = {name: [] for name in tree.order}
    sources = predecessors(function)
    for name in tree.order:
        reachable = [source for source in sources[name] if source in tree.spans]
        if len(reachable) < 2:
            continue
        for runner in reachable:
            while runner != tree.parent[name]:
                if frontiers[runner][-1:] != [name]:
                    frontiers[runner].append(name)
                runner = tree.parent[runner]
    return frontiers


@dataclass(frozen=True, slots=True)
class Loop:
    """A natural loop: control enters it only at `header`, which belongs to `blocks`."""

    header: str
    blocks: frozenset[str]


def natural_loops(function: Function) -> list[Loop]:
    """The loops of a function, outer ones before those inside them; any two are nested or disjoint. Cycles that can
    be entered at several blocks (by `goto`) are no natural loops and are not among them."""
    tree = dominators(function)
    sources = predecessors(function)
    loops: list[Loop] = []
    for header in tree.order:
        backward = [s for s in sources[header] if s in tree.spans and tree.dominates(header, s)]
        if not backward:
            continue
        body = {header}
        while backward:
            name = backward.pop()
            if name not in body:
                body.add(name)
                backward.extend(s for s in sources[name] if s in tree.spans)
        loops.append(Loop(header, frozenset(body)))
    return loops


def innermost_loop(loops: list[Loop], block: str) -> Loop | None:
    """The smallest of a function's `natural_loops` that a block belongs to."""
    return min((loop for loop in loops if block in loop.blocks), key=lambda loop: len(loop.blocks), default=None)
