"""The native core: the virtual machine and the explorers. They know nothing of C, of files or of printing."""

from collections.abc import Callable, Sequence
from typing import Any

# What a step reads from some bytes, if that is not what the latest step before it left there: address, size, value,
# the bits of it that nobody has written, and the position of the step that wrote it, from 0 (-1: it was there from the
# start). And a step: the number of its thread, its choices, and what it reads. In what a search tells, the last one may
# be of the thread 0: what is in memory at the end.
_Reading = tuple[int, int, int, int, int]
_Step = tuple[int, list[int], list[_Reading]]
_StepTaken = tuple[int, Sequence[int], Sequence[_Reading]]

VOCABULARIES: dict[str, tuple[str, ...]]
"""The words of each vocabulary of `native/core/vocabulary.hpp`, in the order of their numbers."""

LAYOUT: dict[str, int]
"""The numbers of `native/core/layout.hpp`; `mazurka.machine.layout` is their face."""

def address_of(owner: int, number: int) -> int: ...
def object_of(address: int) -> int: ...

class Code:
    """A lowered program, as `mazurka.machine.lowering` makes it. Immutable; shared by machines."""

    def __init__(
        self,
        instructions: bytes,
        constants: Sequence[tuple[int, int]],
        operands: Sequence[int],
        functions: Sequence[tuple[int, int, int, bool]],
        globals: Sequence[tuple[bytes, bool]],
        thread_locals: Sequence[tuple[bytes, bool]],
        entry: int,
    ) -> None: ...

class Access:
    """Bytes that an event touches. `commuting` names the operation of an update whose old value nobody uses."""

    address: int
    size: int
    reads: bool
    writes: bool
    commuting: str | None
    atomic: bool

class Waiting:
    """Why a thread cannot go on: the instruction of the guard, and what it says it waits for."""

    pc: int
    guard: str
    object: int
    holder: int

class Effect:
    """What a thread would do. `ranges` are the sizes of the choices met on the way, as far as it got."""

    enabled: bool
    accesses: list[Access]
    ranges: list[int]
    waiting: Waiting | None

class Operation:
    """One thing that a thread did while operations were recorded, event or not.

    kind: "load", "store", "update", "compare-exchange", "allocate", "free", "spawn", "end", "exit", "choose",
    "output", "section" (the begin of an atomic section), "fail", "stop" (a false assume) or "return" (of `main`, with
    another status than 0).
    `frames` are the code positions of the thread's calls, innermost first (of very many, those at both ends). `address`
    is the memory touched, or of the allocated or freed object, or of the control block of the thread spawned or ended.
    `read` and `written` are values as unsigned integers where they exist (choose: read = its value, written = its
    range; output: written = the byte; allocate: written = the size). `visible`: other threads can tell. `step` numbers
    the steps, from 1; 0 is before the first. `left_out`: so many steps before it are not recorded, or not in full.
    """

    kind: str
    thread: int
    frames: list[int]
    address: int
    size: int
    read: int | None
    written: int | None
    visible: bool
    step: int
    left_out: int

class Failure:
    """A run-time error of one thread. `fault`, `address` and `size` say what happened, `frames` where (innermost
    first), `kind` which kind of bug that is, `limit` whether it is not the program that goes wrong: it needs more than
    the machine has room for."""

    kind: str
    fault: str
    limit: bool
    thread: int
    address: int
    size: int
    frames: list[int]

class ObjectInfo:
    """An object of the machine's memory.

    kind: "null", "global", "function", "thread", "thread-local", "stack", "heap" or "invalid" (no such object).
    `index` is the number of the global, of the function, or of the thread-local variable. `owner` is the thread
    that allocated it, `number` tells apart the objects of one owner, `site` is the code position that allocated it,
    `freed_at` the one that freed it, or -1.
    """

    kind: str
    index: int
    owner: int
    number: int
    base: int
    size: int
    alive: bool
    site: int
    freed_at: int

