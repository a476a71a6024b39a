"""The native core: the virtual machine and the explorers. They know nothing of C, of files or of printing."""

from collections.abc import Sequence
from typing import Any

OPCODES: list[str]
"""The names of the machine's instructions, in the order of their numbers."""

MAX_OBJECT_SIZE: int

class Code:
    """A lowered program, as `mazurka.transforms.lowering` makes it. Immutable; shared by machines."""

    def __init__(
        self,
        instructions: bytes,
        constants: Sequence[tuple[int, int]],
        operands: Sequence[int],
        functions: Sequence[tuple[int, int, int, bool]],
        globals: Sequence[tuple[bytes, bool]],
        thread_locals: Sequence[tuple[bytes, bool]],
        entry: int,
        thread_block_size: int,
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
    object: int
    holder: int

class Next:
    """What a thread would do. `ranges` are the sizes of the choices met on the way, as far as it got."""

    enabled: bool
    accesses: list[Access]
    ranges: list[int]
    waiting: Waiting | None

class Operation:
    """One thing that a thread did while operations were recorded, event or not.

    kind: "load", "store", "update", "compare-exchange", "allocate", "free", "spawn", "end", "exit", "choose",
    "output", "section" (the begin of an atomic section), "fail" or "stop" (a false assume).
    `frames` are the code positions of the thread's calls, innermost first. `address` is the memory touched, or of
    the allocated or freed object, or of the control block of the thread spawned or ended. `read` and `written` are
    values as unsigned integers where they exist (choose: read = its value, written = its range; output: written =
    the byte; allocate: written = the size). `visible`: other threads can tell.
    """

    kind: str
    thread: int
    frames: list[int]
    address: int
    size: int
    read: int | None
    written: int | None
    visible: bool

class Failure:
    """A run-time error of one thread. `fault` (a name of `native/vm/fault.hpp`), `address` and `size` say what
    happened, `frames` where (innermost first), `kind` which kind of bug that is."""

    kind: str
    fault: str
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
        follow_pointers: bool = False,
        thread_names: Sequence[str] = (),
    ) -> None:
        """`thread_names` fixes the numbering of threads, as in `Exploration.thread_names`. What a thread computes on
        its own for longer than `pause_after` instructions, if that is not 0, is several steps. `follow_pointers` is
        needed for `canonical`."""

    def threads(self) -> list[int]:
        """The threads created so far (1 is the first), in the order of their numbers."""

    def thread_name(self, thread: int) -> str:
        """Its path: "main", "main.1" for the first thread that main creates, "main.1.2", ..."""

    def thread_names(self) -> list[str]:
        """The names of all threads met so far, also before a `rewind`, in the order of their numbers."""

    def thread_function(self, thread: int) -> int:
        """The number of the function that it was started with."""

    def status(self, thread: int) -> str:
        """ "ready" (perhaps blocked: see `next`), "ended", "stopped" (by a false assume) or "failed"."""

    def next(self, thread: int, choices: Sequence[int] = ()) -> Next: ...
    def step(self, thread: int, choices: Sequence[int] = ()) -> list[Access]:
        """Take one step of an enabled thread: its next event and all that follows it locally."""

    def go_round(self, thread: int) -> None:
        """Take the step that a thread would take if the guards of its loops let it pass: the one that it waits with."""

    def spins(self, thread: int) -> bool:
        """Whether a thread that stays at a loop's guard would go round that loop for ever if nobody else did
        anything."""

    def watches(self, thread: int) -> list[Access]:
        """What a thread that spins touches in one round, none of which changes."""

    def exited(self) -> bool:
        """Whether the whole program has ended by `Exit`."""

    def failure(self) -> Failure | None: ...
    def frames(self, thread: int) -> list[int]: ...
    def operations(self) -> list[Operation]:
        """What was recorded since the last call (or since the machine was made). Of very many accesses that are not
        visible, only the latest are kept."""

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

