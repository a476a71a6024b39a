"""Results of which C says no more than their sign, as those of `memcmp` and `strcmp`.

Most programs only compare them with 0, and then any number of that sign will do. A result is *revealed* if more than
its sign may be seen: if it, or a value that it goes into unchanged (through phis, `Select`s, sign extensions,
parameters and returns), is used for anything else than a comparison with 0. Such a result is chosen among numbers that
differ in what programs wrongly rely on. Besides 1 and -1 these are numbers whose sign turns round in any narrower type
(`char`, `short`), and numbers that become 0 there; among them are the least number, which cannot be negated, and the
largest.

Why that is sound for what is not revealed: all of its uses give the same for every number of that sign. For what is
revealed it is a sample, of which the documentation says so. Of what is done inside of the library, only what it returns
reveals: the C++ library keeps such numbers in objects of its own, and looks at their signs.
"""

from __future__ import annotations

from mazurka.program import instructions as ins
from mazurka.program.instructions import Constant, Instruction, Register, Value
from mazurka.program.operands import operands, pointed_to, replace_operands
from mazurka.program.program import Function, Program
from mazurka.program.types import I1, I32

_LARGEST = (1 << 31) - 1
_POSITIVE = (1, 1 << 16, _LARGEST)
_NEGATIVE = (-1 % (1 << 32), 1 << 31, -_LARGEST % (1 << 32))
_SIGN_TESTS = frozenset(("eq", "ne", "slt", "sle", "sgt", "sge"))


def open_signs(program: Program) -> None:
    """Replace every `AnyOfSign`: by its sign where that is all that can be seen of it, else by a choice."""
    functions = [f for f in program.functions.values() if any(isinstance(i, ins.AnyOfSign) for i in f.instructions)]
    if not functions:
        return
    revealed = _revealed_registers(program)
    for function in functions:
        _replace(function, revealed)


def _revealed_registers(program: Program) -> set[Register]:
    """Backwards from the uses that reveal, to all that a value may have come from."""
    origins: dict[Register, list[Value]] = {}
    pending: list[Value] = []
    returned: dict[str, list[Value]] = {
        name: [i.value for i in function.instructions if isinstance(i, ins.Return) and i.value is not None]
        for name, function in program.functions.items()
    }
    anything = [value for name in pointed_to(program) for value in returned[name]]
    for function in program.functions.values():
        for block in function.blocks.values():
            for phi in block.phis:
                origins[phi.result] = [value for _, value in phi.incoming]
            for instruction in block.instructions:
                match instruction:
                    case ins.Select(_, if_true, if_false, result=Register() as result):
                        origins[result] = [if_true, if_false]
                    case ins.Convert("sext", value, result=Register() as result):
                        origins[result] = [value]
                    case ins.Call(str(name), arguments):
                        for parameter, argument in zip(program.functions[name].parameters, arguments, strict=True):
                            origins.setdefault(parameter, []).append(argument)
                        if instruction.result is not None:
                            origins[instruction.result] = returned[name]
                    case ins.Call(_, arguments):
                        if not function.library:
                            pending.extend(arguments)
                        if instruction.result is not None:
                            origins[instruction.result] = anything
                    case ins.Return() | ins.AnyOfSign():
                        pass
                    case ins.Compare(predicate, _, Constant(value=0, undefined=False)) if predicate in _SIGN_TESTS:
                        pass
                    case _ if not function.library:
                        pending.extend(operands(instruction))
    revealed: set[Register] = set()
    while pending:
        value = pending.pop()
        if isinstance(value, Register) and value not in revealed:
            revealed.add(value)
            pending.extend(origins.get(value, ()))
    return revealed


def _replace(function: Function, revealed: set[Register]) -> None:
    signs: dict[Register, Value] = {}
    for block in function.blocks.values():
        kept: list[Instruction] = []
        for instruction in block.instructions:
            if not isinstance(instruction, ins.AnyOfSign):
                kept.append(instruction)
            elif instruction.result in revealed:
                kept.extend(_choice(instruction))
            elif instruction.result is not None:
                signs[instruction.result] = instruction.sign
        block.instructions = kept
    for register, sign in signs.items():
        while isinstance(sign, Register) and sign in signs:
            sign = signs[sign]
        signs[register] = sign
    for block in function.blocks.values():
        for phi in block.phis:
            phi.incoming = [(source, signs.get(v, v) if isinstance(v, Register) else v) for source, v in phi.incoming]
        for instruction in block.instructions:
            replace_operands(instruction, signs)


def _choice(instruction: ins.AnyOfSign) -> list[Instruction]:
    code: list[Instruction] = []
    zero, sign = Constant(I32), instruction.sign

    def compute(operation: Instruction, result: Register) -> Register:
        operation.result, operation.location = result, instruction.location
        code.append(operation)
        return result

    def compare(predicate: ins.Predicate, left: Value, right: Value) -> Register:
        return compute(ins.Compare(predicate, left, right), Register("sign", I1))

    def select(condition: Value, if_true: Value, if_false: Value) -> Register:
        return compute(ins.Select(condition, if_true, if_false), Register("sign", I32))

    def one_of(numbers: tuple[int, int, int]) -> Value:
        first, second, third = (Constant(I32, number) for number in numbers)
        return select(is_first, first, select(is_second, second, third))

    count = select(compare("eq", sign, zero), Constant(I32, 1), Constant(I32, len(_POSITIVE)))
    choice = compute(ins.Choose(count), Register("choice", I32))
    is_first, is_second = compare("eq", choice, zero), compare("eq", choice, Constant(I32, 1))
    positive, negative = one_of(_POSITIVE), one_of(_NEGATIVE)
    is_positive, is_negative = compare("sgt", sign, zero), compare("slt", sign, zero)
    assert instruction.result is not None
    rest = select(is_negative, negative, zero)
    compute(ins.Select(is_positive, positive, rest), instruction.result)
    return code
