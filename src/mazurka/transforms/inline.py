"""Calls replaced by what they do: for analyses that do not look into other functions.

The instructions that come from another function say so in their location, so that traces can name it. Those of the
library take the place of the call, which is what traces show of it.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from itertools import count

from mazurka.program.cfg import successors
from mazurka.program.instructions import (
    Branch,
    Call,
    CompareExchange,
    Constant,
    Instruction,
    Jump,
    Load,
    Location,
    Phi,
    Register,
    Return,
    StackAlloc,
    Store,
    Switch,
    Update,
    Value,
)
from mazurka.program.operands import OPERAND_FIELDS, definitions, replace_operands
from mazurka.program.program import Block, Function, Program
from mazurka.transforms.conditions import computed
from mazurka.transforms.promote import promote
from mazurka.transforms.simplify import remove_unreachable_blocks

MAX_CALLEE_SIZE = 400  # instructions
MAX_CALLER_SIZE = 20_000


def callees_first(program: Program) -> list[Function]:
    """The functions of the program, each after those that it calls by name, except in a recursion."""
    order: dict[str, Function] = {}
    seen: set[str] = set()
    for root in program.functions:
        path = [(root, list(_called(program.functions[root])))] if root not in seen else []
        seen.add(root)
        while path:
            name, remaining = path[-1]
            if not remaining:
                order[name] = program.functions[name]
                path.pop()
            elif (callee := remaining.pop()) not in seen:
                seen.add(callee)
                path.append((callee, list(_called(program.functions[callee]))))
    return list(order.values())


def can_inline(program: Program, call: Call) -> bool:
    """Whether a call is of a function that can be put in its place: one of the program's own, or one of the library
    that only wraps some accesses. Objects on the stack would live too long there."""
    if not isinstance(call.callee, str):
        return False
    function = program.functions[call.callee]
    code = [instruction for block in function.blocks.values() for instruction in block.instructions]
    return (
        function.size <= MAX_CALLEE_SIZE
        and any(isinstance(instruction, Return) for instruction in code)
        and not any(isinstance(instruction, StackAlloc) for instruction in code)
        and (not function.library or all(_is_simple(instruction) for instruction in code))
        and not _is_recursive(program, function)
    )


def inline_wrappers(program: Program) -> None:
    """Put the functions of the library that only wrap accesses, as those of `std::atomic` do, in the place of their
    calls: variables that are passed to them by reference can then be registers."""
    wrappers = {
        name for name, function in program.functions.items() if function.library and can_inline(program, Call(name, []))
    }
    for function in program.functions.values():
        if function.library:
            continue
        changed = False
        while calls := [
            instruction
            for block in function.blocks.values()
            for instruction in block.instructions
            if isinstance(instruction, Call) and instruction.callee in wrappers
        ]:
            if function.size > MAX_CALLER_SIZE:
                break
            function.blocks = inlined(program, function, calls).blocks
            _decide_known_branches(function)
            changed = True
        if changed:
            promote(function)


def _decide_known_branches(function: Function) -> None:
    """Where control goes is known if what decides it is a constant: a memory order, here."""
    for block in function.blocks.values():
        match block.terminator:
            case Branch(Constant(value=number, undefined=False), if_true, if_false):
                target = if_true if number else if_false
            case Switch(Constant(value=number, undefined=False), cases, default):
                target = next((target for key, target in cases if key == number), default)
            case _:
                continue
        for other in successors(block):
            if other != target:
                for phi in function.blocks[other].phis:
                    phi.incoming = [(name, value) for name, value in phi.incoming if name != block.name]
        block.instructions[-1] = Jump(target, location=block.terminator.location)
    remove_unreachable_blocks(function)


def _is_simple(instruction: Instruction) -> bool:
    access = isinstance(instruction, Load | Store | Update | CompareExchange)
    control = isinstance(instruction, Call | Jump | Branch | Switch | Return)
    return access or control or computed(instruction, lambda value: value) is not None


def inlined(program: Program, function: Function, calls: list[Call]) -> Function:
    """A copy of a function with some calls replaced. Instructions are the same ones in both."""
    result = replace(
        function,
        blocks={
            name: Block(name, [Phi(phi.result, list(phi.incoming)) for phi in block.phis], list(block.instructions))
            for name, block in function.blocks.items()
        },
    )
    for call in calls:
        assert isinstance(call.callee, str)
        block = next(block for block in result.blocks.values() if call in block.instructions)
        _replace(result, block, call, program.functions[call.callee])
    return result


def _replace(function: Function, block: Block, call: Call, callee: Function) -> None:
    """Cut a block in two at a call and put the called function between the two."""
    taken = set(function.blocks)
    prefix = next(
        name
        for name in (f"{callee.name}.{number}" for number in count(len(taken)))
        if not any(label == name or label.startswith(f"{name}.") for label in taken)
    )
    rest = Block(prefix)
    position = block.instructions.index(call)
    block.instructions, rest.instructions = block.instructions[:position], block.instructions[position + 1 :]
    for target in successors(rest):
        for phi in function.blocks[target].phis:
            phi.incoming = [(rest.name if name == block.name else name, value) for name, value in phi.incoming]

    labels = {name: f"{prefix}.{name}" for name in callee.blocks}
    values: dict[Register, Value] = dict(zip(callee.parameters, call.arguments, strict=True))
    for original in callee.blocks.values():
        for phi in original.phis:
            values[phi.result] = Register(phi.result.name, phi.result.type)
        for instruction in original.instructions:
            for register in definitions(instruction):
                values[register] = Register(register.name, register.type)

    def renamed(value: Value) -> Value:
        return values[value] if isinstance(value, Register) else value

    returned: list[tuple[str, Value]] = []
    for original in callee.blocks.values():
        clone = Block(labels[original.name])
        clone.phis = [
            Phi(_register(values[phi.result]), [(labels[name], renamed(value)) for name, value in phi.incoming])
            for phi in original.phis
        ]
        for instruction in original.instructions:
            if isinstance(instruction, Return):
                if instruction.value is not None:
                    returned.append((clone.name, renamed(instruction.value)))
                clone.instructions.append(Jump(rest.name, location=_location(instruction, callee, call)))
            else:
                clone.instructions.append(_clone(instruction, values, labels))
                clone.instructions[-1].location = _location(instruction, callee, call)
        function.blocks[clone.name] = clone
    if call.result is not None:
        rest.phis.append(Phi(call.result, returned))
    block.instructions.append(Jump(labels[callee.entry.name], location=call.location))
    function.blocks[rest.name] = rest


def _clone(instruction: Instruction, values: dict[Register, Value], labels: dict[str, str]) -> Instruction:
    clone = copy.copy(instruction)
    for name in OPERAND_FIELDS[type(clone)]:
        if isinstance(value := getattr(clone, name), list):
            setattr(clone, name, list(value))
    replace_operands(clone, values)
    if clone.result is not None:
        clone.result = _register(values[clone.result])
    match clone:
        case CompareExchange(success=Register() as success):
            clone.success = _register(values[success])
        case Jump(target):
            clone.target = labels[target]
        case Branch(_, if_true, if_false):
            clone.if_true, clone.if_false = labels[if_true], labels[if_false]
        case Switch(_, cases, default):
            clone.cases = [(number, labels[target]) for number, target in cases]
            clone.default = labels[default]
    return clone


def _register(value: Value) -> Register:
    assert isinstance(value, Register)
    return value


def _location(instruction: Instruction, function: Function, call: Call) -> Location | None:
    """Where an instruction of a function is said to be if the function takes the place of a call."""
    if function.library:
        return call.location
    location = instruction.location or function.location
    around = call.location.text if call.location else ()
    return location and replace(location, function=location.function or function.name, text=around + location.text)


def _is_recursive(program: Program, function: Function) -> bool:
    seen: set[str] = set()
    pending = list(_called(function))
    while pending:
        name = pending.pop()
        if name == function.name:
            return True
        if name not in seen:
            seen.add(name)
            pending += _called(program.functions[name])
    return False


def _called(function: Function) -> dict[str, None]:
    """The functions that a function calls by name."""
    return {
        instruction.callee: None
        for block in function.blocks.values()
        for instruction in block.instructions
        if isinstance(instruction, Call) and isinstance(instruction.callee, str)
    }