class Exploration:
    """A search over the executions of a program. `run` may be called from another thread; it holds no GIL.

    algorithm: "pop", "optimal", "exhaustive", or "random" (which never finishes by itself). `seed` shuffles which of
    the enabled threads goes first (0: the order of their numbers); for "random" it is the seed of the walk.
    races: "ignore", "warn" (collect data races) or "error" (a data race is a bug).
    """

    def __init__(
        self,
        code: Code,
        *,
        algorithm: str,
        uninitialised: bool = True,
        commute: bool = True,
        keep_going: bool = False,
        allow_livelock: bool = False,
        keep_executions: bool = False,
        races: str = "ignore",
        max_executions: int = 0,
        max_steps: int = 100_000,
        instruction_limit: int = 10_000_000,
        seed: int = 0,
    ) -> None: ...
    def run(self) -> None: ...
    def stop(self) -> None:
        """Ask a running `run` to return soon."""

    def finished(self) -> bool:
        """Whether everything was covered."""

    def algorithm(self) -> str:
        """The one that was used in the end: "pop" hands programs over to "optimal" that it cannot handle."""

    def progress(self) -> tuple[int, int, int, int, int, float]:
        """(complete, blocked, redundant, steps so far, depth of the current execution, about which fraction of all
        executions that is, 0 if unknown); safe while running."""

    def bounded(self) -> int:
        """How many of the blocked executions were stopped by a bound on a loop."""

    def assumed(self) -> int:
        """How many of the other blocked executions were stopped by what the program assumes."""

    def instructions_executed(self) -> int: ...
    def thread_names(self) -> list[str]: ...
    def bug(self) -> tuple[str, int, list[tuple[int, list[int]]]] | None:
        """The first bug: (kind, thread, schedule), the schedule as (thread, choices) per step. kind: "failure" (replay
        the schedule to see the `Failure`), "deadlock", "livelock", "steps" (the limit on steps was reached) or "race"
        (between the last step of the schedule and an earlier one: see `races`)."""

    def executions(self) -> list[list[tuple[int, list[int]]]]:
        """With `keep_executions`, the schedules of all maximal executions: for tests."""

    def races(self) -> list[tuple[int, int, list[tuple[int, list[int]]]]]:
        """The distinct data races: (position of the first access's step, position of the second's, the schedule up to
        and including the second). The second may be a step that `go_round` takes."""

class StateSearch:
    """A search over the states of a program. `run` may be called from another thread; it holds no GIL.

    reduction: "cpc", "cycle-detection", "unsound" (which can miss bugs) or "none". `exact`: keep whole states, not
    fingerprints. Limits are 0 where there is none; `max_memory` is in bytes. `pause_after` is that of `Machine`.
    """

    def __init__(
        self,
        code: Code,
        *,
        reduction: str = "cpc",
        exact: bool = False,
        uninitialised: bool = True,
        keep_going: bool = False,
        max_memory: int = 0,
        max_states: int = 0,
        max_depth: int = 0,
        instruction_limit: int = 10_000_000,
        pause_after: int = 10_000,
    ) -> None: ...
    def run(self) -> None: ...
    def stop(self) -> None:
        """Ask a running `run` to return soon."""

    def finished(self) -> bool:
        """Whether everything was covered."""

    def limit(self) -> str:
        """Which limit ended it: "memory", "states", or "" if none did."""

    def progress(self) -> tuple[int, int, int, int, int, int, bool]:
        """(states, transitions, depth, largest depth so far, bytes of memory, how often it began anew, whether it looks
        for a shorter way to a bug that it has found); safe while running."""

    def table_bytes(self) -> int:
        """The part of the memory that is the table of states."""

    def thread_names(self) -> list[str]: ...
    def bug(self) -> tuple[str, int, list[tuple[int, list[int]]]] | None:
        """The first bug, as `Exploration.bug` tells it. kind: "failure" or "deadlock"."""

    def bugs(self) -> list[tuple[str, tuple[Any, ...]]]:
        """What tells bugs apart: ("failure", (fault, name of the thread, positions of its calls, ...)) or ("deadlock",
        ((name of a thread, position that it waits at), ...)). All that were met, with `keep_going`."""