class Machine:
    """Executes one program, one event at a time, under the control of its user."""

    def __init__(
        self,
        code: Code,
        *,
        uninitialised: bool = True,
        record: bool = False,
        instruction_limit: int = 10_000_000,
        pause_after: int = 0,
        follow_locks: bool = False,
        follow_pointers: bool = False,
        leaks: bool = False,
        any_status: bool = False,
        thread_names: Sequence[str] = (),
    ) -> None:
        """`thread_names` fixes the numbering of threads, as in `Exploration.thread_names`. What a thread computes on
        its own for longer than `pause_after` instructions, if that is not 0, is several steps. `follow_pointers` is
        needed for `canonical`, and with `follow_locks` for `livelock`. `any_status`: it is no failure if the process
        ends with another status than 0."""

    def threads(self) -> list[int]:
        """The threads created so far (1 is the first), in the order of their numbers."""

    def thread_name(self, thread: int) -> str:
        """Its path: "main", "main.1" for the first thread that main creates, "main.1.2", ..."""

    def thread_names(self) -> list[str]:
        """The names of all threads met so far, also before a `rewind`, in the order of their numbers."""

    def status(self, thread: int) -> str:
        """ "ready" (perhaps blocked: see `next`), "ended", "returned" (from `main`, which ends the process as soon as
        nobody else can go on), "stopped" (by a false assume) or "failed"."""

    def next(self, thread: int, choices: Sequence[int] = (), reads: Sequence[_Reading] = ()) -> Effect: ...
    def step(self, thread: int, choices: Sequence[int] = (), reads: Sequence[_Reading] = ()) -> list[Access]:
        """Take one step of an enabled thread: its next event and all that follows it locally. It `reads` these from
        some bytes, whatever is there."""

    def follow(self, steps: Sequence[_StepTaken], *, past_failures: bool = False) -> int:
        """Take these steps, also after a failure if so asked, and tell how many of them could be taken. If that is not
        all, the machine is of no use any more: it may be in the middle of one."""

    def put(self, reads: Sequence[_Reading]) -> None:
        """From here on, this is what is in some bytes."""

    def go_round(self, thread: int) -> None:
        """Take the step that a thread would take if the guards of its loops let it pass: the one that it waits with."""

    def spins(self, thread: int) -> bool:
        """Whether a thread that stays at a loop's guard would go round that loop for ever if nobody else did
        anything."""

    def watches(self, thread: int) -> list[Access]:
        """What a thread that spins touches in one round, none of which changes."""

    def livelock(self) -> list[tuple[int, bool, list[Access]]]:
        """If, whatever the threads do from here on, nothing happens any more but that some of them go round loops: all
        that wait, each with whether it goes round a loop, and what it touches there. None otherwise. The machine must
        follow locks and pointers."""

    def failed(self) -> bool:
        """Whether a thread has failed otherwise than by meeting a limit, where it merely stays."""

    def exited(self) -> bool:
        """Whether the whole program has ended by `Exit`."""

    def failure(self) -> Failure | None:
        """The first, if threads have failed, or else the first limit that one has met."""

    def failure_of(self, thread: int) -> Failure | None:
        """How a thread has failed, or which limit it has met."""

    def frames(self, thread: int) -> list[int]: ...
    def operations(self) -> list[Operation]:
        """What was recorded since the last call (or since the machine was made): the first and the last thousands. Of
        accesses that are not visible, only the latest are kept if there are many."""

    def forget_operations(self) -> None:
        """As `operations`, for who does not want to know them."""

    def output(self) -> bytes:
        """What the program has printed: the first megabyte, if operations are recorded."""

    def allocated(self) -> list[int]:
        """The blocks on the heap, in order, the first hundred thousand of them."""

    def pointers(self) -> list[tuple[int, int]]:
        """Where the address of such a block was read or written: the word, and the block."""

    def uses(self) -> list[tuple[int, int]]:
        """The code positions that accessed such a block, and where: the first address that each touched in it."""

    def life(self, block: int) -> tuple[Operation | None, Operation | None]:
        """How such a block was allocated and freed."""

    def describe(self, address: int) -> ObjectInfo: ...
    def read(self, address: int, size: int) -> bytes: ...
    def mark(self) -> int: ...
    def rewind(self, mark: int) -> None: ...
    def state(self) -> bytes:
        """Everything that the future depends on, as bytes: for tests."""

    def canonical(self) -> bytes:
        """What `StateSearch` takes for the state: equal only if the futures are."""

    def addresses_matter(self) -> bool:
        """Whether the program has looked at an address as at a number, so that blocks cannot be called otherwise."""

    def instructions_executed(self) -> int: ...

def judge(
    stays: Sequence[tuple[int, str, int, bool]],
    *,
    returned: bool = False,
    limited: bool = False,
    allow_livelock: bool = False,
) -> tuple[bool, bool, bool, str | None]:
    """How an execution ended in which nobody can go on, and these threads have not ended: each with what it stays at
    ("resource", "program", "loop" or "bound"), the thread that holds that (0: nobody), and whether its loop would go
    round for ever. `returned`: `main` has; `limited`: another one has met a limit. (blocked, bounded, assumed,
    "deadlock" or "livelock" or None): see `Executions`."""

