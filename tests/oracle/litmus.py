"""The literature's litmus tests: for each, an outcome, and which models allow it.

The names are those of "A tutorial introduction to the ARM and POWER relaxed memory models" (Maranget, Sarkar, Sewell),
of "A better x86 memory model: x86-TSO" (Owens, Sarkar, Sewell: n4b, n5, n6, iwp2.4, amd10) and of "Repairing sequential
consistency in C/C++11" (Lahav and others: Z6.U, IRIW-acq-sc). What is not said to be otherwise is relaxed. An access
that is seq_cst is a full fence for tso and pso if it writes, and nothing more than release or acquire for ra. No model
here has cycles of po ∪ rf, so that load buffering is forbidden everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.oracle.axioms import (
    MODELS,
    CompareExchange,
    Expression,
    Fence,
    Litmus,
    Load,
    Operation,
    Order,
    Outcome,
    SkipUnless,
    Store,
    Update,
)

REL: Order = "release"
ACQ: Order = "acquire"
AR: Order = "acq_rel"
RLX: Order = "relaxed"
SC: Order = "seq_cst"
NA: Order = "plain"

W, R, F = Store, Load, Fence
Thread = tuple[Operation, ...]


def add(register: str | None, location: str, value: Expression, order: Order = RLX) -> Update:
    return Update(register, location, "add", value, order)


def swap(register: str | None, location: str, value: Expression, order: Order = RLX) -> Update:
    return Update(register, location, "exchange", value, order)


def cas(
    register: str, location: str, expected: int, desired: int, order: Order = RLX, failure: Order = RLX
) -> CompareExchange:
    return CompareExchange(register, location, expected, desired, order, failure)


@dataclass(frozen=True)
class Known:
    """`condition`: of registers, whose names are unique, and of what is left in memory. `races`: whether there are
    data races in c11; None: the test is not about that."""

    name: str
    litmus: Litmus
    condition: dict[str, int]
    allowed: frozenset[str]
    races: bool | None = None

    def holds(self, outcome: Outcome) -> bool:
        values = dict(zip(self.litmus.locations, outcome.memory, strict=True))
        for thread, registers in enumerate(outcome.registers):
            values |= dict(zip(self.litmus.registers(thread), registers, strict=True))
        return all(values[name] == value for name, value in self.condition.items())


def _known(name: str, condition: str, allowed: str, *threads: Thread, races: bool | None = None) -> Known:
    """As text: the condition as "a=1 b=0", the models that allow it as "tso c11", "all" or "none"."""
    models = {"none": [], "all": list(MODELS)}.get(allowed, allowed.split())
    assert set(models) <= set(MODELS)
    values = {name: int(value) for name, _, value in (part.partition("=") for part in condition.split())}
    return Known(name, Litmus(threads), values, frozenset(models), races)


WEAK = "tso pso ra c11"  # all but sc

# ------------------------------------------------------------------------------------------------ store buffering

SB = "a=0 b=0"


def _sb(write: Order, read: Order) -> tuple[Thread, Thread]:
    return (W("x", 1, write), R("a", "y", read)), (W("y", 1, write), R("b", "x", read))


def _sb_fenced(first: Order | None, second: Order | None) -> tuple[Thread, Thread]:
    return (
        (W("x", 1), *([F(first)] if first else []), R("a", "y")),
        (W("y", 1), *([F(second)] if second else []), R("b", "x")),
    )


STORE_BUFFERING = [
    _known("SB", SB, WEAK, *_sb(RLX, RLX)),
    _known("SB+plain", SB, WEAK, *_sb(NA, NA), races=True),
    _known("SB+rel+acq", SB, WEAK, *_sb(REL, ACQ)),
    _known("SB+sc", SB, "ra", *_sb(SC, SC)),
    _known("SB+sc-writes", SB, "ra c11", *_sb(SC, RLX)),
    _known("SB+sc-reads", SB, WEAK, *_sb(RLX, SC)),
    _known("SB+fences", SB, "none", *_sb_fenced(SC, SC)),
    _known("SB+fence+po", SB, WEAK, *_sb_fenced(SC, None)),
    _known("SB+acq_rel-fences", SB, WEAK, *_sb_fenced(AR, AR)),
    _known("SB+fence+acq_rel-fence", SB, WEAK, *_sb_fenced(SC, AR)),
    # A fence on one side is in order with accesses that are seq_cst on the other one: for RC11, not for ra.
    _known("SB+fence+sc", SB, "ra", (W("x", 1), F(SC), R("a", "y")), (W("y", 1, SC), R("b", "x", SC))),
    _known(
        "SB+exchanges", SB, "ra c11",
        (swap("c", "x", 1, AR), R("a", "y", ACQ)), (swap("d", "y", 1, AR), R("b", "x", ACQ)),
    ),
    _known(
        "SB+sc-exchanges", SB, "ra",
        (swap("c", "x", 1, SC), R("a", "y", SC)), (swap("d", "y", 1, SC), R("b", "x", SC)),
    ),
    # Updates of one more location are in order; if they acquire and release, they are as good as fences.
    _known(
        "SB+update-as-fence", SB, "none",
        (W("x", 1), add(None, "z", 0, AR), R("a", "y")),
        (W("y", 1), add(None, "z", 0, AR), R("b", "x")),
    ),
    _known(
        "SB+relaxed-update-as-fence", SB, "c11",
        (W("x", 1), add(None, "z", 0), R("a", "y")),
        (W("y", 1), add(None, "z", 0), R("b", "x")),
    ),
    # Locked instructions of different locations: full fences for x86 alone.
    _known(
        "SB+updates-elsewhere", SB, "ra c11",
        (W("x", 1), add(None, "z", 0, AR), R("a", "y")),
        (W("y", 1), add(None, "w", 0, AR), R("b", "x")),
    ),
    _known(
        "SB+failed-cas", SB + " c=0 d=0", "ra c11",
        (W("x", 1), cas("c", "z", 1, 2, SC), R("a", "y")),
        (W("y", 1), cas("d", "z", 1, 2, SC), R("b", "x")),
    ),
    _known(
        "SB+reads-by-cas", SB, "ra c11",
        (W("x", 1), cas("a", "y", 7, 8, AR, ACQ)), (W("y", 1), cas("b", "x", 7, 8, AR, ACQ)),
    ),
    _known("3.SB", "a=0 b=0 c=0", WEAK, (W("x", 1), R("a", "y")), (W("y", 1), R("b", "z")), (W("z", 1), R("c", "x"))),
    _known(
        "3.SB+fences", "a=0 b=0 c=0", "none",
        (W("x", 1), F(SC), R("a", "y")), (W("y", 1), F(SC), R("b", "z")), (W("z", 1), F(SC), R("c", "x")),
    ),
    # Each thread may read its own write early.
    _known(
        "iwp2.4", "a=1 b=0 c=1 d=0", WEAK,
        (W("x", 1), R("a", "x"), R("b", "y")),
        (W("y", 1), R("c", "y"), R("d", "x")),
    ),
    _known(
        "amd10", "a=1 b=0 c=1 d=0", "none",
        (W("x", 1), F(SC), R("a", "x"), R("b", "y")),
        (W("y", 1), F(SC), R("c", "y"), R("d", "x")),
    ),
    # Both may get to their plain write, but only if the outcome is the weak one.
    _known(
        "SB+ctrl", SB, WEAK,
        (W("x", 1), R("a", "y"), SkipUnless("a", 0, 1), W("z", 1, NA)),
        (W("y", 1), R("b", "x"), SkipUnless("b", 0, 1), W("z", 2, NA)),
        races=True,
    ),
    _known(
        "SB+sc+ctrl", SB, "ra",
        (W("x", 1, SC), R("a", "y", SC), SkipUnless("a", 0, 1), W("z", 1, NA)),
        (W("y", 1, SC), R("b", "x", SC), SkipUnless("b", 0, 1), W("z", 2, NA)),
        races=False,
    ),
    _known("n6", "a=1 b=0 x=1", WEAK, (W("x", 1), R("a", "x"), R("b", "y")), (W("y", 2), W("x", 2))),
]  # fmt: skip

# ------------------------------------------------------------------------------------------------ message passing

MP = "a=1 b=0"


def _mp(write: Order, read: Order, data: Order = RLX) -> tuple[Thread, Thread]:
    return (W("x", 1, data), W("y", 1, write)), (R("a", "y", read), R("b", "x", data))


def _mp_fenced(writer: Order | None, reader: Order | None) -> tuple[Thread, Thread]:
    return (
        (W("x", 1), *([F(writer)] if writer else []), W("y", 1)),
        (R("a", "y"), *([F(reader)] if reader else []), R("b", "x")),
    )


_SENT: Thread = (W("x", 1), W("y", 1, REL))
_SENT_PLAINLY: Thread = (W("x", 1, NA), W("y", 1, REL))

MESSAGE_PASSING = [
    _known("MP", MP, "pso c11", *_mp(RLX, RLX)),
    _known("MP+rel+acq", MP, "none", *_mp(REL, ACQ)),
    _known("MP+rel+po", MP, "c11", *_mp(REL, RLX)),
    _known("MP+po+acq", MP, "pso c11", *_mp(RLX, ACQ)),
    _known("MP+sc", MP, "none", *_mp(SC, SC)),
    _known("MP+sc-data", MP, "none", *_mp(SC, SC, SC)),
    # The flag is relaxed; that the data are seq_cst is no help to C, while for x86 and the like it is.
    _known("MP+sc-data+relaxed-flag", MP, "c11", *_mp(RLX, RLX, SC)),
    _known("MP+rel+acq+plain", MP, "none", *_mp(REL, ACQ, NA), races=True),
    _known("MP+fences", MP, "none", *_mp_fenced(REL, ACQ)),
    _known("MP+sc-fences", MP, "none", *_mp_fenced(SC, SC)),
    _known("MP+fence+po", MP, "c11", *_mp_fenced(REL, None)),
    _known("MP+po+fence", MP, "pso c11", *_mp_fenced(None, ACQ)),
    _known("MP+sc-fence+po", MP, "c11", *_mp_fenced(SC, None)),
    _known("MP+wrong-fences", MP, "pso c11", *_mp_fenced(ACQ, REL)),
    _known("MP+rel-fence+acq", MP, "none", (W("x", 1), F(REL), W("y", 1)), (R("a", "y", ACQ), R("b", "x"))),
    _known("MP+rel+acq-fence", MP, "none", _SENT, (R("a", "y"), F(ACQ), R("b", "x"))),
    # The flag itself must be atomic for C.
    _known(
        "MP+plain-flag", MP, "c11",
        (W("x", 1), F(REL), W("y", 1, NA)), (R("a", "y", NA), F(ACQ), R("b", "x")), races=True,
    ),
    # A fence that is too early.
    _known("MP+early-fence", MP, "pso c11", (F(REL), W("x", 1), W("y", 1)), (R("a", "y", ACQ), R("b", "x"))),
    _known("MP+late-fence", MP, "c11", _SENT, (R("a", "y"), R("b", "x"), F(ACQ))),
    # Whoever looks only after the message was there has no data race.
    _known(
        "MP+rel+acq+ctrl", MP, "none",
        _SENT_PLAINLY, (R("a", "y", ACQ), SkipUnless("a", 1, 1), R("b", "x", NA)), races=False,
    ),
    _known(
        "MP+po+acq+ctrl", MP, "pso c11",
        (W("x", 1, NA), W("y", 1)), (R("a", "y", ACQ), SkipUnless("a", 1, 1), R("b", "x", NA)), races=True,
    ),
    _known(
        "MP+rel+po+ctrl", MP, "c11",
        _SENT_PLAINLY, (R("a", "y"), SkipUnless("a", 1, 1), R("b", "x", NA)), races=True,
    ),
    _known(
        "MP+fences+ctrl", MP, "none",
        (W("x", 1, NA), F(REL), W("y", 1)), (R("a", "y"), SkipUnless("a", 1, 2), F(ACQ), R("b", "x", NA)), races=False,
    ),
    # By updates.
    _known("MP+rel-update", MP, "none", (W("x", 1), add(None, "y", 1, REL)), (R("a", "y", ACQ), R("b", "x"))),
    _known("MP+relaxed-update", MP, "c11", (W("x", 1), add(None, "y", 1)), (R("a", "y", ACQ), R("b", "x"))),
    _known("MP+acq-update", MP, "none", _SENT, (add("a", "y", 1, ACQ), R("b", "x"))),
    _known("MP+rel-update-reads", MP, "c11", _SENT, (add("a", "y", 1, REL), R("b", "x"))),
    _known("MP+cas", MP, "none", _SENT, (cas("a", "y", 1, 2, ACQ), R("b", "x"))),
    # A compare-exchange that fails is a read with the order for failures.
    _known("MP+failed-cas+acq", MP, "none", _SENT, (cas("a", "y", 0, 2, RLX, ACQ), R("b", "x"))),
    _known("MP+failed-cas+relaxed", MP, "c11", _SENT, (cas("a", "y", 0, 2, AR, RLX), R("b", "x"))),
    _known(
        "MP+failed-cas-sends", "a=1 b=0 c=1", "none",
        (W("x", 1), W("y", 1, REL), cas("c", "y", 7, 8)), (R("a", "y", ACQ), R("b", "x")),
    ),
]  # fmt: skip

# -------------------------------------------------------------------------------------------- release sequences

_RECEIVED: Thread = (R("a", "y", ACQ), R("b", "x"))

RELEASE_SEQUENCES = [
    _known("RS+update", "a=2 b=0", "none", _SENT, (add("c", "y", 1),), _RECEIVED),
    _known("RS+exchange", "a=2 b=0 c=1", "none", _SENT, (swap("c", "y", 2),), _RECEIVED),
    _known("RS+cas", "a=2 b=0", "none", _SENT, (cas("c", "y", 1, 2),), _RECEIVED),
    _known("RS+two-updates", "a=3 b=0", "none", _SENT, (add("c", "y", 1),), (add("d", "y", 1),), _RECEIVED),
    _known("RS+update-by-reader", "a=2 b=0", "none", _SENT, (add("c", "y", 1), R("a", "y", ACQ), R("b", "x"))),
    _known("RS+update-of-fenced", "a=2 b=0", "none", (W("x", 1), F(REL), W("y", 1)), (add("c", "y", 1),), _RECEIVED),
    _known("RS+acq-fence", "a=2 b=0", "none", _SENT, (add("c", "y", 1),), (R("a", "y"), F(ACQ), R("b", "x"))),
    # C++11 had the later writes of the same thread in it, C++20 has not.
    _known("RS+own-write", "a=2 b=0", "c11", (*_SENT, W("y", 2)), _RECEIVED),
    _known("RS+own-update", "a=2 b=0", "none", (*_SENT, add(None, "y", 1)), _RECEIVED),
    # Another thread's write is none of it, even if that thread has seen the first one.
    _known("RS+write", "a=2 b=0 c=1", "c11", _SENT, (R("c", "y"), W("y", 2)), _RECEIVED),
    _known("RS+write-acq", "a=2 b=0 c=1", "c11", _SENT, (R("c", "y", ACQ), W("y", 2)), _RECEIVED),
    _known("RS+write-rel", "a=2 b=0 c=1", "c11", _SENT, (R("c", "y"), W("y", 2, REL)), _RECEIVED),
    _known("RS+write-rel-acq", "a=2 b=0 c=1", "none", _SENT, (R("c", "y", ACQ), W("y", 2, REL)), _RECEIVED),
    # An update of what nobody released passes nothing on.
    _known(
        "RS+none", "a=2 b=0", "pso c11",
        (W("x", 1), W("y", 1)), (add("c", "y", 1, REL),), (R("a", "y", ACQ), R("b", "x")),
    ),
]  # fmt: skip

# ------------------------------------------------------------------------------------------------ load buffering

LOAD_BUFFERING = [
    _known("LB", "a=1 b=1", "none", (R("a", "x"), W("y", 1)), (R("b", "y"), W("x", 1))),
    _known("LB+plain", "a=1 b=1", "none", (R("a", "x", NA), W("y", 1, NA)), (R("b", "y", NA), W("x", 1, NA))),
    _known("LB+acq+rel", "a=1 b=1", "none", (R("a", "x", ACQ), W("y", 1, REL)), (R("b", "y", ACQ), W("x", 1, REL))),
    _known("LB+data+po", "a=1 b=1", "none", (R("a", "x"), W("y", ("a", 0))), (R("b", "y"), W("x", 1))),
    _known(
        "LB+ctrl+po", "a=1 b=1", "none", (R("a", "x"), SkipUnless("a", 1, 1), W("y", 1)), (R("b", "y"), W("x", 1))
    ),
    _known(
        "3.LB", "a=1 b=1 c=1", "none",
        (R("a", "x"), W("y", 1)), (R("b", "y"), W("z", 1)), (R("c", "z"), W("x", 1)),
    ),
    _known("LB+updates", "a=1 b=1", "none", (add("a", "x", 1), W("y", 1)), (R("b", "y"), W("x", 1))),
]  # fmt: skip

# ------------------------------------------------------------------------------------- independent reads, and others

IRIW = "a=1 b=0 c=1 d=0"


def _iriw(write: Order, first: Order, second: Order) -> tuple[Thread, Thread, Thread, Thread]:
    return (
        (W("x", 1, write),),
        (W("y", 1, write),),
        (R("a", "x", first), R("b", "y", second)),
        (R("c", "y", first), R("d", "x", second)),
    )


def _iriw_fenced(first: Order, second: Order) -> tuple[Thread, Thread, Thread, Thread]:
    reading: tuple[Thread, Thread] = (R("a", "x"), F(first), R("b", "y")), (R("c", "y"), F(second), R("d", "x"))
    return (W("x", 1),), (W("y", 1),), *reading


def _rwc(first: Order | None, second: Order | None) -> tuple[Thread, Thread, Thread]:
    return (
        (W("x", 1),),
        (R("a", "x"), *([F(first)] if first else []), R("b", "y")),
        (W("y", 1), *([F(second)] if second else []), R("c", "x")),
    )


def _w_rwc(flag: Order, read: Order, first: Order | None, second: Order | None) -> tuple[Thread, Thread, Thread]:
    return (
        (W("x", 1), W("y", 1, flag)),
        (R("a", "y", read), *([F(first)] if first else []), R("b", "z")),
        (W("z", 1), *([F(second)] if second else []), R("c", "x")),
    )


def _z6(write: Order) -> tuple[Thread, Thread, Thread]:
    return (W("x", 1, write), W("y", 1, write)), (W("y", 2, write), W("z", 1, write)), (W("z", 2, write), R("a", "x"))


MANY_THREADS = [
    _known("IRIW", IRIW, "ra c11", *_iriw(RLX, RLX, RLX)),
    _known("IRIW+rel+acq", IRIW, "ra c11", *_iriw(REL, ACQ, ACQ)),
    _known("IRIW+sc", IRIW, "ra", *_iriw(SC, SC, SC)),
    _known("IRIW+sc-reads", IRIW, "ra c11", *_iriw(RLX, SC, SC)),
    _known("IRIW-acq-sc", IRIW, "ra c11", *_iriw(SC, ACQ, SC)),
    _known("IRIW+fences", IRIW, "none", *_iriw_fenced(SC, SC)),
    _known("IRIW+acq_rel-fences", IRIW, "ra c11", *_iriw_fenced(AR, AR)),
    _known("IRIW+one-fence", IRIW, "ra c11", *_iriw_fenced(SC, AR)),
    _known("WRC", "a=1 b=1 c=0", "c11", (W("x", 1),), (R("a", "x"), W("y", 1)), (R("b", "y"), R("c", "x"))),
    _known(
        "WRC+rel+acq", "a=1 b=1 c=0", "none",
        (W("x", 1),), (R("a", "x"), W("y", 1, REL)), (R("b", "y", ACQ), R("c", "x")),
    ),
    _known(
        "WRC+acq+acq", "a=1 b=1 c=0", "c11",
        (W("x", 1, REL),), (R("a", "x", ACQ), W("y", 1)), (R("b", "y", ACQ), R("c", "x")),
    ),
    _known(
        "WRC+fences", "a=1 b=1 c=0", "none",
        (W("x", 1),), (R("a", "x"), F(REL), W("y", 1)), (R("b", "y"), F(ACQ), R("c", "x")),
    ),
    _known(
        "WRC+update", "a=1 b=2 c=0", "c11",
        (W("x", 1),), (R("a", "x"), swap("d", "y", 2)), (R("b", "y", ACQ), R("c", "x")),
    ),
    _known(
        "ISA2", "a=1 b=1 c=0", "pso c11",
        (W("x", 1), W("y", 1)), (R("a", "y"), W("z", 1)), (R("b", "z"), R("c", "x")),
    ),
    _known(
        "ISA2+rel+acq", "a=1 b=1 c=0", "none",
        _SENT, (R("a", "y", ACQ), W("z", 1, REL)), (R("b", "z", ACQ), R("c", "x")),
    ),
    _known(
        "ISA2+rel+acq+po", "a=1 b=1 c=0", "c11",
        _SENT, (R("a", "y", ACQ), W("z", 1)), (R("b", "z", ACQ), R("c", "x")),
    ),
    _known(
        "ISA2+plain", "a=1 b=1 c=0", "none",
        _SENT_PLAINLY,
        (R("a", "y", ACQ), SkipUnless("a", 1, 1), W("z", 1, REL)),
        (R("b", "z", ACQ), SkipUnless("b", 1, 1), R("c", "x", NA)),
        races=False,
    ),
    _known("RWC", "a=1 b=0 c=0", WEAK, *_rwc(None, None)),
    _known("RWC+fences", "a=1 b=0 c=0", "none", *_rwc(SC, SC)),
    _known("RWC+po+fence", "a=1 b=0 c=0", "ra c11", *_rwc(None, SC)),
    _known("RWC+fence+po", "a=1 b=0 c=0", WEAK, *_rwc(SC, None)),
    _known(
        "RWC+sc", "a=1 b=0 c=0", "ra",
        (W("x", 1, SC),), (R("a", "x", SC), R("b", "y", SC)), (W("y", 1, SC), R("c", "x", SC)),
    ),
    # What is between two seq_cst accesses may go through another thread.
    _known(
        "W+RWC+sc", "a=1 b=0 c=0", "ra",
        (W("x", 1, SC), W("y", 1, REL)), (R("a", "y", ACQ), R("b", "z", SC)), (W("z", 1, SC), R("c", "x", SC)),
    ),
    _known("W+RWC", "a=1 b=0 c=0", WEAK, *_w_rwc(REL, ACQ, None, None)),
    _known("W+RWC+fences", "a=1 b=0 c=0", "none", *_w_rwc(REL, ACQ, SC, SC)),
    _known("W+RWC+po+fence", "a=1 b=0 c=0", "ra c11", *_w_rwc(REL, ACQ, None, SC)),
    _known("W+RWC+relaxed+fences", "a=1 b=0 c=0", "pso c11", *_w_rwc(RLX, RLX, SC, SC)),
    _known("Z6.0", "a=1 b=0 z=2", WEAK, (W("x", 1), W("y", 1)), (R("a", "y"), W("z", 1)), (W("z", 2), R("b", "x"))),
    _known(
        "Z6.0+fence", "a=1 b=0 z=2", "pso ra c11",
        (W("x", 1), W("y", 1)), (R("a", "y"), W("z", 1)), (W("z", 2), F(SC), R("b", "x")),
    ),
    _known(
        "Z6.1", "a=1 x=2 y=2", "pso ra c11",
        (W("x", 2), W("y", 1)), (W("y", 2), W("z", 1)), (R("a", "z"), W("x", 1)),
    ),
    _known(
        "Z6.1+rel+acq", "a=1 x=2 y=2", "ra c11",
        (W("x", 2, REL), W("y", 1, REL)), (W("y", 2, REL), W("z", 1, REL)), (R("a", "z", ACQ), W("x", 1, REL)),
    ),
    _known(
        "Z6.2", "a=1 b=1 x=2", "pso c11",
        (W("x", 2), W("y", 1)), (R("a", "y"), W("z", 1)), (R("b", "z"), W("x", 1)),
    ),
    _known(
        "Z6.2+rel+acq", "a=1 b=1 x=2", "none",
        (W("x", 2), W("y", 1, REL)), (R("a", "y", ACQ), W("z", 1, REL)), (R("b", "z", ACQ), W("x", 1)),
    ),
    _known(
        "Z6.3", "a=1 b=0 y=2", "pso ra c11",
        (W("x", 1), W("y", 1)), (W("y", 2), W("z", 1)), (R("a", "z"), R("b", "x")),
    ),
    _known(
        "Z6.3+rel+acq", "a=1 b=0 y=2", "ra c11",
        (W("x", 1, REL), W("y", 1, REL)), (W("y", 2, REL), W("z", 1, REL)), (R("a", "z", ACQ), R("b", "x", ACQ)),
    ),
    _known("Z6.4", "a=0 y=2 z=2", WEAK, *_z6(RLX)),
    _known("Z6.4+rel", "a=0 y=2 z=2", WEAK, *_z6(REL)),
    _known("Z6.5", "a=0 y=2 b=0", WEAK, (W("x", 1), W("y", 1)), (W("y", 2), R("b", "z")), (W("z", 1), R("a", "x"))),
    _known(
        "Z6.5+fences", "a=0 y=2 b=0", "none",
        (W("x", 1), F(SC), W("y", 1)), (W("y", 2), F(SC), R("b", "z")), (W("z", 1), F(SC), R("a", "x")),
    ),
    # C11 forbade this one, as it did IRIW-acq-sc, which Power does not keep up; RC11 allows both.
    _known(
        "Z6.U", "a=0 b=1 c=3", "ra c11",
        (W("x", 1, SC), W("y", 1, REL)), (add("b", "y", 1, SC), R("c", "y")), (W("y", 3, SC), R("a", "x", SC)),
    ),
]  # fmt: skip

# ------------------------------------------------------------------------------------------------- two writes

TWO_WRITES = [
    _known("2+2W", "x=1 y=1", "pso ra c11", (W("x", 1), W("y", 2)), (W("y", 1), W("x", 2))),
    _known("2+2W+rel", "x=1 y=1", "ra c11", (W("x", 1, REL), W("y", 2, REL)), (W("y", 1, REL), W("x", 2, REL))),
    _known("2+2W+sc", "x=1 y=1", "ra", (W("x", 1, SC), W("y", 2, SC)), (W("y", 1, SC), W("x", 2, SC))),
    _known("2+2W+fences", "x=1 y=1", "none", (W("x", 1), F(SC), W("y", 2)), (W("y", 1), F(SC), W("x", 2))),
    _known("2+2W+rel-fences", "x=1 y=1", "ra c11", (W("x", 1), F(REL), W("y", 2)), (W("y", 1), F(REL), W("x", 2))),
    _known("2+2W+acq-fences", "x=1 y=1", "pso ra c11", (W("x", 1), F(ACQ), W("y", 2)), (W("y", 1), F(ACQ), W("x", 2))),
    # Each exchange would have to read what comes after it.
    _known(
        "2+2W+exchanges", "x=1 y=1", "none",
        (swap(None, "x", 1), swap(None, "y", 2)), (swap(None, "y", 1), swap(None, "x", 2)),
    ),
    _known("3.2W", "x=2 y=2 z=2", "pso ra c11", (W("x", 2), W("y", 1)), (W("y", 2), W("z", 1)), (W("z", 2), W("x", 1))),
    _known("R", "a=0 y=2", WEAK, (W("x", 1), W("y", 1)), (W("y", 2), R("a", "x"))),
    _known("R+rel+acq", "a=0 y=2", WEAK, (W("x", 1), W("y", 1, REL)), (W("y", 2, REL), R("a", "x", ACQ))),
    _known("R+sc", "a=0 y=2", "ra", (W("x", 1, SC), W("y", 1, SC)), (W("y", 2, SC), R("a", "x", SC))),
    _known("R+fences", "a=0 y=2", "none", (W("x", 1), F(SC), W("y", 1)), (W("y", 2), F(SC), R("a", "x"))),
    _known("R+po+fence", "a=0 y=2", "pso ra c11", (W("x", 1), W("y", 1)), (W("y", 2), F(SC), R("a", "x"))),
    _known("R+rel+fence", "a=0 y=2", "ra c11", (W("x", 1), W("y", 1, REL)), (W("y", 2), F(SC), R("a", "x"))),
    _known("R+fence+po", "a=0 y=2", WEAK, (W("x", 1), F(SC), W("y", 1)), (W("y", 2), R("a", "x"))),
    _known("S", "a=1 x=2", "pso c11", (W("x", 2), W("y", 1)), (R("a", "y"), W("x", 1))),
    _known("S+rel+acq", "a=1 x=2", "none", (W("x", 2), W("y", 1, REL)), (R("a", "y", ACQ), W("x", 1))),
    _known("S+rel+data", "a=1 x=2", "c11", (W("x", 2), W("y", 1, REL)), (R("a", "y"), W("x", ("a", 0)))),
    _known("S+fences", "a=1 x=2", "none", (W("x", 2), F(REL), W("y", 1)), (R("a", "y"), F(ACQ), W("x", 1))),
    _known("S+po+acq", "a=1 x=2", "pso c11", (W("x", 2), W("y", 1)), (R("a", "y", ACQ), W("x", 1))),
]  # fmt: skip

# ------------------------------------------------------------------------------------------- coherence, atomicity

COHERENCE = [
    _known("CoRR", "a=1 b=0", "none", (W("x", 1),), (R("a", "x"), R("b", "x"))),
    _known("CoRR+plain", "a=1 b=0", "none", (W("x", 1, NA),), (R("a", "x", NA), R("b", "x", NA)), races=True),
    _known(
        "CoRR2", "a=1 b=2 c=2 d=1", "none",
        (W("x", 1),), (W("x", 2),), (R("a", "x"), R("b", "x")), (R("c", "x"), R("d", "x")),
    ),
    _known("CoWW", "x=1", "none", (W("x", 1), W("x", 2))),
    _known("CoRW1", "a=1", "none", (R("a", "x"), W("x", 1)), (R("b", "x"),)),
    _known("CoRW2", "a=2 x=2", "none", (R("a", "x"), W("x", 1)), (W("x", 2),)),
    _known("CoWR", "a=2 x=1", "none", (W("x", 1), R("a", "x")), (W("x", 2),)),
    _known("CoWR0", "a=0", "none", (W("x", 1), R("a", "x")), (W("x", 2),)),
    _known("n5", "a=2 b=1", "none", (W("x", 1), R("a", "x")), (W("x", 2), R("b", "x"))),
    _known("n4b", "a=2 b=1", "none", (R("a", "x"), W("x", 1)), (R("b", "x"), W("x", 2))),
    _known("two-adds", "a=0 b=0", "none", (add("a", "x", 1),), (add("b", "x", 1),)),
    _known("two-adds-lost", "x=1", "none", (add(None, "x", 1),), (add(None, "x", 1),)),
    _known("load-and-store-lost", "x=1", "all", (R("a", "x"), W("x", ("a", 1))), (add("b", "x", 1),)),
    _known("two-cas", "a=0 b=0", "none", (cas("a", "x", 0, 1),), (cas("b", "x", 0, 2),)),
    _known("cas-fails-for-nothing", "a=1 b=1", "none", (cas("a", "x", 0, 1),), (cas("b", "x", 0, 1),)),
    _known("add-and-store", "a=0 x=1 b=5", "none", (add("a", "x", 1),), (W("x", 5), R("b", "x"))),
    _known("add-passes-store", "a=0 x=5", "all", (add("a", "x", 1),), (W("x", 5),)),
    _known("three-adds", "a=0 b=1 c=1", "none", (add("a", "x", 1),), (add("b", "x", 1),), (add("c", "x", 1),)),
    _known("exchange-chain", "a=2 b=1", "none", (swap("a", "x", 1),), (swap("b", "x", 2),)),
]  # fmt: skip

LITMUS_TESTS = [
    *STORE_BUFFERING,
    *MESSAGE_PASSING,
    *RELEASE_SEQUENCES,
    *LOAD_BUFFERING,
    *MANY_THREADS,
    *TWO_WRITES,
    *COHERENCE,
]
