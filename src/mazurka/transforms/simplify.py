"""Dropping what can never run and what nobody uses. Nothing that could fail, block or be seen is dropped."""

from __future__ import annotations

from mazurka.program.cfg import reverse_postorder
from mazurka.program.instructions import (
    Binary,
    Compare,
    Constant,
    Convert,
    Instruction,
    Offset,
    Phi,
    Register,
    Select,
    Self,
    StackAlloc,
    ThreadLocalAddress,
    Unary,
    Update,
    Value,
)
from mazurka.program.operands import operands
from mazurka.program.program import Function

DIVISIONS = frozenset({"udiv", "sdiv", "urem", "srem"})


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
    updates that nothing depends on."""
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
    while pending:
        value = pending.pop()
        if not isinstance(value, Register) or value in needed:
            continue
        needed.add(value)
        origin = sources.get(value)
        if isinstance(origin, Phi):
            pending.extend(incoming for _, incoming in origin.incoming)
        elif origin is not None:
            pending.extend(operands(origin))

    dead = sources.keys() - needed
    for block in function.blocks.values():
        if dead:
            block.phis = [phi for phi in block.phis if phi.result not in dead]
            block.instructions = [instruction for instruction in block.instructions if instruction.result not in dead]
        for instruction in block.instructions:
            # An update whose old value nobody uses commutes with others of its kind.
            if isinstance(instruction, Update) and instruction.result not in needed:
                instruction.result = None


def _is_pure(instruction: Instruction) -> bool:
    match instruction:
        case Binary(op):
            return op not in DIVISIONS
        case StackAlloc(size):
            return isinstance(size, Constant)  # a computed size may be too large, which is an error
        case Compare() | Convert() | Unary() | Select() | Offset() | Self() | ThreadLocalAddress():
            return True
        case _:
            return False
