"""Memory orders as sets of what they promise, so that stronger means more, and what a stronger one costs.

An access or a fence *acquires*, *releases*, and has a place in the one order of all that is *seq_cst*; the last of
these implies whatever else it can do. All that is ever added to a program is such a promise, at some site."""

from __future__ import annotations

from typing import Literal

from mazurka.program.instructions import Ordering

Promise = Literal["acquire", "release", "seq_cst"]
Promises = frozenset[Promise]

NONE: Promises = frozenset()
ALL: Promises = frozenset(("acquire", "release", "seq_cst"))
# What each kind of operation can promise. Of a compare-exchange, that is so if it succeeds; if not, it is a load.
POSSIBLE: dict[str, Promises] = {
    "load": frozenset(("acquire", "seq_cst")),
    "store": frozenset(("release", "seq_cst")),
    "update": ALL,
    "compare-exchange": ALL,
    "failing compare-exchange": frozenset(("acquire", "seq_cst")),
    "fence": ALL,
}
_PROMISES: dict[Ordering, Promises] = {
    "relaxed": NONE,
    "acquire": frozenset(("acquire",)),
    "release": frozenset(("release",)),
    "acq_rel": frozenset(("acquire", "release")),
    "seq_cst": ALL,
}
# What an order costs, and a fence in addition to its order: more than any order of an access.
COSTS: dict[Ordering, int] = {"relaxed": 0, "acquire": 1, "release": 1, "acq_rel": 2, "seq_cst": 4}
FENCE_COST = 5


def promises(order: Ordering) -> Promises:
    return _PROMISES[order]


def order_of(promised: Promises) -> Ordering:
    """The weakest order that promises so much."""
    if "seq_cst" in promised:
        return "seq_cst"
    return next(order for order, each in _PROMISES.items() if each == promised)
