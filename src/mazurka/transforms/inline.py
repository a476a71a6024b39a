"""Calls replaced by what they do: for analyses that do not look into other functions.

The instructions that come from another function say so in their location, so that traces can name it. Those of the
library take the place of the call, which is what traces show of it.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from itertools import count

from mazurka.program import instructions as ins
from mazurka.program.cfg import natural_loops, successors
from mazurka.program.instructions import Constant, Instruction, Location, Phi, Register, Value
from mazurka.program.operands import OPERAND_FIELDS, definitions, replace_operands
from mazurka.program.program import Block, Function, Program
from mazurka.transforms.loops.conditions import computed
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


def can_inline(program: Program, call: ins.Call, *, sections: bool = False) -> bool:
    """Whether a call is of a function that can be put in its place: one of the program's own, or one of the library
    that only wraps some accesses. With `sections`, also one of the library that is no more than a step: an atomic
    section, such as a trylock. Objects on the stack would live too long there."""
    if not isinstance(call.callee, str):
        return False
    function = program.functions[call.callee]
    code = list(function.instructions)
    return (
        function.size <= MAX_CALLEE_SIZE
        and any(isinstance(instruction, ins.Return) for instruction in code)
        and not any(isinstance(instruction, ins.StackAlloc) for instruction in code)
        and (not function.library or all(map(_is_simple, code)) or (sections and _is_step(function)))
        and not _is_recursive(program, function)
    )


def inline_wrappers(program: Program) -> None:
    """Put the functions of the library that only wrap accesses, as those of `std::atomic` do, in the place of their
    calls: variables that are passed to them by reference can then be registers. What calls functions through pointers,
    as the runtime for exceptions does, does more than that."""
    wrappers = {
        name
        for name, function in program.functions.items()
        if function.library
        and can_inline(program, ins.Call(name, []))
        and not _calls_through_pointers(program, function)
    }
    for function in program.functions.values():
        if function.library:
            continue
        changed = False
        while calls := [
            instruction
            for instruction in function.instructions
            if isinstance(instruction, ins.Call) and instruction.callee in wrappers
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
            case ins.Branch(Constant(value=number, undefined=False), if_true, if_false):
                target = if_true if number else if_false
            case ins.Switch(Constant(value=number, undefined=False), cases, default):
                target = next((target for key, target in cases if key == number), default)
            case _:
                continue
        for other in successors(block):
            if other != target:
                for phi in function.blocks[other].phis:
                    phi.incoming = [(name, value) for name, value in phi.incoming if name != block.name]
        block.instructions[-1] = ins.Jump(target, location=block.terminator.location)
    remove_unreachable_blocks(function)


def _is_simple(instruction: Instruction) -> bool:
    access = isinstance(instruction, ins.MemoryAccess | ins.AnyOfSign)
    control = isinstance(instruction, ins.Call | ins.Jump | ins.Branch | ins.Switch | ins.Return)
    return access or control or computed(instruction, lambda value: value) is not None


def _is_step(function: Function) -> bool:
    """Whether a function of the library goes round no loop and does nothing but what sections are made of."""
    others = ins.Spawn | ins.HeapAlloc | ins.Free | ins.BlockSize | ins.Output | ins.EndThread | ins.LongJump | ins.Exit
    return not natural_loops(function) and not any(isinstance(each, others) for each in function.instructions)


def inlined(program: Program, function: Function, calls: list[ins.Call]) -> Function:
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
        _replace(program, result, block, call, program.functions[call.callee])
    return result


def _replace(program: Program, function: Function, block: Block, call: ins.Call, callee: Function) -> None:
    """Cut a block in two at a call and put the called function between the two."""
    taken = set(function.blocks)
    prefix = next(
        name
        for name in (f"{callee.name}.{number}" for number in count(len(taken)))
        if not any(label == name or label.startswith(f"{name}.") for label in taken)
    )
    rest = _cut(function, block, call, prefix)
    throws = any(isinstance(instruction, ins.Return) and instruction.thrown for instruction in callee.instructions)
    thrown = _after_exception(function, rest) if throws else rest
    labels = {name: f"{prefix}.{name}" for name in callee.blocks}
    values = _fresh_registers(callee)
    values.update(zip(callee.parameters, call.arguments, strict=True))
    returned: list[tuple[str, Value]] = []
    for original in callee.blocks.values():
        clone = Block(labels[original.name])
        clone.phis = [
            Phi(_register(values[phi.result]), [(labels[name], _new(value, values)) for name, value in phi.incoming])
            for phi in original.phis
        ]
        for instruction in original.instructions:
            if isinstance(instruction, ins.Return):
                after = thrown if instruction.thrown else rest
                if instruction.value is not None and after is rest:
                    returned.append((clone.name, _new(instruction.value, values)))
                clone.instructions.append(ins.Jump(after.name, location=_location(program, instruction, callee, call)))
            else:
                clone.instructions.append(_clone(instruction, values, labels))
                clone.instructions[-1].location = _location(program, instruction, callee, call)
        function.blocks[clone.name] = clone
    if call.result is not None:
        for _, value in returned:
            if isinstance(value, Register):
                value.point_to(*call.result.points_to)
        rest.phis.append(Phi(call.result, returned))
    block.instructions.append(ins.Jump(labels[callee.entry.name], location=call.location))
    function.blocks[rest.name] = rest


def _after_exception(function: Function, rest: Block) -> Block:
    """Where control goes on after a call that was left by an exception. What comes after a call, if it may throw, is a
    look at whether it did: that is known where it takes the place of the call, and `rest` need not look any more."""
    match rest.instructions:
        case [
            *stores,
            ins.ThreadLocalAddress(ins.IN_FLIGHT) as own,
            ins.Load() as load,
            ins.Compare("ne") as test,
            ins.Branch() as way,
        ] if load.address is own.result and test.left is load.result and way.condition is test.result:
            if any(each.result is not None for each in stores):
                return rest
            thrown = Block(f"{rest.name}.thrown", instructions=[copy.copy(each) for each in stores])
            thrown.instructions.append(ins.Jump(way.if_true, location=way.location))
            rest.instructions = [*stores, ins.Jump(way.if_false, location=way.location)]
            for phi in function.blocks[way.if_true].phis:
                phi.incoming = [(thrown.name if name == rest.name else name, value) for name, value in phi.incoming]
            function.blocks[thrown.name] = thrown
            return thrown
        case _:
            return rest


def _cut(function: Function, block: Block, call: ins.Call, name: str) -> Block:
    """Remove from a block a call and all that comes after it, which becomes a block of its own."""
    rest = Block(name)
    position = block.instructions.index(call)
    block.instructions, rest.instructions = block.instructions[:position], block.instructions[position + 1 :]
    for target in successors(rest):
        for phi in function.blocks[target].phis:
            phi.incoming = [(name if source == block.name else source, value) for source, value in phi.incoming]
    return rest


def _fresh_registers(function: Function) -> dict[Register, Value]:
    """Another one for each that the code of a function defines."""
    defined = [phi.result for block in function.blocks.values() for phi in block.phis]
    for instruction in function.instructions:
        defined += definitions(instruction)
    return {register: Register(register.name, register.type, register.points_to) for register in defined}


def _new(value: Value, values: dict[Register, Value]) -> Value:
    return values[value] if isinstance(value, Register) else value


def _clone(instruction: Instruction, values: dict[Register, Value], labels: dict[str, str]) -> Instruction:
    clone = copy.copy(instruction)
    for name in OPERAND_FIELDS[type(clone)]:
        if isinstance(value := getattr(clone, name), list):
            setattr(clone, name, list(value))
    replace_operands(clone, values)
    if clone.result is not None:
        clone.result = _register(values[clone.result])
    match clone:
        case ins.CompareExchange(success=Register() as success):
            clone.success = _register(values[success])
        case ins.Jump(target):
            clone.target = labels[target]
        case ins.Branch(_, if_true, if_false):
            clone.if_true, clone.if_false = labels[if_true], labels[if_false]
        case ins.Switch(_, cases, default):
            clone.cases = [(number, labels[target]) for number, target in cases]
            clone.default = labels[default]
    return clone


def _register(value: Value) -> Register:
    assert isinstance(value, Register)
    return value


def _location(program: Program, instruction: Instruction, function: Function, call: ins.Call) -> Location | None:
    """Where an instruction of a function is said to be if the function takes the place of a call."""
    if function.library:
        if call.location is None or call.location.library or not _has_section(program, function):
            return call.location  # what only wraps accesses is told by these
        return replace(call.location, library=function.name)
    location = instruction.location or function.location
    around = call.location.text if call.location else ()
    return location and replace(
        location, function=location.function or function.display or function.name, text=around + location.text
    )


def _has_section(program: Program, function: Function) -> bool:
    """Whether a function has an atomic section, or one that it calls."""
    functions = (function, *(program.functions[name] for name in _reached(program, function)))
    return any(isinstance(each, ins.AtomicBegin) for reached in functions for each in reached.instructions)


def _calls_through_pointers(program: Program, function: Function) -> bool:
    functions = (function, *(program.functions[name] for name in _reached(program, function)))
    return any(
        isinstance(each, ins.Call) and not isinstance(each.callee, str)
        for reached in functions
        for each in reached.instructions
    )


def _is_recursive(program: Program, function: Function) -> bool:
    return function.name in _reached(program, function)


def _reached(program: Program, function: Function) -> set[str]:
    """What a function calls by name, and what that calls."""
    seen: set[str] = set()
    pending = list(_called(function))
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            pending += _called(program.functions[name])
    return seen


def _called(function: Function) -> dict[str, None]:
    """The functions that a function calls by name."""
    return {
        instruction.callee: None
        for instruction in function.instructions
        if isinstance(instruction, ins.Call) and isinstance(instruction.callee, str)
    }
