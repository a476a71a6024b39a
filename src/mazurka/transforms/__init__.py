"""Transformations of programs, in place, each of which keeps what a program can do and what can be seen of it."""

from __future__ import annotations

from mazurka.program.program import Program
from mazurka.transforms.escape import find_private_objects
from mazurka.transforms.inline import inline_wrappers
from mazurka.transforms.loops.awaits import make_awaits
from mazurka.transforms.loops.purity import eliminate_pure_iterations
from mazurka.transforms.loops.unroll import bound_loops
from mazurka.transforms.pointees import find_pointees
from mazurka.transforms.promote import promote
from mazurka.transforms.signs import open_signs

__all__ = [
    "bound_loops",
    "eliminate_pure_iterations",
    "find_private_objects",
    "make_awaits",
    "prepare",
    "promote",
    "use_registers",
]


def use_registers(program: Program) -> None:
    """Put local variables into registers, also those that are only passed to functions that wrap an access. What only
    the sign is known of is then seen to be used as a sign, or else."""
    for function in program.functions.values():
        promote(function)
    inline_wrappers(program)
    open_signs(program)


def prepare(
    program: Program, *, purity: bool = True, awaits: bool = True, unroll: int | None = None, weak: bool = False
) -> Program:
    """What is done to every valid program before it is checked.

    Local variables go to registers, which remember what they point to. Iterations of loops that do nothing are cut
    short (`purity`), which shows what a loop waits for; accesses wait for what is assumed of them (`awaits`). Loops
    that may go on after `unroll` iterations are stopped there. `weak`: all of this keeps the executions of weak memory
    models, too, not only interleavings. What stays in memory but cannot be shared is marked as
    private. In this order: a variable in a register leaks nothing and is seen to be the same after an iteration, a
    guard is an assume that follows its access, and a counter of iterations would make each of them do something.

    `weak`: executions may be others than interleavings. Then only that is done which holds under each of the memory
    models; the modules say which, and why."""
    find_pointees(program)
    use_registers(program)
    if purity:
        eliminate_pure_iterations(program, awaits=awaits, weak=weak)
    if awaits:
        make_awaits(program, weak=weak)
    if unroll is not None:
        bound_loops(program, unroll)
    find_private_objects(program)
    return program
