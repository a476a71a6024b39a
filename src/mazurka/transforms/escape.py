"""Which objects can only ever be reached by their own thread? Accesses to those are no events.

Candidates are the objects of a `StackAlloc` and the copies of a thread-local variable. An object is private unless
its address *leaks*. An address is known to the instruction that makes it, and goes on from there

- into registers computed from it (`Offset`, `Convert`, `Binary`, `Unary`, `Select`, phis), into the parameters of a
  function that is called by name, and into the results of such calls of a function that returns it: these leak the
  address if they leak themselves;
- into uses that look at it and keep nothing: as the address of an access, in a `Compare`, in what an `Await` or a
  `Claim` says;
- into all other uses, which count as leaks: being stored, exchanged or compared with memory, returned from the function
  that has made the object, or from one that may be called otherwise than by name, given to a new thread, to a function
  called through a pointer, printed, branched on, and whatever may be added some day.

Why this is sound. A thread acts only on addresses that are in its registers. By induction over the steps of an
execution, the address of an object that does not leak (or a number computed from it) is only ever in registers of
the thread that made it: a register gets its value from registers of the same thread, from memory (where the address
never is, as storing it is a leak), from a function that it has called and that returns it, from the arguments of a new
thread (a leak), or by making the address itself, which for a `StackAlloc` gives a new object, and for a
thread-local variable the thread's own copy. What is left is to guess an address: to turn a number that does not
come from it into a pointer. The representation gives addresses no other origin, so such a pointer would be out of
the bounds of the object that it was computed from.

Nothing here depends on the order of instructions, so recursion and loops, in which one instruction makes many
objects, need no special care.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mazurka.program import instructions as ins
from mazurka.program.instructions import Instruction, Register, Value
from mazurka.program.operands import operands
from mazurka.program.program import Function, Program


def find_private_objects(program: Program) -> None:
    """Set `private` of every `StackAlloc` and of every thread-local variable of a valid program. A front end may know
    more of an object that it made up itself, and have set it before."""
    leaked = _leaked_registers(program)
    leaked_variables: set[str] = set()
    for function in program.functions.values():
        for instruction in function.instructions:
            if isinstance(instruction, ins.StackAlloc):
                instruction.private = instruction.private or instruction.result not in leaked
            elif isinstance(instruction, ins.ThreadLocalAddress) and instruction.result in leaked:
                leaked_variables.add(instruction.name)
    for variable in program.globals.values():
        variable.private = variable.thread_local and variable.name not in leaked_variables


def _leaked_registers(program: Program) -> set[Register]:
    """Where the value of a register may get out of the sight of this analysis, and out of its thread.

    Everything is followed backwards: from the uses that leak to what the leaked values were computed from.
    """
    origins: dict[Register, list[Value]] = {}  # what a register is computed from, or a parameter was given
    pending: list[Value] = []
    returned = _returned_values(program)
    for function in program.functions.values():
        for block in function.blocks.values():
            for phi in block.phis:
                origins[phi.result] = [value for _, value in phi.incoming]
            for instruction in block.instructions:
                match instruction:
                    case ins.Binary() | ins.Convert() | ins.Unary() | ins.Select() | ins.Offset():
                        if instruction.result is not None:
                            origins[instruction.result] = operands(instruction)
                    case ins.Call(str(name), arguments):
                        for parameter, argument in zip(program.functions[name].parameters, arguments, strict=True):
                            origins.setdefault(parameter, []).append(argument)
                        if instruction.result is not None:
                            origins[instruction.result] = returned.get(name, [])
                    case ins.Return() if function.name in returned:
                        pass
                    case _:
                        pending.extend(_leaking_operands(instruction))

    leaked = _computed_from(pending, origins)
    for name, values in returned.items():
        # A local variable must not be known to anybody any more when its function has returned.
        if own := _local_objects(program.functions[name]) - leaked:
            leaked |= own & _computed_from(values, origins)
    return leaked


def _computed_from(values: Iterable[Value], origins: Mapping[Register, Sequence[Value]]) -> set[Register]:
    """All registers that have a part in these values."""
    found: set[Register] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, Register) and value not in found:
            found.add(value)
            pending.extend(origins.get(value, ()))
    return found


def _local_objects(function: Function) -> set[Register]:
    return {
        instruction.result
        for instruction in function.instructions
        if isinstance(instruction, ins.StackAlloc) and instruction.result is not None
    }


def _returned_values(program: Program) -> dict[str, list[Value]]:
    """What the functions return that are only ever called by name."""
    taken = {each.target for variable in program.globals.values() for each in variable.relocations}
    returned: dict[str, list[Value]] = {}
    for function in program.functions.values():
        for block in function.blocks.values():
            values = [value for phi in block.phis for _, value in phi.incoming]
            for instruction in block.instructions:
                values += operands(instruction)
                if isinstance(instruction, ins.Return) and instruction.value is not None:
                    returned.setdefault(function.name, []).append(instruction.value)
            taken.update(value.name for value in values if isinstance(value, ins.FunctionAddress))
    return {name: values for name, values in returned.items() if name not in taken}


def _leaking_operands(instruction: Instruction) -> Iterable[Value]:
    match instruction:
        case ins.Load() | ins.Free() | ins.BlockSize() | ins.Compare() | ins.Claim():
            return ()
        case ins.Store(value) | ins.Update(value=value):
            return (value,)
        case ins.CompareExchange(expected=expected, desired=desired):
            return (expected, desired)
        case ins.Await(condition):
            return (condition,)
        case _:
            return operands(instruction)
