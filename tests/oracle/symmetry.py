"""Random programs with threads that are alike, and executions up to the names of these, by trying all names."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import permutations, product

from mazurka.machine.layout import MAX_THREADS, OFFSET_BITS, THREAD_DONE
from tests.oracle.generator import Shape
from tests.oracle.oracle import Access, Event, Graph, Node

Names = dict[str, str]


def alike_shape(generate: Callable[[random.Random], Shape], source: random.Random, largest: int = 5) -> Shape:
    """A program of another generator, where some of what threads do is done by several."""
    shape = generate(source)
    main, *bodies = shape.threads
    bodies = bodies[:3]
    groups = source.choice([1, 1, 1, 2])
    while len(bodies) < largest and groups:
        again = source.randrange(len(bodies))
        for _ in range(source.choice([1, 1, 2, 3])):
            if len(bodies) < largest:
                bodies.insert(source.randrange(again, len(bodies) + 1), bodies[again])
        groups -= 1
    joined = source.choice([0, 0, len(bodies), len(bodies), source.randrange(len(bodies) + 1)])
    return replace(shape, threads=(main, *bodies), nested=False, joined=joined, alike=True)


def groups_of(shape: Shape) -> list[list[str]]:
    """The names of threads that do the same, main's first child being "main.1"."""
    found: dict[object, list[str]] = {}
    for index, body in enumerate(shape.threads):
        if index:
            found.setdefault(body, []).append(f"main.{index}")
    return [names for names in found.values() if len(names) > 1]


def renamings(groups: list[list[str]]) -> Iterator[Names]:
    for orders in product(*(permutations(group) for group in groups)):
        yield {
            old: new for group, order in zip(groups, orders, strict=True) for old, new in zip(group, order, strict=True)
        }


def orbit(graph: Graph, names: list[Names], slots: dict[str, int]) -> frozenset[Graph]:
    """All that an execution is called with other names. That main waits for the ends of threads, one after the other,
    is not part of it: whatever it does after that comes after what it has waited for."""
    nodes = {node for node in graph if not _is_join(node[0], slots)}
    return frozenset(frozenset(_renamed(node, one, slots) for node in nodes) for one in names)


def _is_join(event: Event, slots: dict[str, int]) -> bool:
    mine = slots[event.thread]
    return any(
        address % 2**OFFSET_BITS == THREAD_DONE and reads and 0 < address >> OFFSET_BITS <= MAX_THREADS
        and address >> OFFSET_BITS != mine
        for address, _, reads, _, _ in event.accesses
    )  # fmt: skip


def _renamed(node: Node, names: Names, slots: dict[str, int]) -> Node:
    event, before = node
    owners = {slots[old]: slots[new] for old, new in names.items()}

    def access(one: Access) -> Access:
        address, *rest = one
        owner = address >> OFFSET_BITS & (MAX_THREADS)
        return (address + ((owners.get(owner, owner) - owner) << OFFSET_BITS), *rest)  # type: ignore[return-value]

    def name(thread: str) -> str:
        return names.get(thread, thread)

    renamed = Event(name(event.thread), event.index, event.choices, tuple(map(access, event.accesses)))
    # (An event that main waits with is no part of it.)
    return renamed, frozenset((name(thread), index) for thread, index in before)
