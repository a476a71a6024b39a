"""Which engine a program is for, where nobody says: the stateless one if the program ends, else the stateful one.

No program is judged by this, so it may be wrong. A program that ends is found to be one that does not only if it comes
back to a state, and that is a proof; one that does not end and is not found out makes the stateless engine meet its
limit on the length of executions, and is handed over then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mazurka.deadline import NEVER, Deadline
from mazurka.engines.running import INTERRUPTED, run
from mazurka.engines.stateful import PAUSE_AFTER
from mazurka.executions.positions import Source

if TYPE_CHECKING:
    from mazurka.machine.lowering import Lowered

# So many states are looked at before the stateless engine gets its chance. Executions that need not end show early:
# depth-first search comes to them as soon as it lets a thread poll for what another one has.
MOST_STATES = 20_000
# Nor is it worth more memory, in bytes, nor more time, where there is a limit on that. (A thread that computes on its
# own for long, or executions that are long, take much of both in few states.)
MOST_MEMORY = 1 << 27
MOST_SECONDS = 5.0
# So many steps an execution may have, if there are loops that may go round for ever, before the program is handed over.
MOST_STEPS = 5_000


def endless_at(lowered: Lowered, deadline: Deadline = NEVER) -> str | None:
    """Where a program, prepared for the stateless engine, is seen to go round for ever, in words: some execution comes
    back to a state that it was in, so it can do so again and again. None: as far as can be seen, every one ends."""
    from mazurka import _native

    search = _native.StateSearch(
        lowered.code,
        keep_going=True,
        until_cycle=True,
        max_states=MOST_STATES,
        max_memory=MOST_MEMORY,
        pause_after=PAUSE_AFTER,
    )
    # Without a limit on time, what is found does not depend on the clock.
    _, reason = run(search, deadline if deadline.timeout is None else deadline.sooner(MOST_SECONDS))
    if reason == INTERRUPTED:
        raise KeyboardInterrupt
    cycle = search.cycle()
    if not cycle:
        return None
    source = Source(lowered)
    where = source.loop(cycle) or source.position(cycle)
    return "the program can go round for ever" + (f" ({where})" if where else "")
