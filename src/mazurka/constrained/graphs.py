"""Graphs: what is reached from where, and what lies on cycles."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

N = TypeVar("N", bound=Hashable)


def reached(starts: Iterable[N], successors: Callable[[N], Iterable[N]]) -> dict[N, None]:
    """The nodes to which ways lead from some nodes, with these, in the order in which they were found."""
    found = dict.fromkeys(starts)
    pending = list(found)
    while pending:
        for node in successors(pending.pop()):
            if node not in found:
                found[node] = None
                pending.append(node)
    return found


def section_starts(
    first: N,
    successors: Callable[[N], Iterable[N]],
    only: Callable[[N], N | None],
    cut: Callable[[Sequence[N]], N],
) -> dict[N, None]:
    """Where paths without branches begin and end: at the first node, at branches and ends (which have no `only`
    successor), and once in each cycle without any, where that is `cut`. In the order in which they are reached."""
    starts: dict[N, None] = {first: None}
    inside: set[N] = set()  # on the way from one to the next
    pending = [first]
    while pending:
        for node in successors(pending.pop()):
            path: dict[N, None] = {}
            while node not in starts and node not in inside and node not in path:
                following = only(node)
                if following is None:
                    break
                path[node] = None
                node = following
            if node in path:
                node = cut(list(path)[list(path).index(node) :])
                del path[node]
            inside.update(path)
            if node not in starts and node not in inside:
                starts[node] = None
                pending.append(node)
    return starts


def components(successors: Sequence[Sequence[int]]) -> list[set[int]]:
    """The strongly connected components of a graph that have an edge inside (Tarjan's algorithm, without recursion)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[set[int]] = []
    for root in range(len(successors)):
        if root in index:
            continue
        work = [(root, 0)]
        while work:
            node, position = work.pop()
            if position == 0:
                index[node] = low[node] = len(index)
                stack.append(node)
                on_stack.add(node)
            elif (child := successors[node][position - 1]) in on_stack:
                low[node] = min(low[node], low[child])
            if position < len(successors[node]):
                work.append((node, position + 1))
                child = successors[node][position]
                if child not in index:
                    work.append((child, 0))
            elif low[node] == index[node]:
                component = [stack.pop()]
                while component[-1] != node:
                    component.append(stack.pop())
                on_stack.difference_update(component)
                if len(component) > 1 or node in successors[node]:
                    found.append(set(component))
    return found


def on_cycles(successors: Sequence[Sequence[int]]) -> list[int]:
    """The nodes of a graph that lie on some cycle."""
    return sorted(node for component in components(successors) for node in component)
