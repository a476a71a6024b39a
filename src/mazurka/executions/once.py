"""One execution, whichever it is: for what a program prints, where that does not depend on schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mazurka.errors import InputError
from mazurka.executions.ending import way_on
from mazurka.executions.faults import explain
from mazurka.executions.naming import Names
from mazurka.executions.positions import Source

if TYPE_CHECKING:
    from mazurka.machine.lowering import Lowered
    from mazurka.program.program import Program

# What is recorded besides the output is of no interest, but takes memory.
_STEPS_RECORDED = 1000


def printed(program: Program, lowered: Lowered) -> str:
    """What a program prints until it ends, with whatever status, if each step is of the first thread that can take one.
    Raises `InputError` if it fails, meets a limit, or waits for ever."""
    from mazurka import _native

    machine = _native.Machine(lowered.code, record=True, any_status=True)
    steps = 0
    while not machine.exited() and machine.failure() is None:
        ready = (thread for thread in machine.threads() if machine.status(thread) == "ready")
        possible = ((thread, choices) for thread in ready if (choices := way_on(machine, thread)) is not None)
        step = next(possible, None)
        if step is None:
            break
        machine.step(*step)
        steps += 1
        if steps % _STEPS_RECORDED == 0:
            machine.forget_operations()
    failure = machine.failure()
    if failure is not None:
        raise InputError(explain(failure, Source(lowered), Names(program, lowered, machine)))
    return machine.output().decode(errors="replace")
