"""What an instruction uses and what it defines, for passes that treat all instructions alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from mazurka.program import instructions
from mazurka.program.instructions import CompareExchange, FunctionAddress, Instruction, Register, Spawn, Value
from mazurka.program.program import Program

# The fields of each kind of instruction that hold values: one, perhaps none or a function's name, or a list.
OPERAND_FIELDS = {
    kind: tuple(field.name for field in fields(kind) if "Value" in str(field.type))
    for kind in vars(instructions).values()
    if isinstance(kind, type) and issubclass(kind, Instruction)
}


def operands(instruction: Instruction) -> list[Value]:
    """The values that an instruction uses, in the order of its fields."""
    values: list[Value] = []
    for name in OPERAND_FIELDS[type(instruction)]:
        value = getattr(instruction, name)
        if isinstance(value, list):
            values.extend(value)
        elif value is not None and not isinstance(value, str):
            values.append(value)
    return values


def definitions(instruction: Instruction) -> list[Register]:
    """The registers that an instruction defines."""
    defined = [] if instruction.result is None else [instruction.result]
    if isinstance(instruction, CompareExchange) and instruction.success is not None:
        defined.append(instruction.success)
    return defined


def replace_operands(instruction: Instruction, replacements: Mapping[Register, Value]) -> None:
    """Use other values in place of the given registers."""
    for name in OPERAND_FIELDS[type(instruction)]:
        value = getattr(instruction, name)
        if isinstance(value, list):
            for index, element in enumerate(value):
                if isinstance(element, Register) and element in replacements:
                    value[index] = replacements[element]
        elif isinstance(value, Register) and value in replacements:
            setattr(instruction, name, replacements[value])


def pointed_to(program: Program) -> list[str]:
    """The functions that may be called through pointers, or started as threads through them."""
    found = {relocation.target for each in program.globals.values() for relocation in each.relocations}
    for function in program.functions.values():
        for block in function.blocks.values():
            values = [value for phi in block.phis for _, value in phi.incoming]
            for instruction in block.instructions:
                values += instruction.arguments if isinstance(instruction, Spawn) else operands(instruction)
            found.update(value.name for value in values if isinstance(value, FunctionAddress))
    return sorted(name for name in found if name in program.functions)
