"""Memory as variables: which bytes of which object are one word, and which words are the elements of an array.

Addresses are those of the virtual machine (`machine/layout.py`), so that what programs and the models of the library
compute from them is right. An object is cut into words where accesses begin and end. Where an index is not known, the
words at equal distances are one array: that of an array of structures has one for each field.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd

from mazurka.constrained.model import StateVariable
from mazurka.constrained.model.terms import Term, binary, compare, constant, variable
from mazurka.frontends.c.roles import OPAQUE_TYPES
from mazurka.machine.layout import OFFSET_BITS, object_of
from mazurka.program.names import parts_at
from mazurka.program.program import DebugType

ADDRESS_MASK = (1 << 64) - 1


@dataclass(eq=False, slots=True)
class Region:
    """Bytes of an object that are accessed with unknown indices: elements of `stride` bytes, cut at `cuts`."""

    start: int
    end: int
    stride: int
    cuts: set[int] = field(default_factory=lambda: {0})

    @property
    def count(self) -> int:
        return (self.end - self.start) // self.stride


@dataclass(eq=False, slots=True)
class Word:
    """A word of memory, or an array of them: `variable` stands for it. `written` says whether it was ever written,
    where that is not sure."""

    object: Object
    offset: int
    size: int
    variable: StateVariable
    initial: int | tuple[int, ...] | None
    written: StateVariable | None = None

    @property
    def width(self) -> int:
        return 8 * self.size


@dataclass(eq=False, slots=True)
class Piece:
    """A part of an access: `size` bytes from its byte `at` on, which are a word (or its element at `index`)."""

    word: Word
    index: Term | None
    at: int


@dataclass(eq=False, slots=True)
class Object:
    """`data` is None where nothing was written yet. `owner` is the number of the thread that made it, if any."""

    base: int
    size: int
    kind: str  # "global", "thread", "thread-local", "stack", "function", "null"
    name: str
    display: str
    data: bytes | None
    owner: int | None = None
    private: bool = False
    constant: bool = False
    debug_type: str | None = None
    library: bool = False
    alive: StateVariable | None = None
    cuts: set[int] = field(default_factory=set)
    regions: list[Region] = field(default_factory=list)
    words: dict[tuple[int, int, bool], Word] = field(default_factory=dict)

    def is_at(self, address: Term) -> Term:
        """Whether an address belongs to it, as `object_of` says."""
        space = 1 << OFFSET_BITS
        distance = binary("add", address, constant(space // 2 - self.base, 64))
        return compare("ult", distance, constant(space, 64))


class Overlap(Exception):
    """An access that does not fit the others of its object; the message says how."""


class Memory:
    """The objects that are known, by number. `changes` counts how often one was cut in
    another way than before."""

    def __init__(self, types: dict[str, DebugType]) -> None:
        self.types = types
        self.objects: dict[int, Object] = {}
        self.by_variable: dict[StateVariable, Word] = {}
        self.changes = 0

    def add(self, new: Object) -> Object:
        self.objects[object_of(new.base)] = new
        new.cuts |= {0, new.size}
        return new

    def forget_words(self) -> None:
        """Before everything is looked at again: what objects are cut into stays, variables are made anew."""
        self.changes = 0
        self.by_variable.clear()
        for known in self.objects.values():
            known.words.clear()

    # ------------------------------------------------------------------------------------------- accesses

    def at(self, target: Object, offset: int, size: int) -> list[Piece]:
        """The words that make up the bytes at a known offset."""
        self._cut(target, offset, size)
        pieces = []
        position = offset
        while position < offset + size:
            region = self._region(target, position)
            if region is None:
                end = min(cut for cut in target.cuts if cut > position)
                end = min([end, *(r.start for r in target.regions if r.start > position)])
                pieces.append(Piece(self._word(target, position, end - position), None, position - offset))
            else:
                element, residue = divmod(position - region.start, region.stride)
                after = min([cut for cut in region.cuts if cut > residue], default=region.stride)
                end = position - residue + after
                word = self._field(target, region, residue, after - residue)
                pieces.append(Piece(word, constant(element, 64), position - offset))
            position = end
        return pieces

    def within(self, target: Object, offset: int, strides: list[int], size: int) -> tuple[Region, int, int]:
        """The region that an access at `offset` plus any multiples of `strides` belongs to, how many elements of it
        `offset` stands for, and where in an element the access begins."""
        stride = gcd(*strides)
        near = min(max(offset, 0), target.size - 1)  # an address may be computed from one beyond the object
        region = self._region(target, near)
        if region is None:
            start, end = self._extent(target, near, strides)
            inside = [known for known in target.regions if known.start < end and start < known.end]
            start, end = min([start, *(r.start for r in inside)]), max([end, *(r.end for r in inside)])
            region = Region(start, end, gcd(stride, *(r.stride for r in inside)))
            for known in inside:
                region.cuts |= {cut % region.stride for cut in known.cuts}
                target.regions.remove(known)
            region.cuts |= {(cut - start) % region.stride for cut in target.cuts if start <= cut < end}
            target.regions.append(region)
            self.changes += 1
        if stride % region.stride:
            region.stride = gcd(stride, region.stride)
            region.cuts = {cut % region.stride for cut in region.cuts}
            self.changes += 1
        element, residue = divmod(offset - region.start, region.stride)
        if residue + size > region.stride:
            raise Overlap("it is accessed in words of different sizes with an index that is not known")
        self._cut_region(region, residue, size)
        return region, element, residue

    def element(self, target: Object, region: Region, residue: int, size: int, index: Term) -> list[Piece]:
        """The words that make up `size` bytes of an element, from its byte `residue` on."""
        pieces = []
        position = residue
        while position < residue + size:
            after = min([cut for cut in region.cuts if cut > position], default=region.stride)
            word = self._field(target, region, position, after - position)
            pieces.append(Piece(word, index, position - residue))
            position = after
        return pieces

    def _region(self, target: Object, offset: int) -> Region | None:
        return next((region for region in target.regions if region.start <= offset < region.end), None)

    def _extent(self, target: Object, offset: int, strides: list[int]) -> tuple[int, int]:
        """The array around `offset` whose elements are as far apart as the accesses; failing that, the object."""
        start, key = 0, target.debug_type
        best = None
        while key is not None and (kind := self.types.get(key)) is not None:
            if kind.kind == "array" and kind.element in self.types and (width := self.types[kind.element].size):
                if any(stride % width == 0 for stride in strides) and width * kind.count <= target.size - start:
                    best = best or (start, start + width * kind.count)
                start += (offset - start) // width * width
                key = kind.element
            elif kind.kind in ("struct", "union"):
                inside = [m for m in kind.members if not m.bit_size and m.offset <= offset - start]
                member = max(inside, key=lambda m: m.offset, default=None)
                if member is None or kind.kind == "union":
                    break
                start, key = start + member.offset, member.type
            else:
                break
        if best is not None and best[0] <= offset < best[1]:
            return best
        return 0, target.size // gcd(*strides) * gcd(*strides)

    def _cut(self, target: Object, offset: int, size: int) -> None:
        for cut in (offset, offset + size):
            region = self._region(target, cut)
            if region is not None:
                self._cut_region(region, (cut - region.start) % region.stride, 0)
            elif cut not in target.cuts:
                target.cuts.add(cut)
                self.changes += 1

    def _cut_region(self, region: Region, residue: int, size: int) -> None:
        for cut in {residue, (residue + size) % region.stride} - region.cuts:
            region.cuts.add(cut)
            self.changes += 1

    # ---------------------------------------------------------------------------------------------- words

    def words_of(self, target: Object) -> list[Word]:
        """All words that an object is cut into, as far as is known."""
        words = {piece.word: None for piece in (self.at(target, 0, target.size) if target.size else ())}
        return list(words)

    def _word(self, target: Object, offset: int, size: int) -> Word:
        word = target.words.get((offset, size, False))
        if word is None:
            whole = offset == 0 and size == target.size
            name = target.name if whole else f"{target.name}+{offset}"
            display = target.display + self._path(target, offset, size)
            initial = None if target.data is None else int.from_bytes(target.data[offset : offset + size], "little")
            made = StateVariable(
                variable(name, 8 * size), initial, self._owner(target), False, target.base + offset, display
            )
            word = self._add(target, Word(target, offset, size, made, initial))
            if initial is None and not target.private:
                word.written = StateVariable(
                    variable(f"{name}.written", 1), 0, None, display=f"whether {display} was written"
                )
        return word

    def _field(self, target: Object, region: Region, residue: int, size: int) -> Word:
        offset = region.start + residue
        word = target.words.get((offset, size, True))
        if word is None:
            count = region.count
            whole = offset == 0 and size == region.stride and region.end == target.size
            name = target.name if whole else f"{target.name}+{offset}"
            name += "[]"
            display = target.display + self._path(target, offset, size).replace("[0]", "[]", 1)
            initial = None
            if target.data is not None:
                starts = (offset + element * region.stride for element in range(count))
                initial = tuple(int.from_bytes(target.data[start : start + size], "little") for start in starts)
            owner = self._owner(target)
            made = StateVariable(variable(name, 8 * size, count), initial, owner, False, target.base + offset, display)
            made.stride = region.stride
            word = self._add(target, Word(target, offset, size, made, initial))
            if initial is None:
                shadow = variable(f"{name}.written", 1, count)
                word.written = StateVariable(shadow, (0,) * count, owner, display=f"whether {display} was written")
        return word

    def _path(self, target: Object, offset: int, size: int) -> str:
        """How the source gets from an object to `size` bytes in it. In a union, it would depend on what they are."""
        path = ""
        for part in parts_at(self.types, target.debug_type, offset, size, OPAQUE_TYPES):
            path, kind = part.path, self.types.get(part.type or "")
            if kind is not None and kind.kind == "union":
                break
        return path

    def _owner(self, target: Object) -> int | None:
        return target.owner if target.private else None

    def _add(self, target: Object, word: Word) -> Word:
        target.words[word.offset, word.size, word.variable.is_array] = word
        self.by_variable[word.variable] = word
        return word


def linear(address: Term) -> tuple[int, list[tuple[Term, int]]]:
    """An address as a number plus multiples of terms."""
    if address.is_constant:
        return address.value, []
    if address.op == "add":
        left, right = linear(address.args[0]), linear(address.args[1])
        return (left[0] + right[0]) & ADDRESS_MASK, left[1] + right[1]
    if address.op == "mul" and address.args[1].is_constant:
        offset, parts = linear(address.args[0])
        factor = address.args[1].value
        return offset * factor & ADDRESS_MASK, [(part, by * factor & ADDRESS_MASK) for part, by in parts]
    return 0, [(address, 1)]
