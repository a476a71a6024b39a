"""Bounding loops: a thread that has iterated a loop N times is back at its header for the (N+1)-th time since it
entered the loop, and stops there for good.

Executions in which that happens are counted (an `Assume` of the origin "bound" stops the thread), and a search that
has met one never says "verified". What is not bounded is explored as it is: the loops of the library, which end;
cycles that control can enter at several places (by `goto`); recursion; and loops in atomic sections, where a bound is
not heeded, for a section is one step.

Iterations are counted in a register, by adding the condition of the bound rather than 1: so the machine can let the
counter stand still while it tries whether a thread iterates for ever.
"""

from __future__ import annotations

from mazurka.program.cfg import Loop, natural_loops, predecessors
from mazurka.program.instructions import Assume, Binary, Compare, Constant, Convert, Phi, Register
from mazurka.program.program import Function, Program
from mazurka.program.types import I1, I64
from mazurka.transforms.loops.iterations import first_location


def bound_loops(program: Program, iterations: int) -> None:
    """Bound every natural loop of the program's own functions."""
    for function in program.functions.values():
        if not function.library:
            for loop in natural_loops(function):
                _bound(function, loop, iterations)


def _bound(function: Function, loop: Loop, iterations: int) -> None:
    header = function.blocks[loop.header]
    location = first_location([header])
    rounds, fewer, one, counted = Register("rounds", I64), Register("", I1), Register("", I64), Register("", I64)
    header.phis.append(
        Phi(
            rounds,
            [
                (source, counted if source in loop.blocks else Constant(I64, 0))
                for source in predecessors(function)[loop.header]
            ],
        )
    )
    header.instructions[:0] = [
        Compare("ult", rounds, Constant(I64, iterations), result=fewer, location=location),
        Assume(fewer, "bound", location=location),
        Convert("zext", fewer, result=one, location=location),
        Binary("add", rounds, one, result=counted, location=location),
    ]
