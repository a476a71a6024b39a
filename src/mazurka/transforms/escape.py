"""Which objects can only ever be reached by their own thread? Accesses to those are no events.

Candidates are the objects of a `StackAlloc` and the copies of a thread-local variable. An object is private unless
its address *leaks*. An address is known to the instruction that makes it, and goes on from there

- into registers computed from it (`Offset`, `Convert`, `Binary`, `Unary`, `Select`, phis), and into the parameters
  of a function that is called by name: these leak the address if they leak themselves;
- into uses that look at it and keep nothing: as the address of an access, in a `Compare`, in what an `Await` or a
  `Claim` says;
- into all other uses, which count as leaks: being stored, exchanged or compared with memory, returned, given to a
  new thread, to a function called through a pointer, printed, branched on, and whatever may be added some day.

Why this is sound. A thread acts only on addresses that are in its registers. By induction over the steps of an
execution, the address of an object that does not leak (or a number computed from it) is only ever in registers of
the thread that made it: a register gets its value from registers of the same thread, from memory (where the address
never is, as storing it is a leak), from the result of a call (returning it is a leak), from the arguments of a new
thread (also a leak), or by making the address itself, which for a `StackAlloc` gives a new object, and for a
thread-local variable the thread's own copy. What is left is to guess an address: to turn a number that does not
come from it into a pointer. The representation gives addresses no other origin, so such a pointer would be out of
the bounds of the object that it was computed from.

Nothing here depends on the order of instructions, so recursion and loops, in which one instruction makes many
objects, need no special care.
"""

from __future__ import annotations

from collections.abc import Iterable

from mazurka.program.instructions import (
    Await,
    Binary,
    BlockSize,
    Call,
    Claim,
    Compare,
    CompareExchange,
    Convert,
    Free,
    Instruction,
    Load,
    Offset,
    Register,
    Select,
    StackAlloc,
    Store,
    ThreadLocalAddress,
    Unary,
    Update,
    Value,
)
from mazurka.program.operands import operands
from mazurka.program.program import Program


def find_private_objects(program: Program) -> None:
    """Set `private` of every `StackAlloc` and of every thread-local variable of a valid program. A front end may know
    more of an object that it made up itself, and have set it before."""
    leaked = _leaked_registers(program)
    leaked_variables: set[str] = set()
    for function in program.functions.values():
        for block in function.blocks.values():
            for instruction in block.instructions:
                if isinstance(instruction, StackAlloc):
                    instruction.private = instruction.private or instruction.result not in leaked
                elif isinstance(instruction, ThreadLocalAddress) and instruction.result in leaked:
                    leaked_variables.add(instruction.name)
    for variable in program.globals.values():
        variable.private = variable.thread_local and variable.name not in leaked_variables


def _leaked_registers(program: Program) -> set[Register]:
    """Where the value of a register may get out of the sight of this analysis, and out of its thread.

    Everything is followed backwards: from the uses that leak to what the leaked values were computed from.
    """
    origins: dict[Register, list[Value]] = {}  # what a register is computed from, or a parameter was given
    pending: list[Value] = []
    for function in program.functions.values():
        for block in function.blocks.values():
            for phi in block.phis:
                origins[phi.result] = [value for _, value in phi.incoming]
            for instruction in block.instructions:
                match instruction:
                    case Binary() | Convert() | Unary() | Select() | Offset():
                        if instruction.result is not None:
                            origins[instruction.result] = operands(instruction)
                    case Call(str(name), arguments):
                        for parameter, argument in zip(program.functions[name].parameters, arguments, strict=True):
                            origins.setdefault(parameter, []).append(argument)
                    case _:
                        pending.extend(_leaking_operands(instruction))

    leaked: set[Register] = set()
    while pending:
        value = pending.pop()
        if isinstance(value, Register) and value not in leaked:
            leaked.add(value)
            pending.extend(origins.get(value, ()))
    return leaked


def _leaking_operands(instruction: Instruction) -> Iterable[Value]:
    match instruction:
        case Load() | Free() | BlockSize() | Compare() | Claim():
            return ()
        case Store(value) | Update(value=value):
            return (value,)
        case CompareExchange(expected=expected, desired=desired):
            return (expected, desired)
        case Await(condition):
            return (condition,)
        case _:
            return operands(instruction)
