"""Dropping what can never run and what nobody uses. Nothing that could fail, block or be seen is dropped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mazurka.program import instructions as ins
from mazurka.program.cfg import reverse_postorder
from mazurka.program.instructions import Constant, Instruction, Phi, Register, Value
from mazurka.program.operands import operands
from mazurka.program.program import Function

DIVISIONS = frozenset({"udiv", "sdiv", "urem", "srem"})


def may_fail(instruction: Instruction) -> bool:
    """Whether an instruction that only computes can be an error."""
    match instruction:
        case ins.Binary(op, left, Constant(_, int(divisor), False), checked=checked) if op in DIVISIONS:
            return checked or divisor in (0, (1 << left.type.bits) - 1)  # (-1 can overflow)
        case ins.Binary(op, checked=checked):
            return checked or op in DIVISIONS
        case ins.Offset(limit=limit):
            return limit is not None
        case _:
            return False


def remove_unreachable_blocks(function: Function) -> None:
    reachable = set(reverse_postorder(function))
    if len(reachable) == len(function.blocks):
        return
    function.blocks = {name: block for name, block in function.blocks.items() if name in reachable}
    for block in function.blocks.values():
        for phi in block.phis:
            phi.incoming = [(source, value) for source, value in phi.incoming if source in reachable]


def remove_dead_instructions(function: Function) -> None:
    """Remove the phis and the instructions without any effect but a result that nothing depends on, and the results of
    updates that nothing depends on. An operation that is checked goes only if it is part of a circle, from round to
    round of a loop: a counter that nobody looks at does not keep a loop from being one that only waits."""
    sources: dict[Register, Instruction | Phi] = {}  # what computes a register, if that can be removed
    pending: list[Value] = []
    for block in function.blocks.values():
        for phi in block.phis:
            sources[phi.result] = phi
        for instruction in block.instructions:
            if instruction.result is not None and _is_pure(instruction):
                sources[instruction.result] = instruction
            else:
                pending.extend(operands(instruction))

    needed: set[Register] = set()
    _follow(pending, sources, needed)
    for register, origin in sources.items():
        if not isinstance(origin, Phi) and may_fail(origin) and register not in needed:
            reached: set[Register] = set()
            _follow(operands(origin), sources, reached)
            if register not in reached:
                needed |= {register, *reached}

    dead = sources.keys() - needed
    for block in function.blocks.values():
        if dead:
            block.phis = [phi for phi in block.phis if phi.result not in dead]
            block.instructions = [instruction for instruction in block.instructions if instruction.result not in dead]
        for instruction in block.instructions:
            # An update whose old value nobody uses commutes with others of its kind.
            if isinstance(instruction, ins.Update) and instruction.result not in needed:
                instruction.result = None


def _follow(values: Iterable[Value], sources: Mapping[Register, Instruction | Phi], into: set[Register]) -> None:
    """Add the registers among the values, and what they depend on."""
    pending = list(values)
    while pending:
        value = pending.pop()
        if not isinstance(value, Register) or value in into:
            continue
        into.add(value)
        origin = sources.get(value)
        if isinstance(origin, Phi):
            pending.extend(incoming for _, incoming in origin.incoming)
        elif origin is not None:
            pending.extend(operands(origin))


def _is_pure(instruction: Instruction) -> bool:
    match instruction:
        case ins.Binary(op):
            return op not in DIVISIONS or not may_fail(instruction)
        case ins.StackAlloc(size):
            return isinstance(size, Constant)  # a computed size may be too large, which is an error
        case (
            ins.Compare()
            | ins.Convert()
            | ins.Unary()
            | ins.Select()
            | ins.Offset()
            | ins.Self()
            | ins.ThreadLocalAddress()
        ):
            return True
        case _:
            return False
