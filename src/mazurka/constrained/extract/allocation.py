"""How objects begin and end to exist: local variables and blocks from the heap."""

from __future__ import annotations

from collections.abc import Iterator

from mazurka.constrained.extract.accesses import Accesses
from mazurka.constrained.extract.memory import Object, Word
from mazurka.constrained.extract.paths import Beyond, Fault, Later
from mazurka.constrained.extract.reuse import POOL
from mazurka.constrained.model import terms as t
from mazurka.constrained.model.terms import FALSE, TRUE, Term
from mazurka.machine.layout import MAX_OBJECT_SIZE, OBJECT_LIMIT, object_of
from mazurka.program import instructions as ins

_MOST_BLOCKS = 60  # from the heap, by one thread, that are not used again, ...
_MANY_BLOCKS = 8  # ... and if they are made in a loop that has no end


class Allocation(Accesses):
    def allocate(self, instruction: ins.StackAlloc | ins.HeapAlloc) -> None:
        path = self.path
        size = self.known_number(self.defined(instruction.size, "an address"))
        if size > MAX_OBJECT_SIZE:
            raise Fault("memory", f"object of {size:,} bytes: Mazurka's limit is {OBJECT_LIMIT}")
        # What nobody else can reach is the same object whenever it is made. What others can reach may be remembered by
        # them after it has ceased to exist, so that it has to be another one each time, or nobody may remember it.
        place = (*path.frame.path, self.whole.code.positions[id(instruction)])
        if isinstance(instruction, ins.StackAlloc) and instruction.private:
            made = self.whole.memory.object_made(path.thread, place, size, instruction)
        elif self.whole.reuse.active:
            made = self._from_pool(place, size, instruction)
        else:
            path.blocks += 1
            if path.blocks > (_MANY_BLOCKS if self.whole.code.is_endless(path.frames) else _MOST_BLOCKS):
                self.whole.reuse.active = True
                raise Later
            made = self.whole.memory.object_made(path.thread, (-path.blocks, *place), size, instruction)
        if isinstance(instruction, ins.StackAlloc):
            if made in path.frame.objects:
                raise Beyond("a local variable is made again before its function returns; do not call alloca in a loop")
            path.frame.objects.append(made)
        if made.private:
            for word in self.whole.memory.words_of(made):
                self._forget(word)
        self.set(instruction.result, t.constant(made.base, 64))

    def _from_pool(self, place: tuple[int, ...], size: int, instruction: ins.StackAlloc | ins.HeapAlloc) -> Object:
        """The first object at a place that neither exists nor is remembered. See `reuse`."""
        path, whole = self.path, self.whole
        for number in range(1, POOL + 1):
            made = whole.memory.object_made(path.thread, (-number, *place), size, instruction)
            assert made.alive is not None
            exists = path.memory.get(made.alive, self.current(made.alive))
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
            for register in whole.code.live(frame, frame is path.frame):
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

    def free(self, instruction: ins.Free | ins.BlockSize) -> None:
        target = self.block_at(instruction.address)
        if target is None:
            if isinstance(instruction, ins.BlockSize):
                raise Fault("memory", "null pointer: access to 0 bytes")
            return
        if self.path.several:
            self.may_take()
        self.check_alive(target, self.path.several)
        if isinstance(instruction, ins.Free):
            self.end_object(target)
        else:
            self.set(instruction.result, t.constant(target.size, 64))

    def block_at(self, operand: ins.Value) -> Object | None:
        """The block from the heap that begins at an address; None at null."""
        address = self.known_number(self.defined(operand, "an address"))
        target = self.whole.memory.objects.get(object_of(address))
        if address == 0:
            return None
        if target is None:
            raise Fault("memory", "wild pointer: where no object is")
        if target.kind != "heap" or target.base != address:
            raise Fault("memory", "invalid free: not the begin of a block from malloc")
        return target

    def end_object(self, target: Object) -> None:
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

    def _forget(self, word: Word) -> None:
        """What a word of a new object holds is not written yet."""
        path = self.path
        path.private.pop(word, None)
        path.filled.discard(word)
        if word.written is not None:
            length = word.written.term.length
            path.memory[word.written] = FALSE if length is None else t.array(FALSE, length)
            path.renewed.add(word.written)

    def _clear(self, word: Word) -> None:
        """Nothing is in a word, or in all elements of an array."""
        length, zero = word.variable.term.length, t.constant(0, word.variable.term.width)
        self.path.memory[word.variable] = zero if length is None else t.array(zero, length)
        self.path.renewed.add(word.variable)
