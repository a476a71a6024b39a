"""Conditions in the words of the source: `x != 1`, `flag[1] == 1 and turn == 1`."""

from __future__ import annotations

from mazurka.escaping import visible
from mazurka.program import instructions as ins
from mazurka.program.instructions import Constant, FunctionAddress, GlobalAddress, Instruction, Register, Value
from mazurka.program.names import demangle, parts_at
from mazurka.program.operands import definitions
from mazurka.program.program import Function, Program
from mazurka.program.types import I1, Pointer, signed
from mazurka.transforms.loops.conditions import OPPOSITE, Conjunction, Operation, Term, ValueSet, registers

_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^", "shl": "<<", "lshr": ">>", "ashr": ">>",
    "sdiv": "/", "udiv": "/", "srem": "%", "urem": "%", "fadd": "+", "fsub": "-", "fmul": "*", "fdiv": "/",
    "eq": "==", "ne": "!=", "ult": "<", "ule": "<=", "ugt": ">", "uge": ">=", "slt": "<", "sle": "<=", "sgt": ">",
    "sge": ">=", "foeq": "==", "fune": "!=", "folt": "<", "fole": "<=", "fogt": ">", "foge": ">=",
}  # fmt: skip

_FEW = 3  # values that are listed


class Words:
    """How to say what the registers of a function hold."""

    def __init__(self, program: Program, function: Function) -> None:
        self._program = program
        self._origin: dict[Register, Instruction] = {}
        for instruction in function.instructions:
            self._origin.update(dict.fromkeys(definitions(instruction), instruction))
        self._lines: dict[Register, int] = {}  # of reads that need to be told apart

    def conjunction(self, literals: Conjunction) -> str:
        self._lines = self._lines_of_repeated(literals)
        said = [self.literal(term, values) for term, values in literals.items() if not values.full]
        return " and ".join(dict.fromkeys(said)) or "always"

    def _lines_of_repeated(self, literals: Conjunction) -> dict[Register, int]:
        """Where the same place is read at several lines: the line of each read."""
        lines: dict[str, dict[Register, int]] = {}
        for register in (register for term in literals for register in registers(term)):
            access = self._origin.get(register)
            if isinstance(access, ins.ReadingAccess) and access.location is not None:
                lines.setdefault(self.place(access.address), {})[register] = access.location.line
        repeated = (reads for reads in lines.values() if len(set(reads.values())) > 1)
        return {register: line for reads in repeated for register, line in reads.items()}

    def literal(self, term: Term, values: ValueSet) -> str:
        origins = {self._origin[register] for register in registers(term) if register in self._origin}
        calls = {each.location.library for each in origins if each.location is not None}
        if len(calls) == 1 and (call := calls.pop()) is not None:  # what it has found is its own business
            return f"{demangle(call)} changes nothing"
        if term.type == I1:
            wanted = 1 in values
            if isinstance(term, Operation) and term.op in OPPOSITE:
                left, right = (self._compared(operand) for operand in term.operands)
                return f"{left} {_SIGNS[term.op if wanted else OPPOSITE[term.op]]} {right}"
            return self.term(term) if wanted else f"not {self._nested(term)}"
        text = self._compared(term)
        others = [number for first, last in (~values).ranges for number in range(first, min(last, first + _FEW) + 1)]
        if len(others) <= _FEW:
            return " and ".join(f"{text} != {_number(number, term)}" for number in others)
        arcs = sorted(values.arcs(), key=lambda arc: signed(arc[0], values.bits))
        ranges = [_range(text, first, last, term) for first, last in arcs]
        return ranges[0] if len(ranges) == 1 else f"({' or '.join(ranges)})"

    def term(self, term: Term) -> str:
        match term:
            case Constant(undefined=True):
                return "an undefined value"
            case Constant(value=number):
                return _number(number, term) if isinstance(number, int) else f"{number:g}"
            case GlobalAddress(name, offset):
                return f"&{self._part(name, None, offset)}"
            case FunctionAddress(name):
                return demangle(name)
            case Register():
                return self._register(term)
            case Operation("zext" | "sext" | "trunc" | "bitcast", (inner,)):
                return self.term(inner)
            case Operation("select", operands):
                condition, if_true, if_false = (self._nested(operand) for operand in operands)
                return f"{condition} ? {if_true} : {if_false}"
            case Operation(op, (left, right)) if op in _SIGNS:
                return f"{self._nested(left)} {_SIGNS[op]} {self._nested(right)}"
            case Operation(op, operands):
                return f"{op}({', '.join(self.term(operand) for operand in operands)})"

    def place(self, address: Value) -> str:
        """The name of what is at an address."""
        index: Value | None = None
        offset = 0
        while True:
            match self._origin.get(address) if isinstance(address, Register) else address:
                case ins.Offset(base, Constant(value=int(steps)), scale, displacement):
                    address, offset = base, offset + signed(steps, 64) * scale + displacement
                case ins.Offset(GlobalAddress() as base, steps, _, displacement) if index is None:
                    address, index, offset = base, steps, offset + displacement
                case GlobalAddress(name, start):
                    return self._part(name, index, start + offset)
                case ins.ThreadLocalAddress(name):
                    return self._part(name, index, offset)
                case ins.StackAlloc(variable=str(name)):
                    return visible(name) + (f" (+{offset})" if offset else "")
                case _:
                    return (
                        f"*({self.term(address)} {'-' if offset < 0 else '+'} {abs(offset)})"
                        if offset
                        else f"*{self._nested(address)}"
                    )

    def _register(self, register: Register) -> str:
        match self._origin.get(register):
            case ins.Load() | ins.Update() | ins.CompareExchange() as access:
                line = self._lines.get(register)
                return self.place(access.address) + (f" [line {line}]" if line is not None else "")
            case ins.Call(str(name)):
                return f"{demangle(name)}()"
            case ins.Binary(op, left, right) if op in _SIGNS:
                return f"{self._nested(left)} {_SIGNS[op]} {self._nested(right)}"
            case ins.Convert(_, value):
                return self.term(value)
            case ins.Offset(base, Constant(value=int(index)), scale, displacement):
                distance = signed((index * scale + displacement) % (1 << 64), 64)
                return f"{self._nested(base)} {'-' if distance < 0 else '+'} {abs(distance)}"
            case ins.Choose():
                return "a choice"
            case _:
                return visible(register.name) or "a value"

    def _compared(self, term: Term) -> str:
        """A side of a comparison. In C, comparisons bind more tightly than operations on bits."""
        bits = isinstance(term, Operation) and term.op in ("and", "or", "xor", "shl", "lshr", "ashr")
        return self._nested(term) if bits else self.term(term)

    def _nested(self, term: Term) -> str:
        text = self.term(term)
        simple = isinstance(term, Register) and isinstance(self._origin.get(term), ins.ReadingAccess)
        return f"({text})" if " " in text and not simple and not text.startswith("(") else text

    def _part(self, name: str, index: Value | None, offset: int) -> str:
        """The part of a variable at an offset; if it is an array, from the start of its element with an index."""
        variable = self._program.globals[name]
        text, key = visible(variable.display or variable.name), variable.debug_type
        if index is not None:
            kind = self._program.debug_types.get(key or "")
            text, key = f"{text}[{self.term(index)}]", kind.element if kind is not None else None
        return text + self._path(key, offset)

    def _path(self, key: str | None, offset: int) -> str:
        """The way from a type to the scalar at an offset in it."""
        *_, part = parts_at(self._program.debug_types, key, offset)
        return f"{part.path} (+{part.offset})" if part.offset else part.path


def _range(text: str, first: int, last: int, term: Term) -> str:
    """That something is among the numbers from `first` up to `last`, perhaps through zero."""
    bits = term.type.bits
    size, half = 1 << bits, 1 << (bits - 1)
    if first == last:
        return f"{text} == {_number(first, term)}"
    lowest, highest = 0, size - 1
    if signed(first, bits) <= signed(last, bits) or first > last:
        first, last = signed(first, bits), signed(last, bits)
        lowest, highest = -half, half - 1
    if first > last:
        return f"({text} <= {last} or {text} > {first - 1})"
    if first == lowest:
        return f"{text} < 0" if last == -1 else f"{text} <= {last}"
    if last == highest:
        return f"{text} >= 0" if first == 0 else f"{text} > {first - 1}"
    return f"{first} <= {text} <= {last}"


def _number(number: int, term: Term) -> str:
    if isinstance(term.type, Pointer):
        return hex(number) if number else "null"
    return str(signed(number, term.type.bits) if term.type != I1 else number)