class Exploration:
    """A search over the executions of a program. `run` may be called from another thread; it holds no GIL.

    algorithm: "pop", "optimal", "exhaustive", or "random" (which never finishes by itself). `seed` shuffles which of
    the enabled threads goes first (0: the order of their numbers); for "random" it is the seed of the walk.
    races: "ignore", "warn" (collect data races) or "error" (a data race is a bug).
    jobs: how many threads search; of the algorithm "pop" only. `split`: not 0: what they do is divided at random, in
    ways that depend on it, even if there is one; for tests.
    passes_over: called with the names of threads and each new data race, as `race` tells it; whether it is of no
    interest. Others in the same places are then still told, unless they are about the same address.
    """

    def __init__(
        self,
        code: Code,
        *,
        algorithm: str,
        uninitialised: bool = True,
        leaks: bool = False,
        commute: bool = True,
        symmetry: bool = False,
        keep_going: bool = False,
        allow_livelock: bool = False,
        keep_executions: bool = False,
        races: str = "ignore",
        passes_over: Callable[[Sequence[str], tuple[int, int, Sequence[_StepTaken]]], bool] | None = None,
        max_executions: int = 0,
        max_steps: int = 100_000,
        until_endless: bool = False,
        instruction_limit: int = 10_000_000,
        seed: int = 0,
        any_status: bool = False,
        jobs: int = 1,
        split: int = 0,
    ) -> None: ...
    def run(self) -> None: ...
    def stop(self) -> None:
        """Ask a running `run` to return soon."""

    def finished(self) -> bool:
        """Whether everything was covered."""

    def algorithm(self) -> str:
        """The one that was used in the end: "pop" hands programs over to "optimal" that it cannot handle."""

    def hand_over(self) -> tuple[str, list[int]] | None:
        """What another algorithm than the one that was asked for was needed for, and where in the code."""

    def told_apart(self) -> tuple[int, int] | None:
        """How many executions there are, complete and blocked, with threads told apart that are alike (2**64 - 1: or
        more); None if they were."""

    def beyond(self) -> int:
        """How many executions have met a limit."""

    def progress(self) -> tuple[int, int, int, int, int, float]:
        """(complete, blocked, redundant, steps so far, depth of the current execution, about which fraction of all
        executions that is, 0 if unknown); safe while running."""

    def bounded(self) -> int:
        """How many of the blocked executions were stopped by a bound on a loop."""

    def assumed(self) -> int:
        """How many of the other blocked executions were stopped by what the program assumes."""

    def instructions_executed(self) -> int: ...
    def jobs(self) -> int:
        """How many threads have searched in the end."""

    def thread_names(self) -> list[str]: ...
    def bug(self) -> tuple[str, int, list[_Step], str | None] | None:
        """The first bug: (kind, thread, schedule, kind of the failure), the schedule as (thread, choices) per step.
        kind: "failure" (replay the schedule to see the `Failure`), "deadlock", "livelock" or "race" (between the last
        step of the schedule and an earlier one: see `race`)."""

    def bug_count(self) -> int:
        """How many bugs differ in what happens, or where, data races aside."""

    def bug_at(self, number: int) -> tuple[str, int, list[_Step], str | None, int]:
        """One of them, from 0, as `bug` tells it, and how many executions that went on to their end have shown it."""

    def limit_met(self) -> tuple[str, int, list[_Step]] | None:
        """The first limit that an execution met: (fault, thread, schedule). The fault "too_many_steps" is for an
        execution that has not ended after `max_steps`; others are as in `Failure`."""

    def left(self) -> list[_Step] | None:
        """The schedule of an execution in which as many threads as ever still wait when `main` returns; None: there are
        none."""

    def executions(self) -> list[list[_Step]]:
        """With `keep_executions`, the schedules of all maximal executions: for tests."""

    def race_count(self) -> int:
        """How many distinct data races were met."""

    def race(self, number: int) -> tuple[int, int, list[_Step]]:
        """One of them, from 0: position of the first access's step, position of the second's, the schedule up to and
        including the second. The second may be a step that `go_round` takes."""

