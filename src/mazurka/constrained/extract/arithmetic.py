"""What instructions compute without touching memory, on terms instead of numbers.

Addresses are numbers as well. What is done with them has to come out as in the virtual machine, wherever objects lie.
"""

from __future__ import annotations

from collections.abc import Sequence

from mazurka.constrained.extract.conditions import PathConditions
from mazurka.constrained.extract.memory import linear
from mazurka.constrained.extract.paths import UNDEFINED, Beyond, Fault, Split, UndefinedValue, Value, source_of
from mazurka.constrained.extract.values import atoms
from mazurka.constrained.model import terms as t
from mazurka.constrained.model.terms import Term
from mazurka.executions.faults import PLAIN
from mazurka.machine.layout import ADDRESS_BITS, MAX_OBJECT_SIZE, object_of
from mazurka.machine.lowering import bits_of
from mazurka.program import instructions as ins
from mazurka.program.operands import operands
from mazurka.program.types import Float, signed


class Arithmetic(PathConditions):
    def value(self, operand: ins.Value) -> Value:
        match operand:
            case ins.Register():
                return self.path.frame.registers[operand]
            case ins.Constant(type, number, undefined):
                if undefined:
                    return UNDEFINED
                if isinstance(type, Float):
                    return t.constant(bits_of(operand), type.bits)
                return t.constant(int(number), type.bits)
            case ins.GlobalAddress(name, offset):
                return t.constant(self.whole.memory.addresses[name] + offset, 64)
            case ins.FunctionAddress(name):
                return t.constant(self.whole.memory.addresses[name], 64)

    def defined(self, operand: ins.Value, what: str = "a branch") -> Term:
        value = self.value(operand)
        if isinstance(value, UndefinedValue):
            raise Fault("memory", f"{what} depends on memory that was never written")
        return value

    def set(self, register: ins.Register | None, value: Value) -> None:
        if register is not None:
            self.path.frame.registers[register] = value

    def known_number(self, term: Term, *, exactly: bool = False) -> int:
        """The value of a term that has to be known."""
        term = self.known(term)
        if term.is_constant:
            return term.value
        self.whole.demand(term, exactly=exactly)
        raise AssertionError(term)

    def compute(self, instruction: ins.Instruction) -> None:
        result = instruction.result
        if result is None:
            return
        if isinstance(instruction, ins.Select):
            self.set(result, self._select(instruction))
            return
        values = [self.value(operand) for operand in operands(instruction)]
        if isinstance(instruction, ins.Unary) and instruction.op == "defined":
            value = values[0]
            self.set(result, t.constant(0, result.type.bits) if isinstance(value, UndefinedValue) else value)
            return
        if any(isinstance(value, UndefinedValue) for value in values):
            self.set(result, self._undefined(instruction, values))
            return
        numbers = [value for value in values if isinstance(value, Term)]
        self.require_like(instruction, numbers)
        if isinstance(instruction, ins.Binary | ins.Compare):
            for number in numbers:
                self.require_near(number)
        if not self.path.frame.function.library and self._depends_on_addresses(instruction, numbers):
            self.whole.telling.append(source_of(self.path.frames))
        match instruction:
            case ins.Binary(op):
                self.set(result, self._binary(op, *numbers))
            case ins.Compare(predicate):
                self.set(result, self._compare(predicate, *numbers))
            case ins.Convert(op):
                self.set(result, self._convert(op, numbers[0], result.type.bits))
            case ins.Unary(op):
                self.set(result, self._unary(op, numbers[0]))
            case ins.Offset(_, _, scale, displacement):
                base, index = numbers
                moved = t.binary("add", t.binary("mul", index, t.constant(scale, 64)), t.constant(displacement, 64))
                address = t.binary("add", base, moved)
                if base.is_constant and address.is_constant and object_of(address.value) != object_of(base.value):
                    address = t.constant(address.value | 1 << 63, 64)
                self.set(result, address)

    def _select(self, instruction: ins.Select) -> Value:
        condition = self.value(instruction.condition)
        if isinstance(condition, UndefinedValue):
            return UNDEFINED
        decided = self.decide(condition)
        if decided is None:
            one, other = self.value(instruction.if_true), self.value(instruction.if_false)
            if isinstance(one, Term) and isinstance(other, Term):
                return t.ite(condition, one, other)
            decided = self.branch(condition)
        return self.value(instruction.if_true if decided else instruction.if_false)

    def _depends_on_addresses(self, instruction: ins.Instruction, numbers: list[Term]) -> bool:
        """Whether a result depends on where objects lie, and is no address itself. (Tags in the lowest bits are none,
        and nor are the distances in an object.)"""
        objects = [self._pointed_to(number) for number in numbers]
        if not any(objects):
            return False
        match instruction:
            case ins.Binary("add" | "and" | "or" | "xor" as op):
                others = [number for number, known in zip(numbers, objects, strict=True) if not known]
                tags = range(-16 if op == "and" else 0, 16)
                tagged = [number for number in others if number.is_constant and signed(number.value, 64) in tags]
                return len(others) != 1 or (op != "add" and not tagged)
            case ins.Binary("sub"):
                return not objects[0] or (bool(objects[1]) and len(objects[0] | objects[1]) > 1)
            case ins.Compare("eq" | "ne") | ins.Offset() | ins.Convert("bitcast"):
                return False
            case ins.Compare():
                return not all(objects) or len(frozenset().union(*objects)) > 1
        return True

    def _pointed_to(self, number: Term) -> frozenset[int]:
        """The objects of which a number may be the address; none if it is no address."""
        if number.width != 64:
            return frozenset()
        known = self.whole.values_of(number) if number.op in ("variable", "select") else None
        values = known if known is not None else [number.value if number.is_constant else linear(number)[0]]
        found = {object_of(value) for value in values if value >> ADDRESS_BITS == 0}
        objects = self.whole.memory.objects
        return frozenset(each for each in found if each in objects and objects[each].kind != "null")

    def require_like(self, instruction: ins.Instruction, numbers: Sequence[Term]) -> None:
        """What is computed from addresses of blocks that are used again has to be the same for all addresses that they
        can have."""
        carrying = [number for number in numbers if self.whole.reuse.carries(number)]
        if not carrying:
            return
        inside = all(number.is_constant for number in numbers) and len({object_of(n.value) for n in numbers}) == 1
        match instruction:
            case ins.Compare("eq" | "ne") | ins.CompareExchange() if all(map(self._is_told_apart, numbers)):
                return
            case ins.Convert("bitcast") | ins.Update("exchange"):
                return
            case ins.Compare() | ins.Binary("sub") if inside:
                return
            case ins.Binary("add") | ins.Update("add") if len(carrying) == 1:
                return
            case ins.Binary("sub") | ins.Offset() | ins.Update("sub") if carrying == [numbers[0]]:
                return
        raise Beyond(
            "the address of a block is taken for a number, which cannot be followed here where blocks are made in a "
            "loop that may never end; use global variables"
        )

    def _is_told_apart(self, number: Term) -> bool:
        """Whether a number is equal to an address if and only if it is one of the same byte: it is moved, and not
        computed. (No block has an address that was made up, as those close to null are that stand for errors.)"""
        if number.op == "ite":
            return all(map(self._is_told_apart, number.args[1:]))
        if number.op == "add" and number.args[1].is_constant:
            return abs(signed(number.args[1].value, 64)) <= MAX_OBJECT_SIZE and self._is_told_apart(number.args[0])
        if self.whole.reuse.carries(number):
            return number.op in ("variable", "select", "constant")
        values = [number.value] if number.is_constant else self.whole.values_of(number)
        return values is not None and all(object_of(value) in self.whole.memory.objects for value in values)

    def require_near(self, address: Term) -> None:
        """The machine marks a pointer that strays far from its object. What is done with one as a number is only
        followed if it does not."""
        if address.width != 64 or address.is_constant:
            return
        offset, parts = linear(address)
        target = self.whole.memory.objects.get(object_of(offset))
        if parts and target is not None and target.size > 0:
            self.require(
                target.is_at(address),
                "beyond",
                f"a pointer may stray far from {target.display}, which cannot be followed here",
            )

    def _undefined(self, instruction: ins.Instruction, values: list[Value]) -> Value:
        """The result of an operation on what was never written, where all of its bits are undefined, too."""
        match instruction:
            case ins.Binary("add" | "sub" | "mul" | "xor") | ins.Offset() | ins.Convert("bitcast" | "trunc" | "sext"):
                return UNDEFINED
            case ins.Binary("shl" | "lshr" | "ashr") if isinstance(values[1], UndefinedValue):
                return UNDEFINED
            case ins.Binary(op) if op in ("udiv", "sdiv", "urem", "srem") and isinstance(values[1], Term):
                return UNDEFINED
            case ins.Compare(predicate) if not predicate.startswith("f"):
                return UNDEFINED
            case ins.Binary("and" | "or" as op):
                # A bit that is absorbed by a bit of the other operand is known.
                other = next((value for value in values if isinstance(value, Term)), None)
                if other is None:
                    return UNDEFINED
                ones = t.constant(-1, other.width)
                absorbing, neutral = (
                    (ones, t.constant(0, other.width)) if op == "or" else (t.constant(0, other.width), ones)
                )
                if other.width == 1 and not other.is_constant:
                    other = t.constant(int(self.branch(other)), 1)
                if other is absorbing or other is neutral:
                    return absorbing if other is absorbing else UNDEFINED
        raise Beyond("a computation with memory that was never written cannot be followed here; initialise it")

    def _binary(self, op: str, left: Term, right: Term) -> Term:
        if op.startswith("f"):
            raise Beyond("floating-point numbers cannot be followed here")
        if op in ("udiv", "sdiv", "urem", "srem"):
            width = left.width
            zero = t.compare("eq", right, t.constant(0, width))
            self.require(t.negation(zero), "arithmetic", PLAIN["division_by_zero"])
            if op in ("sdiv", "srem"):
                least = t.compare("eq", left, t.constant(1 << (width - 1), width))
                overflow = t.binary("and", t.compare("eq", right, t.constant(-1, width)), least)
                self.require(t.negation(overflow), "arithmetic", PLAIN["division_overflow"])
        return t.binary(op, left, right)

    def _compare(self, predicate: str, left: Term, right: Term) -> Term:
        match predicate:
            case "eq" | "ult" | "ule" | "slt" | "sle":
                return t.compare(predicate, left, right)
            case "ne":
                return t.negation(t.compare("eq", left, right))
            case "ugt" | "uge" | "sgt" | "sge":
                return t.compare(predicate[0] + "l" + predicate[2], right, left)
        raise Beyond("floating-point numbers cannot be followed here")

    def _convert(self, op: str, value: Term, width: int) -> Term:
        if op in ("zext", "sext", "trunc"):
            return t.convert(op, value, width)
        if op == "bitcast":
            return value
        raise Beyond("floating-point numbers cannot be followed here")

    def _unary(self, op: str, value: Term) -> Term:
        if op.startswith("f"):
            raise Beyond("floating-point numbers cannot be followed here")
        value = self.known(value)
        width = value.width
        if not value.is_constant and all(self.whole.values_of(atom) is not None for atom in atoms(value)):
            raise Split(atoms(value))
        bits = [t.convert("trunc", t.binary("lshr", value, t.constant(i, width)), 1) for i in range(width)]
        match op:
            case "ctpop":
                total = t.constant(0, width)
                for bit in bits:
                    total = t.binary("add", total, t.convert("zext", bit, width) if width > 1 else bit)
                return total
            case "ctlz" | "cttz":
                result = t.constant(width, width)
                for position, bit in enumerate(bits if op == "ctlz" else reversed(bits)):
                    result = t.ite(bit, t.constant(width - 1 - position, width), result)
                return result
            case "bswap":
                order = [bits[width - 8 * (i // 8 + 1) + i % 8] for i in range(width)]
            case _:
                order = bits[::-1]
        result = t.constant(0, width)
        for position, bit in enumerate(order):
            one = t.convert("zext", bit, width) if width > 1 else bit
            result = t.binary("or", result, t.binary("shl", one, t.constant(position, width)))
        return result
