"""Following one path of a thread: the instructions, one after the other, as the virtual machine executes them
(`native/vm/machine.cpp`), on terms instead of numbers.

Where it depends on a term how a thread goes on, the path divides. What the machine would report is a failure; what
cannot be followed is one of the kind "beyond".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING

from mazurka.engines.abstract import terms as t
from mazurka.engines.abstract.memory import (
    MAX_OBJECT_SIZE,
    Object,
    Overlap,
    Piece,
    Word,
    address_of,
    linear,
    object_of,
    signed,
)
from mazurka.engines.abstract.model import Failure, Input, Rest, Unnoticed, Variable, Waits
from mazurka.engines.abstract.paths import (
    UNDEFINED,
    Arrival,
    Beyond,
    Blocked,
    Ended,
    Frame,
    Guard,
    Later,
    LoopHead,
    Outcome,
    Path,
    Place,
    Slot,
    Split,
    Undefined,
    Value,
    Wrong,
)
from mazurka.engines.abstract.reuse import POOL
from mazurka.engines.abstract.terms import FALSE, TRUE, Term
from mazurka.engines.abstract.values import atoms, opened
from mazurka.positions import spoken
from mazurka.program import instructions as ins
from mazurka.program.operands import operands
from mazurka.program.program import Function
from mazurka.program.types import Float
from mazurka.transforms.lowering import bits_of

if TYPE_CHECKING:
    from mazurka.engines.abstract.extraction import Extraction

NOBODY = t.constant(0, 64)
_MOST_BLOCKS = 60  # from the heap, by one thread, that are not used again, ...
_MANY_BLOCKS = 8  # ... and if they are made in a loop that has no end
_MOST_KNOWN_ROUNDS = 20_000  # of loops, on a path, before the first event, where everything is known
_MOST_LOCAL_ROUNDS = 150  # ... elsewhere
_MOST_UNKNOWN_ROUNDS = 30  # ... and while what a loop computes is not known: terms would grow too deep
_ADDRESS_BITS = 47  # of the virtual machine
_FAR = 1 << 25  # bytes from the begin of its object, where a pointer is none any more
_MOST_SECTION_ROUNDS = 70  # of a loop in an atomic section, where it is not known how often it goes round


class Runner:
    """Runs one path until it ends or divides."""

    def __init__(self, whole: Extraction, place: Place, path: Path, prefix: bool) -> None:
        self.whole = whole
        self.place = place
        self.path = path
        self.prefix = prefix
        self.others: list[Path] = []

    def run(self) -> list[Path]:
        """Run to the end; the paths that divided off."""
        path = self.path
        while True:
            try:
                self.step()
                path.first = False
            except Split as split:  # nothing has happened yet
                return self.others + self._cases(split.atoms)
            except Arrival:
                self.arrive("event", silent=False)
                return self.others
            except LoopHead:
                self.arrive("loop", silent=True)
                return self.others
            except Blocked as blocked:
                self.block(blocked.waits, blocked.holder)
                return self.others
            except Ended as end:
                self.end(end.rest)
                return self.others
            except Later:
                return self.others
            except Beyond as beyond:
                self.fail("beyond", str(beyond))
                return self.others
            except Wrong as wrong:
                self.fail(wrong.kind, str(wrong))
                return self.others

    def _cases(self, atoms: Sequence[Term]) -> list[Path]:
        """The path once for each of the values that some variables can have, or elements of arrays."""
        cases = []
        for values in product(*(sorted(self.whole.values_of(atom) or ()) for atom in atoms)):
            case = self.path.copy()
            runner = Runner(self.whole, self.place, case, self.prefix)
            for atom, value in zip(atoms, values, strict=True):
                if not runner.assume(t.compare("eq", atom, t.constant(value, atom.width)), True):
                    break
            else:
                cases.append(case)
        return cases

    # ------------------------------------------------------------------------------------------------ ends

    def arrive(self, kind: str, *, silent: bool) -> None:
        path = self.path
        try:
            place, values = self.whole.arrive(path, kind, silent=silent)
            started = self._begin_threads()
        except Beyond as beyond:
            self.fail("beyond", str(beyond))
            return
        if self.prefix:
            self._keep_image()
        self.place.outcomes.append(Outcome(path, place, values, started))

    def end(self, rest: Rest) -> None:
        try:
            self.place.outcomes.append(Outcome(self.path, rest, started=self._begin_threads()))
        except Beyond as beyond:
            self.fail("beyond", str(beyond))

    def fail(self, kind: str, message: str) -> None:
        frames = self.path.frames
        failure = Failure(kind, message, self.whole.source(frames) or frames[-1].instruction.location)
        self.path.memory.clear()
        self.path.starts.clear()
        self.place.outcomes.append(Outcome(self.path, "failed", failure=failure))

    def _begin_threads(self) -> list[tuple[Place, dict[Slot, Value]]]:
        return [self.whole.start(*start) for start in self.path.starts]

    def _keep_image(self) -> None:
        """What the first thread does before its first event happens before everything else."""
        self.whole.image = dict(self.path.memory)
        self.path.memory.clear()

    # ------------------------------------------------------------------------------------------ conditions

    def known(self, term: Term) -> Term:
        if self.path.elements:
            whole, elements = opened(term)
            known = {name: self.path.elements.get(read, read) for name, read in elements.items()}
            term = t.substitute(whole, known)
        return t.substitute(term, self.path.known) if self.path.known else term

    def decide(self, condition: Term) -> bool | None:
        """Whether a condition holds on this path, if that is known."""
        condition = self.known(condition)
        positive = True
        if condition.op == "xor" and condition.args[1] is TRUE:
            condition, positive = condition.args[0], False
        if condition.is_constant:
            return bool(condition.value) == positive
        decided = self.path.decided.get(condition)
        if decided is not None:
            return decided == positive
        can_hold, can_fail = self._possible(condition)
        if can_hold and can_fail:
            return None
        return can_hold == positive

    def _possible(self, condition: Term) -> tuple[bool, bool]:
        """Whether a condition can be true, and whether it can be false, where its variables have few values."""
        condition, elements = opened(condition)
        names = list(condition.variables)
        sets = []
        size = 1
        for name in names:
            values = self.whole.values_of(elements.get(name, name))
            if values is None:
                return True, True
            values = list(values)
            size *= len(values)
            if size > 2000:
                return True, True
            sets.append(values)
        conditions = (opened(other)[0] for other in self.path.conditions)
        others = [other for other in conditions if other.variables <= condition.variables]
        holds = fails = False
        for values in product(*sets):
            state = dict(zip(names, values, strict=True))
            if all(t.evaluate(other, state) for other in others):
                if t.evaluate(condition, state):
                    holds = True
                else:
                    fails = True
                if holds and fails:
                    break
        return holds, fails

    def assume(self, condition: Term, value: bool) -> bool:
        """Go on only where the condition has the value. Whether that is possible."""
        decided = self.decide(condition)
        if decided is not None:
            # (with an empty set of values, neither is possible, and either answer will do for this round)
            if decided == value and not condition.is_constant and not self.known(condition).is_constant:
                self._note(condition, value)
            return decided == value
        before = dict(self.path.known)
        self._note(condition, value)
        new = {name: number for name, number in self.path.known.items() if name not in before}
        if new:  # this condition says more than some that are there already
            self.path.conditions = [c for c in self.path.conditions if not t.substitute(c, new).is_true]
        self.path.conditions.append(condition if value else t.negation(condition))
        return True

    def _note(self, condition: Term, value: bool) -> None:
        if condition.op == "xor" and condition.args[1] is TRUE:
            condition, value = condition.args[0], not value
        self.path.decided[condition] = value
        term, number = condition, TRUE if value else FALSE
        if value and condition.op == "eq" and condition.args[1].is_constant:
            term, number = condition.args
        if term.op == "variable":
            self.path.known[term] = number
        elif term.op == "select":
            self.path.elements[term] = number
        if value and condition.op == "and":
            self._note(condition.args[0], True)
            self._note(condition.args[1], True)
        if not value and condition.op == "or":
            self._note(condition.args[0], False)
            self._note(condition.args[1], False)

    def branch(self, condition: Term) -> bool:
        """Which way to go; the other one, if possible, is a path of its own, which comes here again."""
        decided = self.decide(condition)
        if decided is not None:
            return decided
        self.others.append(self._otherwise(condition).path)
        self.assume(condition, True)
        return True

    def _otherwise(self, condition: Term) -> Runner:
        """The same path, where a condition does not hold."""
        other = Runner(self.whole, self.place, self.path.copy(), self.prefix)
        other.assume(condition, False)
        return other

    def require(self, condition: Term, kind: str, message: str) -> None:
        """Where the condition does not hold, the program goes wrong."""
        decided = self.decide(condition)
        if decided is None:
            self._otherwise(condition).fail(kind, message)
            self.assume(condition, True)
        elif not decided:
            raise Beyond(message) if kind == "beyond" else Wrong(kind, message)

    # --------------------------------------------------------------------------------------------- values

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
                return t.constant(self.whole.addresses[name] + offset, 64)
            case ins.FunctionAddress(name):
                return t.constant(self.whole.addresses[name], 64)

    def defined(self, operand: ins.Value, what: str = "a branch") -> Term:
        value = self.value(operand)
        if isinstance(value, Undefined):
            raise Wrong("memory", f"{what} depends on memory that was never written")
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

    # ----------------------------------------------------------------------------------------- instructions

    def may_take(self) -> None:
        """An event happens here, if it may; else, the path has come to its end."""
        path = self.path
        if path.depth:
            return
        if not path.take:
            raise Arrival
        path.take = False
        if path.frame.function.library:
            path.ordinal += 1

    def advance(self) -> None:
        self.path.frame.index += 1

    def step(self) -> None:
        instruction = self.path.frame.instruction
        match instruction:
            case ins.Binary() | ins.Compare() | ins.Convert() | ins.Unary() | ins.Select() | ins.Offset():
                self.compute(instruction)
            case ins.Load() | ins.Store() | ins.Update() | ins.CompareExchange():
                self.access(instruction)
            case ins.StackAlloc() | ins.HeapAlloc():
                self.allocate(instruction)
            case ins.Free() | ins.BlockSize():
                self.free(instruction)
            case ins.ThreadLocalAddress(name):
                number = self.whole.lowered.thread_locals.index(name)
                self.set(instruction.result, t.constant(address_of(self.path.thread + 1, 1 + number), 64))
            case ins.Call():
                self.call(instruction)
                return
            case ins.Spawn():
                self.spawn(instruction)
            case ins.Self():
                self.set(instruction.result, t.constant(address_of(self.path.thread + 1, 0), 64))
            case ins.Choose():
                self.choose(instruction)
            case ins.Assume():
                self.assumption(instruction)
            case ins.Await():
                if not self.path.depth:
                    raise Wrong("abort", "a guard outside of an atomic section")
                self.guard(self.defined(instruction.condition), "await", self.value(instruction.holder))
            case ins.Claim():
                pass
            case ins.Output():
                self.path.prints = True
            case ins.AtomicBegin():
                self.may_take()
                self.path.depth += 1
            case ins.AtomicEnd():
                if not self.path.depth:
                    raise Wrong("sync", "the end of an atomic section that was not begun")
                self.path.depth -= 1
            case _:
                self.terminate(instruction)
                return
        self.advance()

    def guard(self, condition: Term, waits: Waits, holder: Value = NOBODY) -> None:
        """The section goes on only where the condition holds."""
        decided = self.decide(condition)
        if decided is None:
            self._otherwise(condition).block(waits, holder)
            self.assume(condition, True)
        elif not decided:
            raise Blocked(waits, holder)

    def block(self, waits: Waits, holder: Value) -> None:
        """The path ends at a guard that does not hold."""
        path = self.path
        self.place.guards.append(Guard(t.conjunction(path.conditions), tuple(path.inputs), waits, holder))

    def assumption(self, instruction: ins.Assume) -> None:
        if instruction.origin == "bound" and self.path.depth:
            return
        value = self.value(instruction.condition)
        if isinstance(value, Undefined):
            if instruction.origin == "loop":
                return
            raise Wrong("memory", "a branch depends on memory that was never written")
        if self.path.depth:
            self.guard(value, "loop" if instruction.origin == "loop" else "assume")
        elif not self.branch(value):
            raise Ended("stuck")

    def choose(self, instruction: ins.Choose) -> None:
        self.may_take()
        path = self.path
        count = self.known(self.defined(instruction.count))
        if count.is_constant and count.value > 65536:
            raise Wrong(
                "steps", "a choice among more than 65,536 values, which is a limit of Mazurka; choose among fewer"
            )
        if not count.is_constant:
            limit = t.constant(65536, 32)
            self.require(t.compare("ule", count, limit), "steps", "a choice among more than 65,536 values")
        self.guard(t.negation(t.compare("eq", count, t.constant(0, 32))), "assume")
        name = f"{self.whole.thread_names[path.thread]}:input{self.place.number}.{len(path.inputs)}"
        fresh = self._named_input(t.variable(name, 32), count)
        path.inputs.append(Input(fresh, count))
        self.set(instruction.result, t.constant(0, 32) if count is t.constant(1, 32) else fresh)

    def _named_input(self, fresh: Term, count: Term) -> Term:
        """Inputs of different sizes have different names."""
        while self.whole.input_counts.setdefault(fresh, count) is not count:
            fresh = t.variable(f"{fresh.name}'", 32)
        return fresh

    # ------------------------------------------------------------------------------------------ arithmetic

    def compute(self, instruction: ins.Instruction) -> None:
        result = instruction.result
        if result is None:
            return
        match instruction:
            case ins.Select(condition, if_true, if_false):
                chooses = self.value(condition)
                if isinstance(chooses, Undefined):
                    self.set(result, UNDEFINED)
                    return
                decided = self.decide(chooses)
                if decided is None:
                    one, other = self.value(if_true), self.value(if_false)
                    if isinstance(one, Term) and isinstance(other, Term):
                        self.set(result, t.ite(chooses, one, other))
                        return
                    decided = self.branch(chooses)
                self.set(result, self.value(if_true if decided else if_false))
                return
        values = [self.value(operand) for operand in operands(instruction)]
        if any(isinstance(value, Undefined) for value in values):
            self.set(result, self._undefined(instruction, values))
            return
        numbers = [value for value in values if isinstance(value, Term)]
        self.require_like(instruction, numbers)
        if isinstance(instruction, ins.Binary | ins.Compare):
            for number in numbers:
                self.require_near(number)
        if not self.path.frame.function.library and self._depends_on_addresses(instruction, numbers):
            self.whole.telling.append(self.whole.source(self.path.frames))
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
                tagged = [number for number in others if number.is_constant and signed(number.value) in tags]
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
        found = {object_of(value) for value in values if value >> _ADDRESS_BITS == 0}
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
            return abs(signed(number.args[1].value)) < _FAR and self._is_told_apart(number.args[0])
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
            distance = t.binary("add", address, t.constant(_FAR - target.base, 64))
            near = t.compare("ult", distance, t.constant(2 * _FAR, 64))
            self.require(
                near, "beyond", f"a pointer may stray far from {target.display}, which cannot be followed here"
            )

    def _undefined(self, instruction: ins.Instruction, values: list[Value]) -> Value:
        """The result of an operation on what was never written, where all of its bits are undefined, too."""
        match instruction:
            case ins.Binary("add" | "sub" | "mul" | "xor") | ins.Offset() | ins.Convert("bitcast" | "trunc" | "sext"):
                return UNDEFINED
            case ins.Binary("shl" | "lshr" | "ashr") if isinstance(values[1], Undefined):
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
            self.require(t.negation(zero), "arithmetic", "division by zero")
            if op in ("sdiv", "srem"):
                least = t.compare("eq", left, t.constant(1 << (width - 1), width))
                overflow = t.binary("and", t.compare("eq", right, t.constant(-1, width)), least)
                message = "the result of a division does not fit its type"
                self.require(t.negation(overflow), "arithmetic", message)
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

    # -------------------------------------------------------------------------------------------- accesses

    def note_unnoticed(self) -> None:
        """An access of user code is no event of its own."""
        path = self.path
        if not path.frame.function.library:
            lines = [line for frame in path.frames for line in frame.text]
            if lines:
                why: Unnoticed = "section" if path.depth else "private" if path.several else "alone"
                self.whole.unnoticed.setdefault((lines[-1], tuple(lines[:-1])), set()).add(why)

    def access(self, instruction: ins.Load | ins.Store | ins.Update | ins.CompareExchange) -> None:
        address = self.defined(instruction.address, "an address")
        match instruction:
            case ins.Load():
                assert instruction.result is not None
                type_ = instruction.result.type
            case ins.Store(value) | ins.Update(value=value) | ins.CompareExchange(desired=value):
                type_ = value.type
        target, pieces = self.locate(address, type_.size, instruction.align, not isinstance(instruction, ins.Load))
        shared = self.path.several and not target.private and not target.constant
        if shared:
            self.may_take()
        if not shared or self.path.depth:
            self.note_unnoticed()
        self.check_alive(target, shared)
        bits = type_.bits
        match instruction:
            case ins.Load():
                self.set(instruction.result, _narrow(self.read(pieces, shared), bits))
            case ins.Store(value):
                self.write(pieces, _wide(self.value(value), type_.size), shared)
            case ins.Update(op, _, operand):
                old, new = _narrow(self.read(pieces, shared), bits), self.value(operand)
                if op == "exchange":
                    result = new
                elif isinstance(old, Undefined) or isinstance(new, Undefined):
                    raise Beyond("an update of memory that was never written cannot be followed here; initialise it")
                else:
                    self.require_like(instruction, [old, new])
                    result = _updated(op, old, new)
                self.write(pieces, _wide(result, type_.size), shared)
                self.set(instruction.result, old)
            case ins.CompareExchange(_, expected, desired):
                old = _narrow(self.read(pieces, shared), bits)
                wanted = self.value(expected)
                if isinstance(old, Undefined) or isinstance(wanted, Undefined):
                    raise Beyond(
                        "a comparison with memory that was never written cannot be followed here; initialise it"
                    )
                self.require_like(instruction, [old, wanted])
                same = t.compare("eq", old, wanted)
                decided = self.decide(same)
                new = self.value(desired)
                if decided is not False:
                    if isinstance(new, Undefined):
                        raise Beyond("writing what was never written cannot be followed here; initialise it")
                    self.write(pieces, _wide(new if decided else t.ite(same, new, old), type_.size), shared)
                self.set(instruction.result, old)
                self.set(instruction.success, same if decided is None else t.constant(int(decided), 1))

    def locate(self, address: Term, size: int, align: int, writing: bool) -> tuple[Object, list[Piece]]:
        """The object that an address belongs to, and the words that are accessed."""
        memory = self.whole.memory
        address = self.known(address)
        offset, parts = linear(address)
        if parts and not self._points_to_object(offset, parts):
            offset, parts = self.known_number(address), []
        target = memory.objects.get(object_of(offset))
        amount = f"{size} byte" + ("s" if size > 1 else "")
        if target is None:
            raise Wrong("memory", f"wild pointer: access to {amount} where no object is")
        if target.kind == "null":
            raise Wrong("memory", f"null pointer: access to {amount}")
        if target.kind == "function":
            raise Wrong("memory", f"access to {target.display} as if it were data")
        if target.private and target.owner != self.path.thread:
            raise Wrong("memory", f"wild pointer: access to {amount} where no object is")
        if target.constant and writing:
            raise Wrong("memory", f"write to the constant {target.display}")
        start = offset - target.base
        outside = f"out of bounds: access to {amount} of {target.display} ({target.size} bytes)"
        if not parts:
            if start < 0 or start + size > target.size:
                raise Wrong("memory", outside)
            if start % align:
                raise Wrong("memory", f"misaligned access: {amount} at offset {start} of {target.display}")
            before = memory.changes
            pieces = memory.at(target, start, size)
            if memory.changes != before:
                self.recut(target)
            return target, pieces
        before = memory.changes
        try:
            region, element, residue = memory.within(target, start, [abs(signed(c)) for _, c in parts], size)
        except Overlap as overlap:
            raise Beyond(f"{target.display}: {overlap}") from None
        if memory.changes != before:
            self.recut(target)
        if (region.start + residue) % align or region.stride % align:
            raise Beyond(f"whether the access to {target.display} is aligned is not known")
        index = t.constant(element, 64)
        for part, factor in parts:
            index = t.binary("add", index, t.binary("mul", part, t.constant(signed(factor) // region.stride, 64)))
        if not (self.path.first and self.path.take):  # the machine has looked when the thread arrived
            before = (region.start + residue) // region.stride
            last = (target.size - size - region.start - residue) // region.stride
            shifted = t.binary("add", index, t.constant(before, 64))
            self.require(t.compare("ule", shifted, t.constant(before + last, 64)), "memory", outside)
            if before or last >= region.count:
                inside = t.compare("ult", index, t.constant(region.count, 64))
                message = f"an index leaves its array, but not {target.display}, which cannot be followed here"
                self.require(inside, "beyond", message)
        return target, memory.element(target, region, residue, size, index)

    def recut(self, target: Object) -> None:
        """An object is cut in another way from now on: what the path knows of it goes to the new words. (There will be
        another round anyway; but then all at once that is to be learned on this path.)"""
        path, memory = self.path, self.whole.memory
        known: dict[Word, Value] = {word: value for word, value in path.private.items() if word.object is target}
        for variable, term in path.memory.items():
            if variable in memory.by_variable and not variable.is_array:
                word = memory.by_variable[variable]
                if word.object is target:
                    known[word] = term
        for word in known:
            path.private.pop(word, None)
            path.memory.pop(word.variable, None)
        for word, value in known.items():
            self.write(memory.at(target, word.offset, word.size), value, shared=False)

    def _points_to_object(self, offset: int, parts: list[tuple[Term, int]]) -> bool:
        """Whether an address is that of an object, plus something that is small."""
        target = self.whole.memory.objects.get(object_of(offset))
        return target is not None and target.size > 0 and all(part.width == 64 for part, _ in parts)

    def check_alive(self, target: Object, shared: bool) -> None:
        if target.alive is None or any(target in frame.objects for frame in self.path.frames):
            return
        alive = self.path.memory.get(target.alive, self._current(target.alive))
        if shared:
            self._touch(target.alive, None, reads=True, writes=False)
        ended = "was freed" if target.kind == "heap" else "has ceased to exist"
        self.require(alive, "memory", f"use of {target.display}, which {ended}")

    def _current(self, variable: Variable) -> Term:
        """A variable that always has the same value is that value."""
        if self.prefix:
            return (
                t.constant(variable.initial, variable.term.width)
                if isinstance(variable.initial, int)
                else variable.term
            )
        known = self.whole.sets.of(variable.term, default=self.whole.initial(variable))
        if known is not None and len(known) == 1 and not variable.is_array:
            return t.constant(next(iter(known)), variable.term.width)
        return variable.term

    def _touch(self, variable: Variable, index: Term | None, *, reads: bool, writes: bool) -> None:
        key = (variable, index)
        did_read, did_write = self.path.accesses.get(key, (False, False))
        self.path.accesses[key] = (did_read or reads, did_write or writes)

    def _touch_word(self, piece: Piece, *, reads: bool, writes: bool) -> None:
        self._touch(piece.word.variable, piece.index, reads=reads, writes=writes)
        if piece.word.written is not None:
            self._touch(piece.word.written, piece.index, reads=reads, writes=writes)

    def read(self, pieces: list[Piece], shared: bool) -> Value:
        """What some words hold, put together."""
        parts = [self.read_piece(piece, shared) for piece in pieces]
        if len(parts) == 1:
            return parts[0]
        if all(isinstance(part, Undefined) for part in parts):
            return UNDEFINED
        width = sum(piece.word.width for piece in pieces)
        result = t.constant(0, width)
        for piece, part in zip(pieces, parts, strict=True):
            if isinstance(part, Undefined):
                raise Beyond("reading memory that was written in part cannot be followed here; initialise it")
            wide = t.convert("zext", part, width)
            result = t.binary("or", result, t.binary("shl", wide, t.constant(8 * piece.at, width)))
        return result

    def read_piece(self, piece: Piece, shared: bool) -> Value:
        word, path = piece.word, self.path
        if word.object.private and piece.index is None:
            if word in path.private:
                return path.private[word]
            return UNDEFINED if word.initial is None else t.constant(_number(word.initial), word.width)
        variable = word.variable
        if shared:
            self._touch_word(piece, reads=True, writes=False)
        if piece.index is not None:
            if word.written is not None and word not in path.filled:
                shadow = path.memory.get(word.written, self._array(word.written))
                message = f"reads {variable.display}, which may never have been written; initialise it"
                self.require(t.select(shadow, piece.index), "beyond", message)
            if variable not in path.memory and piece.index.is_constant and self._never_changes(variable):
                values = self.whole.initial(variable)
                if isinstance(values, tuple) and piece.index.value < len(values):
                    return t.constant(values[piece.index.value], word.width)
            return t.select(path.memory.get(variable, self._array(variable)), piece.index)
        if word.written is not None:
            shadow = path.memory.get(word.written, self._current(word.written))
            message = f"reads {variable.display}, which may never have been written; initialise it"
            self.require(shadow, "beyond", message)
        if variable in path.memory:
            return path.memory[variable]
        if not self.prefix and self.whole.only_writer(path.thread, word):
            return self.whole.value_at(path.private, word)
        return self._current(variable)

    def _never_changes(self, variable: Variable) -> bool:
        return not self.prefix and variable.name not in self.whole.sets.changing

    def _array(self, variable: Variable) -> Term:
        """An array as it is; before the first event, or if it never changes, its elements are known."""
        values = self.whole.initial(variable)
        if not (self.prefix or self._never_changes(variable)) or not isinstance(values, tuple):
            return variable.term
        if len(set(values)) == 1:
            return t.array(t.constant(values[0], variable.term.width), len(values))
        if not self.prefix:
            return variable.term
        result = t.array(t.constant(0, variable.term.width), len(values))
        for index, value in enumerate(values):
            if value:
                result = t.store(result, t.constant(index, 64), t.constant(value, variable.term.width))
        return result

    def write(self, pieces: list[Piece], value: Value, shared: bool) -> None:
        if len(pieces) > 1 and isinstance(value, Term) and self.whole.reuse.carries(value):
            raise Beyond("the address of a block that is used again is stored in parts, which cannot be followed here")
        for piece in pieces:
            word = piece.word
            part = value
            if isinstance(part, Term) and len(pieces) > 1:
                shifted = t.binary("lshr", part, t.constant(8 * piece.at, part.width))
                part = t.convert("trunc", shifted, word.width)
            self.write_piece(piece, part, shared)

    def write_piece(self, piece: Piece, value: Value, shared: bool) -> None:
        word, path = piece.word, self.path
        if word.object.private and piece.index is None:
            path.private[word] = value
            return
        if shared:
            self._touch_word(piece, reads=False, writes=True)
        if isinstance(value, Undefined):
            if word.written is None:
                raise Beyond("writing what was never written to shared memory cannot be followed here; initialise it")
            done = FALSE
        else:
            done = TRUE
        if piece.index is not None:
            if isinstance(value, Term):
                old = path.memory.get(word.variable, self._array(word.variable))
                path.memory[word.variable] = t.store(old, piece.index, value)
            if word.written is not None:
                shadow = path.memory.get(word.written, self._array(word.written))
                path.memory[word.written] = t.store(shadow, piece.index, done)
                if done.is_false:
                    path.filled.discard(word)
                elif word.object.private and _is_full(path.memory[word.written]):
                    path.filled.add(word)
            return
        if isinstance(value, Term):
            path.memory[word.variable] = path.private[word] = value
        if word.written is not None:
            path.memory[word.written] = done
        if not self.prefix:
            self.whole.add_writer(path.thread, word)

    def allocate(self, instruction: ins.StackAlloc | ins.HeapAlloc) -> None:
        path = self.path
        size = self.known_number(self.defined(instruction.size, "an address"))
        if size > MAX_OBJECT_SIZE:
            raise Wrong("memory", f"object of {size:,} bytes: Mazurka's limit is 32 MiB")
        # What nobody else can reach is the same object whenever it is made. What others can reach may be remembered by
        # them after it has ceased to exist, so that it has to be another one each time, or nobody may remember it.
        place = (*path.frame.path, self.whole.positions[id(instruction)])
        if isinstance(instruction, ins.StackAlloc) and instruction.private:
            made = self.whole.object_made(path.thread, place, size, instruction)
        elif self.whole.reuse.active:
            made = self._from_pool(place, size, instruction)
        else:
            path.blocks += 1
            if path.blocks > (_MANY_BLOCKS if self.whole.is_endless(path.frames) else _MOST_BLOCKS):
                self.whole.reuse.active = True
                raise Later
            made = self.whole.object_made(path.thread, (-path.blocks, *place), size, instruction)
        if isinstance(instruction, ins.StackAlloc):
            if made in path.frame.objects:
                raise Beyond("a local variable is made again before its function returns; do not call alloca in a loop")
            path.frame.objects.append(made)
        if made.private:
            for word in self.whole.memory.words_of(made):
                self._forget(word)
        self.set(instruction.result, t.constant(made.base, 64))

    def _forget(self, word: Word) -> None:
        """What a word of a new object holds is not written yet."""
        path = self.path
        path.private.pop(word, None)
        path.filled.discard(word)
        if word.written is not None:
            length = word.written.term.length
            path.memory[word.written] = FALSE if length is None else t.array(FALSE, length)
            path.renewed.add(word.written)

    def _from_pool(self, place: tuple[int, ...], size: int, instruction: ins.StackAlloc | ins.HeapAlloc) -> Object:
        """The first object at a place that neither exists nor is remembered. See `reuse`."""
        path, whole = self.path, self.whole
        for number in range(1, POOL + 1):
            made = whole.object_made(path.thread, (-number, *place), size, instruction)
            assert made.alive is not None
            exists = path.memory.get(made.alive, self._current(made.alive))
            forgotten = t.conjunction(list(whole.reuse.apart(made, self._holding(), whole.values_of)))
            path.consulted |= exists.variables | forgotten.variables
            if not self.branch(t.binary("or", exists, t.negation(forgotten))):
                break
        else:
            raise Beyond(
                "a thread makes too many objects that others can reach (with malloc, or locals whose address it gives "
                f"away): more than {POOL} may exist or be remembered at a time, made in a loop that may never end; use "
                "global variables"
            )
        for word in whole.memory.words_of(made):
            self._forget(word)
            if word.written is None:
                self._clear(word)
                if not word.variable.is_array:
                    path.private[word] = path.memory[word.variable]
            if not self.prefix:
                whole.add_writer(path.thread, word)
        path.memory[made.alive] = TRUE
        return made

    def _holding(self) -> Iterator[Term]:
        """All that may refer to a block that is used again, and matters still."""
        path, whole = self.path, self.whole
        reuse = whole.reuse
        for frame in path.frames:
            for register in whole.live(frame, frame is path.frame):
                value = frame.registers[register]
                if isinstance(value, Term) and reuse.carries(value):
                    yield value
        for word, value in path.private.items():
            if word.object.private and isinstance(value, Term) and reuse.carries(value):
                yield value
        for _, _, arguments in path.starts:
            yield from (value for value in arguments if isinstance(value, Term) and reuse.carries(value))
        changed = {variable.term: value for variable, value in path.memory.items()}
        for thread, term in reuse.watched:
            if thread is None:
                yield changed.get(term, term)
            elif thread != path.thread:
                yield term

    def block_at(self, operand: ins.Value) -> Object | None:
        """The block from the heap that begins at an address; None at null."""
        address = self.known_number(self.defined(operand, "an address"))
        target = self.whole.memory.objects.get(object_of(address))
        if address == 0:
            return None
        if target is None:
            raise Wrong("memory", "wild pointer: where no object is")
        if target.kind != "heap" or target.base != address:
            raise Wrong("memory", "invalid free: not the begin of a block from malloc")
        return target

    def free(self, instruction: ins.Free | ins.BlockSize) -> None:
        target = self.block_at(instruction.address)
        if target is None:
            if isinstance(instruction, ins.BlockSize):
                raise Wrong("memory", "null pointer: access to 0 bytes")
            return
        if self.path.several:
            self.may_take()
        self.check_alive(target, self.path.several)
        if isinstance(instruction, ins.Free):
            self._end_object(target)
        else:
            self.set(instruction.result, t.constant(target.size, 64))

    # ---------------------------------------------------------------------------------------------- calls

    def function_at(self, value: Value, arguments: int, *, exactly: bool = False) -> Function:
        if isinstance(value, Undefined):
            raise Wrong("memory", "an address depends on memory that was never written")
        address = self.known_number(value, exactly=exactly)
        function = self.whole.functions.get(address)
        if function is None or len(function.parameters) > arguments:
            null = "call of a null function pointer"
            wrong = "call through a pointer that is not a function with these parameters"
            raise Wrong("memory", null if address == 0 else wrong)
        return function

    def call(self, instruction: ins.Call) -> None:
        callee = instruction.callee
        if isinstance(callee, str):
            function = self.whole.program.functions[callee]
        else:
            function = self.function_at(self.value(callee), len(instruction.arguments))
            if self.path.frame.text and not self.path.frame.function.library:
                self.whole.targets.setdefault(self.path.frame.text[-1], set()).add(function.name)
        path = self.path
        if any(frame.function is function for frame in path.frames):
            raise Beyond(f"{spoken(function.name)} calls itself, which cannot be followed here; use a loop")
        ordinal = path.ordinal
        if function.library and not path.frame.function.library:
            path.ordinal = 0
        registers = dict(zip(function.parameters, map(self.value, instruction.arguments), strict=False))
        caller = path.frame
        where = (*caller.path, self.whole.positions[id(instruction)])
        path.frames.append(Frame(function, function.entry.name, 0, registers, where, ordinal=ordinal))

    def spawn(self, instruction: ins.Spawn) -> None:
        path = self.path
        function = self.function_at(self.value(instruction.function), len(instruction.arguments), exactly=True)
        path.children += 1
        number = self.whole.child(path.thread, path.children)
        path.several = True
        path.starts.append(
            (number, function, [self.value(a) for a in instruction.arguments][: len(function.parameters)])
        )
        self.set(instruction.result, t.constant(address_of(number + 1, 0), 64))

    # ----------------------------------------------------------------------------------------- terminators

    def terminate(self, instruction: ins.Instruction) -> None:
        path = self.path
        match instruction:
            case ins.Jump(target):
                self.enter(target)
            case ins.Branch(condition, if_true, if_false):
                self.enter(if_true if self.branch(self.defined(condition)) else if_false)
            case ins.Switch(value, cases, default):
                number = self.defined(value)
                self.require_like(instruction, [number])
                for key, target in cases:
                    if self.branch(t.compare("eq", number, t.constant(key, number.width))):
                        self.enter(target)
                        return
                self.enter(default)
            case ins.Return() if len(path.frames) > 1:
                self.leave(instruction)
            case ins.Return() | ins.EndThread():
                if path.depth > 1:
                    raise Wrong("sync", "the thread ends inside an atomic section")
                self.may_take()
                self.end_thread()
            case ins.Exit():
                self.may_take()
                raise Ended("exit")
            case ins.Fail(kind, message):
                raise Wrong(kind, message)
            case ins.Unreachable():
                raise Wrong("abort", "undefined behaviour: control arrives where the language says that it cannot")
            case _:
                raise AssertionError(instruction)

    def end_thread(self) -> None:
        path = self.path
        block = self.whole.memory.objects[object_of(address_of(path.thread + 1, 0))]
        self.write(self.whole.memory.at(block, 0, 4), t.constant(1, 32), shared=True)
        locals_ = [known for known in self.whole.memory.objects.values() if known.kind == "thread-local"]
        for known in [*(made for frame in path.frames for made in frame.objects), *locals_]:
            if known.owner == path.thread and known.alive is not None:
                self._end_object(known)
        raise Ended("end")

    def _end_object(self, target: Object) -> None:
        assert target.alive is not None
        self.path.memory[target.alive] = FALSE
        self._drop(target)
        if self.path.several:
            self._touch(target.alive, None, reads=False, writes=True)

    def _drop(self, target: Object) -> None:
        """What an object refers to does not matter any more."""
        for word in self.whole.memory.words_of(target) if self.whole.reuse.active else ():
            if word.variable.term in self.whole.reuse.holders:
                self._clear(word)

    def _clear(self, word: Word) -> None:
        """Nothing is in a word, or in all elements of an array."""
        length, zero = word.variable.term.length, t.constant(0, word.variable.term.width)
        self.path.memory[word.variable] = zero if length is None else t.array(zero, length)
        self.path.renewed.add(word.variable)

    def leave(self, instruction: ins.Return) -> None:
        path = self.path
        frame = path.frame
        shared = [made for made in frame.objects if not made.private]
        if shared and path.several:
            self.may_take()
        for made in frame.objects:
            if made.alive is not None:
                self._end_object(made)
            else:
                self._drop(made)
            for word in made.words.values():
                path.private.pop(word, None)
                path.filled.discard(word)
        result = UNDEFINED if instruction.value is None else self.value(instruction.value)
        path.frames.pop()
        if frame.function.library and not path.frame.function.library:
            path.ordinal = frame.ordinal  # the library may have called user code that has called the library
        call = path.frame.instruction
        self.set(call.result, result)
        self.advance()

    def enter(self, target: str) -> None:
        """Go to a block; where a loop comes round whose end is not known, the path ends there. From then on it does
        so whenever a thread comes to that head, so that a native program can tell when it is there. (What the library
        does in its loops, a native program does in its own way.)"""
        path = self.path
        frame = path.frame
        block = frame.function.blocks[target]
        incoming = [next(v for name, v in phi.incoming if name == frame.block) for phi in block.phis]
        values = [self.value(value) for value in incoming]
        depth = len(path.frames) - 1
        if (depth, target) in path.loops:
            path.back = True
        frame.block, frame.index = target, 0
        for phi, value in zip(block.phis, values, strict=True):
            frame.registers[phi.result] = value
        here = (depth, f"{frame.path}:{target}")
        head = (path.thread, frame.path, frame.function.name, target)
        if head in self.whole.heads and not path.depth:
            raise LoopHead
        rounds, forks = path.visits.get(here, (0, 0))
        path.visits[here] = (rounds + 1, len(path.decided))
        if not rounds:
            return
        if path.depth:
            known = forks == len(path.decided)
            if rounds > (_MOST_LOCAL_ROUNDS if known else _MOST_SECTION_ROUNDS):
                raise Beyond("a loop in an atomic section goes round too often, or has no end that is known")
            return
        limit = _MOST_KNOWN_ROUNDS if self.prefix else _MOST_LOCAL_ROUNDS
        if any(isinstance(value, Term) and not value.is_constant for value in values):
            limit = _MOST_UNKNOWN_ROUNDS
        if frame.function.library or self.whole.is_head(frame.function, target):
            path.rounds += 1
            ends_here = forks != len(path.decided) or path.rounds > limit
        else:  # only where a cycle has no head: else it has been met more often
            ends_here = rounds > 2 * limit
        if ends_here:
            if not frame.function.library:
                self.whole.add_head(head)
            raise LoopHead


def _number(value: int | tuple[int, ...]) -> int:
    assert isinstance(value, int)
    return value


def _narrow(value: Value, bits: int) -> Value:
    return value if isinstance(value, Undefined) else t.convert("trunc", value, bits)


def _wide(value: Value, size: int) -> Value:
    return value if isinstance(value, Undefined) else t.convert("zext", value, 8 * size)


def _updated(op: ins.UpdateOp, old: Term, new: Term) -> Term:
    match op:
        case "add" | "sub" | "and" | "or" | "xor":
            return t.binary(op, old, new)
        case "nand":
            return t.binary("xor", t.binary("and", old, new), t.constant(-1, old.width))
        case "max":
            return t.ite(t.compare("sle", new, old), old, new)
        case "min":
            return t.ite(t.compare("sle", old, new), old, new)
        case "umax":
            return t.ite(t.compare("ule", new, old), old, new)
        case "umin":
            return t.ite(t.compare("ule", old, new), old, new)
    raise AssertionError(op)


def _is_full(written: Term) -> bool:
    """Whether all elements of an array are true, as far as stores at known indices tell."""
    stored: set[int] = set()
    while written.op == "store" and written.args[1].is_constant and written.args[2].is_true:
        stored.add(written.args[1].value)
        written = written.args[0]
    return len(stored) == written.length
