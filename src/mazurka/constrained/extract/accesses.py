"""Loads, stores and atomic operations: which words of which object they touch, and what these hold."""

from __future__ import annotations

from mazurka.constrained.extract.arithmetic import Arithmetic
from mazurka.constrained.extract.memory import Object, Overlap, Piece, Word, linear
from mazurka.constrained.extract.paths import UNDEFINED, Arrival, Beyond, Fault, UndefinedValue, Value
from mazurka.constrained.model import StateVariable, Unnoticed
from mazurka.constrained.model import terms as t
from mazurka.constrained.model.terms import FALSE, TRUE, Term
from mazurka.machine.layout import object_of
from mazurka.program import instructions as ins
from mazurka.program.types import signed


class Accesses(Arithmetic):
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
                elif isinstance(old, UndefinedValue) or isinstance(new, UndefinedValue):
                    raise Beyond("an update of memory that was never written cannot be followed here; initialise it")
                else:
                    self.require_like(instruction, [old, new])
                    result = _updated(op, old, new)
                self.write(pieces, _wide(result, type_.size), shared)
                self.set(instruction.result, old)
            case ins.CompareExchange(_, expected, desired):
                old = _narrow(self.read(pieces, shared), bits)
                wanted = self.value(expected)
                if isinstance(old, UndefinedValue) or isinstance(wanted, UndefinedValue):
                    raise Beyond(
                        "a comparison with memory that was never written cannot be followed here; initialise it"
                    )
                self.require_like(instruction, [old, wanted])
                same = t.compare("eq", old, wanted)
                decided = self.decide(same)
                new = self.value(desired)
                if decided is not False:
                    if isinstance(new, UndefinedValue):
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
            raise Fault("memory", f"wild pointer: access to {amount} where no object is")
        if target.kind == "null":
            raise Fault("memory", f"null pointer: access to {amount}")
        if target.kind == "function":
            raise Fault("memory", f"access to {target.display} as if it were data")
        if target.private and target.owner != self.path.thread:
            raise Fault("memory", f"wild pointer: access to {amount} where no object is")
        if target.constant and writing:
            raise Fault("memory", f"write to the constant {target.display}")
        start = offset - target.base
        outside = f"out of bounds: access to {amount} of {target.display} ({target.size} bytes)"
        if not parts:
            if start < 0 or start + size > target.size:
                raise Fault("memory", outside)
            if start % align:
                raise Fault("memory", f"misaligned access: {amount} at offset {start} of {target.display}")
            before = memory.changes
            pieces = memory.at(target, start, size)
            if memory.changes != before:
                self.recut(target)
            return target, pieces
        before = memory.changes
        try:
            region, element, residue = memory.within(target, start, [abs(signed(c, 64)) for _, c in parts], size)
        except Overlap as overlap:
            raise Beyond(f"{target.display}: {overlap}") from None
        if memory.changes != before:
            self.recut(target)
        if (region.start + residue) % align or region.stride % align:
            raise Beyond(f"whether the access to {target.display} is aligned is not known")
        index = t.constant(element, 64)
        for part, factor in parts:
            index = t.binary("add", index, t.binary("mul", part, t.constant(signed(factor, 64) // region.stride, 64)))
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
        alive = self.path.memory.get(target.alive, self.current(target.alive))
        if shared:
            self._touch(target.alive, None, reads=True, writes=False)
        ended = "was freed" if target.kind == "heap" else "has ceased to exist"
        self.require(alive, "memory", f"use of {target.display}, which {ended}")

    def current(self, variable: StateVariable) -> Term:
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

    def _touch(self, variable: StateVariable, index: Term | None, *, reads: bool, writes: bool) -> None:
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
        if all(isinstance(part, UndefinedValue) for part in parts):
            return UNDEFINED
        width = sum(piece.word.width for piece in pieces)
        result = t.constant(0, width)
        for piece, part in zip(pieces, parts, strict=True):
            if isinstance(part, UndefinedValue):
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
            shadow = path.memory.get(word.written, self.current(word.written))
            message = f"reads {variable.display}, which may never have been written; initialise it"
            self.require(shadow, "beyond", message)
        if variable in path.memory:
            return path.memory[variable]
        if not self.prefix and self.whole.only_writer(path.thread, word):
            return self.whole.value_at(path.private, word)
        return self.current(variable)

    def _never_changes(self, variable: StateVariable) -> bool:
        return not self.prefix and variable.name not in self.whole.sets.changing

    def _array(self, variable: StateVariable) -> Term:
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
        if isinstance(value, UndefinedValue):
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


def _number(value: int | tuple[int, ...]) -> int:
    assert isinstance(value, int)
    return value


def _narrow(value: Value, bits: int) -> Value:
    return value if isinstance(value, UndefinedValue) else t.convert("trunc", value, bits)


def _wide(value: Value, size: int) -> Value:
    return value if isinstance(value, UndefinedValue) else t.convert("zext", value, 8 * size)


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
