"""Memory that nobody else can reach yet: what a round prepares there and the next round would prepare again.

    do { next = top; node->next = next; } while (!compare_exchange(&top, &next, node));

A failed round leaves `node->next` behind. But nobody else has the address of the node before the compare-exchange
succeeds, and the next round writes it again before it looks. So the round has no effect: an execution without it
differs only in what that place holds until it is overwritten. More precisely, a store in a loop to a place in an object
has no effect on what follows a round if

- the object is new: its address is made before the loop, by an allocation that gives an object of its own each time, at
  an address that nobody has from before (not so where addresses are used again);
- it is *unpublished* as long as the loop goes round. The address is only ever in registers of this function that are
  computed from it, which are used as addresses of accesses and in comparisons. Every other use publishes it: storing
  it, passing it on, returning it. No such use lies between the allocation and the loop, and none is on a way round the
  loop, except for a compare-exchange that fails on that way. So until the loop is left, all accesses to the object are
  by this thread, through these registers;
- it is *written again*: on every path from the loop's header, also on those that leave the loop, the same bytes are
  overwritten before an access through these registers may read any of them and before the address is published, or
  never looked at again. (A path that goes back to the header before that leaves the matter to the next round.)

Under a weak memory model, others that get to know the address may still read what a failed round has stored, unless
they know of the last store. If that is not atomic, it is in a race with them, which is found. If it is, it counts as an
effect, except where all atomic accesses synchronise: then whoever has read the address knows of it (or there is a race
for the address).

What is stored may be undefined, which is no error before it is looked at. The store itself may be one, if it is out of
bounds, and is not skipped.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from mazurka.program import instructions as ins
from mazurka.program.cfg import successors
from mazurka.program.instructions import Constant, Instruction, Register, Value
from mazurka.program.operands import operands
from mazurka.program.program import Block
from mazurka.program.types import signed
from mazurka.transforms.loops.conditions import Operation, Term, computed

if TYPE_CHECKING:
    from mazurka.transforms.loops.iterations import LoopIteration

_Place = tuple[int, int]  # first byte and size, in an object


class OwnMemory:
    """What the function of a loop does with objects that it has made before the loop."""

    def __init__(self, iteration: LoopIteration) -> None:
        self._iteration = iteration
        self._unpublished: dict[Register, bool] = {}
        self._rewritten: dict[tuple[Register, _Place], bool] = {}

    def is_rewritten(self, store: ins.Store) -> bool:
        """Whether a store in the loop has no effect on what follows a round."""
        base = self._object(store.address)
        place = self._place(base, store.address, store.value) if base is not None else None
        if base is None or place is None:
            return False
        if base not in self._unpublished:
            inside = [each for _, each in self._publications(base, self._iteration.blocks)]
            published = self._is_published_before(base) or self._iteration.comes_back_after(inside)
            self._unpublished[base] = not published
        if (base, place) not in self._rewritten:
            self._rewritten[base, place] = self._unpublished[base] and self._is_written_again(base, place)
        return self._rewritten[base, place]

    # ------------------------------------------------------------------------------------------------- addresses

    @cached_property
    def _origin(self) -> dict[Register, Instruction]:
        instructions = self._iteration.function.instructions
        return {each.result: each for each in instructions if each.result is not None}

    @cached_property
    def _terms(self) -> dict[Register, Term]:
        """What the registers of the whole function are computed from."""
        terms: dict[Register, Term] = {}

        def term(value: Value) -> Term:
            return terms.get(value, value) if isinstance(value, Register) else value

        for name in self._iteration.tree.order:
            for phi in self._iteration.function.blocks[name].phis:
                if len(only := {value for _, value in phi.incoming}) == 1:
                    terms[phi.result] = term(only.pop())
            for instruction in self._iteration.function.blocks[name].instructions:
                found = computed(instruction, term)
                if found is not None and instruction.result is not None:
                    terms[instruction.result] = found
        return terms

    def _object(self, address: Value) -> Register | None:
        """The new object that an address is in, if it is made before the loop."""
        base, _ = self._base(address)
        if not isinstance(base, Register) or base in self._iteration.home:
            return None
        match self._origin.get(base):
            case ins.HeapAlloc(reuse=False) | ins.StackAlloc():
                return base
            case ins.Call(str(name)) if self._iteration.facts.makes_object(name):
                return base
            case _:
                return None

    def _base(self, address: Value) -> tuple[Term, int | None]:
        """The address that one is computed from, and the distance from there if that is a constant."""
        term = self._terms.get(address, address) if isinstance(address, Register) else address
        distance: int | None = 0
        while isinstance(term, Operation) and term.op == "offset":
            scale, displacement = term.factors
            match term.operands[1]:
                case Constant(_, int(index), False) if distance is not None:
                    distance += signed(index, 64) * scale + displacement
                case _:
                    distance = None
            term = term.operands[0]
        return term, distance

    def _place(self, base: Register, address: Value, value: Value) -> _Place | None:
        """The bytes of the object that an access of a value touches, if they are always the same."""
        found, distance = self._base(address)
        return (distance, value.type.size) if found is base and distance is not None else None

    def _computed_from(self, base: Register) -> set[Value]:
        """The registers that may hold an address in an object."""
        found: set[Value] = {base}
        size = 0
        while size < len(found):
            size = len(found)
            for block in self._iteration.function.blocks.values():
                found.update(phi.result for phi in block.phis if any(value in found for _, value in phi.incoming))
                for each in block.instructions:
                    if _computes(each) and each.result is not None and not found.isdisjoint(operands(each)):
                        found.add(each.result)
        return found

    # ---------------------------------------------------------------------------------------------- publication

    def _publications(self, base: Register, blocks: Iterable[Block]) -> list[tuple[Block, Instruction]]:
        """The uses of an object's address by which others may get to know it."""
        own = self._computed_from(base)
        return [(block, each) for block in blocks for each in block.instructions if _publishes(each, own)]

    def _is_published_before(self, base: Register) -> bool:
        """Whether control can come to the loop after the address was published, and without a new object."""
        function, home = self._iteration.function, self._iteration.loop.blocks
        outside = [block for name, block in function.blocks.items() if name not in home]
        (made,) = (block for block in outside if self._origin[base] in block.instructions)
        for block, _ in self._publications(base, outside):
            pending = [block.name]
            seen: set[str] = set()
            while pending:
                for target in successors(function.blocks[pending.pop()]):
                    if target == self._iteration.header.name:
                        return True
                    if target not in seen and target != made.name:
                        seen.add(target)
                        pending.append(target)
        return False

    # -------------------------------------------------------------------------------------------------- writing again

    def _is_written_again(self, base: Register, place: _Place) -> bool:
        """Whether nothing can look at the bytes after the loop's header before they are overwritten. (If the loop is
        left before that, whatever comes after it counts as well, as long as it is the same object.)"""
        iteration, own = self._iteration, self._computed_from(base)
        seen = {iteration.header.name}
        pending = [iteration.header.name]
        while pending:
            block = iteration.function.blocks[pending.pop()]
            for each in block.instructions:
                if self._may_look(each, own, base, place):
                    return False
                if each is self._origin[base] or (isinstance(each, ins.Store) and self._covers(each, base, place)):
                    break
            else:
                targets = set(successors(block)) - seen
                seen |= targets
                pending += targets
        return True

    def _covers(self, store: ins.Store, base: Register, place: _Place) -> bool:
        written = self._place(base, store.address, store.value)
        return written is not None and written[0] <= place[0] and sum(written) >= sum(place)

    def _may_look(self, instruction: Instruction, own: set[Value], base: Register, place: _Place) -> bool:
        if _publishes(instruction, own):
            return True
        if not isinstance(instruction, ins.ReadingAccess) or instruction.address not in own:
            return False
        value = instruction.value if isinstance(instruction, ins.Update) else instruction.result
        read = self._place(base, instruction.address, value) if value is not None else None
        return read is None or (read[0] < sum(place) and place[0] < sum(read))


def _computes(instruction: Instruction) -> bool:
    return isinstance(instruction, ins.Binary | ins.Convert | ins.Unary | ins.Select | ins.Offset)


def _publishes(instruction: Instruction, own: set[Value]) -> bool:
    """Whether others may get to know an address by an instruction."""
    if _computes(instruction) or isinstance(instruction, ins.Compare):
        return False
    values = operands(instruction)
    if isinstance(instruction, ins.MemoryAccess):
        values.remove(instruction.address)
    return not own.isdisjoint(values)