class GraphExploration:
    """A search over the execution graphs of a program under a memory model: "sc", "tso", "pso", "ra" or "c11". What it
    has in common with `Exploration` is called the same; in its schedules, steps may read what others have overwritten.
    """

    def __init__(
        self,
        code: Code,
        *,
        memory: str = "c11",
        equivalence: str = "traces",
        uninitialised: bool = True,
        leaks: bool = False,
        symmetry: bool = False,
        keep_going: bool = False,
        allow_livelock: bool = False,
        keep_executions: bool = False,
        races: str = "ignore",
        passes_over: Callable[[Sequence[str], tuple[int, int, Sequence[_StepTaken]]], bool] | None = None,
        max_executions: int = 0,
        max_steps: int = 100_000,
        until_endless: bool = False,
        instruction_limit: int = 10_000_000,
        any_status: bool = False,
        jobs: int = 1,
        split: int = 0,
    ) -> None: ...
    def run(self) -> None: ...
    def stop(self) -> None: ...
    def finished(self) -> bool: ...
    def algorithm(self) -> str: ...
    def hand_over(self) -> tuple[str, list[int]] | None: ...
    def told_apart(self) -> tuple[int, int] | None: ...
    def beyond(self) -> int: ...
    def progress(self) -> tuple[int, int, int, int, int, float]: ...
    def bounded(self) -> int: ...
    def assumed(self) -> int: ...
    def instructions_executed(self) -> int: ...
    def jobs(self) -> int: ...
    def thread_names(self) -> list[str]: ...
    def bug(self) -> tuple[str, int, list[_Step], str | None] | None: ...
    def bug_count(self) -> int: ...
    def bug_at(self, number: int) -> tuple[str, int, list[_Step], str | None, int]: ...
    def limit_met(self) -> tuple[str, int, list[_Step]] | None: ...
    def left(self) -> list[_Step] | None: ...
    def executions(self) -> list[list[_Step]]: ...
    def race_count(self) -> int: ...
    def race(self, number: int) -> tuple[int, int, list[_Step]]: ...

class StateSearch:
    """A search over the states of a program. `run` may be called from another thread; it holds no GIL.

    reduction: "cpc", "cycle-detection", "unsound" (which can miss bugs) or "none". `exact`: keep whole states, not
    fingerprints. Limits are 0 where there is none; `max_memory` is in bytes. `pause_after` is that of `Machine`.
    `until_cycle`: end where an execution comes back to a state. `until_growth`: end where it seems that something keeps
    growing. `livelocks`, and `races` ("warn" or "error"): look for these. `passes_over` is asked about each new data
    race, as for `Exploration`. `nearby`: cover what is near the start as well, before the search has gone too far.
    """

    def __init__(
        self,
        code: Code,
        *,
        reduction: str = "cpc",
        exact: bool = False,
        uninitialised: bool = True,
        leaks: bool = False,
        keep_going: bool = False,
        until_cycle: bool = False,
        until_growth: bool = False,
        max_memory: int = 0,
        max_states: int = 0,
        instruction_limit: int = 10_000_000,
        pause_after: int = 10_000,
        any_status: bool = False,
        livelocks: bool = False,
        races: str = "ignore",
        passes_over: Callable[[Sequence[str], tuple[int, int, Sequence[_StepTaken]]], bool] | None = None,
        nearby: bool = True,
    ) -> None: ...
    def run(self) -> None: ...
    def stop(self) -> None:
        """Ask a running `run` to return soon."""

    def finished(self) -> bool:
        """Whether everything was covered."""

    def stops_everywhere(self) -> bool:
        """Whether, of all that was covered, every execution stops at what the program assumes: none ends otherwise, and
        none goes on for ever without a thread that has stopped."""

    def limit(self) -> str:
        """Which limit ended it: "memory", "states", "growth", or "" if none did."""

    def progress(self) -> tuple[int, int, int, int, int, int, bool]:
        """(states, transitions, depth, largest depth so far, bytes of memory, how often it began anew, whether it looks
        for a shorter way to a bug that it has found); safe while running."""

    def cycle(self) -> list[int]:
        """With `until_cycle`: the code positions of the thread that brings an execution back, innermost call first."""

    def table_bytes(self) -> int:
        """The part of the memory that is the table of states."""

    def thread_names(self) -> list[str]: ...
    def bug(self) -> tuple[str, int, list[_Step], str | None] | None:
        """The first bug, as `Exploration.bug` tells it. kind: "failure", "deadlock", "livelock" or "race"."""

    def race_count(self) -> int: ...
    def race(self, number: int) -> tuple[int, int, list[_Step]]:
        """As `Exploration.race`."""

    def may_miss_races(self) -> bool:
        """No data race was found, but there may be some whose accesses are never side by side."""
    def may_miss_livelocks(self) -> bool:
        """Somewhere, there was too much to look at to know whether it is a livelock."""
    def covered_depth(self) -> int:
        """All that can be done within so many steps was covered, as far as that was looked at by itself."""

    def bug_count(self) -> int: ...
    def bug_at(self, number: int) -> tuple[str, int, list[_Step], str | None]:
        """One of those that `bugs` names, from 0, as `bug` tells it. Of very many, the first."""

    def limit_met(self) -> tuple[str, int, list[_Step]] | None:
        """The first limit that an execution met, as `Exploration.limit_met` tells it."""

    def left(self) -> list[_Step] | None:
        """As `Exploration.left`."""

    def bugs(self) -> list[tuple[str, tuple[Any, ...]]]:
        """What tells bugs apart: ("failure", (fault, name of the thread, positions of its calls, ...)) or ("deadlock",
        ((name of a thread, position that it waits at), ...)). All that were met, with `keep_going`."""
