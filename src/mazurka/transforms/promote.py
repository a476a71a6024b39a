"""Local variables in registers: SSA construction for the objects of `StackAlloc`s.

An object is promoted when all that is ever done with its address are loads and stores, at constant offsets within
its bounds, that cut it into disjoint parts of one width each: an access touches exactly one part, never several and
never half of one. Each part then becomes a variable of its own. Such an object is known to nobody but its function,
so nobody can tell the difference: a load gives what the last store to the same part put there, and before that an
undefined value. A `StackAlloc` makes a new object each time it is executed, so it makes its parts undefined again.
(No address outlives that: all uses are dominated by the `StackAlloc`, and none goes through a phi.) Accesses that
would be errors, out of bounds or misaligned, stay as they are, and with them their whole object.

The accesses to a part may be of different types, as compilers pass pointers to atomic operations and back through
memory, as integers. The first type that is met becomes that of the variable, and the others are converted.

Phis are placed at the iterated dominance frontiers of the stores (Cytron et al. 1991), for the parts that are live
into some block.
"""

from __future__ import annotations

from dataclasses import dataclass

from mazurka.program.cfg import Dominators, dominance_frontiers, dominators, predecessors
from mazurka.program.instructions import (
    Constant,
    Convert,
    Instruction,
    Landing,
    Load,
    Offset,
    Phi,
    Register,
    StackAlloc,
    Store,
    Value,
)
from mazurka.program.operands import operands, replace_operands
from mazurka.program.program import Block, Function
from mazurka.program.types import Type, signed
from mazurka.transforms.simplify import remove_dead_instructions, remove_unreachable_blocks


@dataclass(eq=False, slots=True)
class _Object:
    """A `StackAlloc` whose address has only been used in loads and stores so far."""

    variable: str
    size: int
    parts: dict[tuple[int, int], _Part]  # by offset in bytes and width in bits
    promotable: bool = True

    def give_up_if_parts_overlap(self) -> None:
        end = 0
        for (offset, _), part in sorted(self.parts.items(), key=lambda item: item[0]):
            if offset < end:
                self.promotable = False
            end = offset + part.type.size


@dataclass(eq=False, slots=True)
class _Part:
    """A piece of a promoted object: a variable."""

    name: str
    type: Type


def promote(function: Function) -> None:
    """Promote what can be promoted, and drop what that leaves without a use."""
    remove_unreachable_blocks(function)
    if any(isinstance(instruction, Landing) for instruction in function.instructions):
        return  # the calls of the function may go on there, with its variables as they are by then
    tree = dominators(function)
    accesses, objects = _find_parts(function, tree)
    if objects:
        _rename(function, tree, accesses, objects, _place_phis(function, tree, accesses, objects))
    remove_dead_instructions(function)


# The part that a load or a store accesses, and the parts of the object that a StackAlloc makes.
_Accesses = dict[Instruction, _Part]
_Objects = dict[Instruction, list[_Part]]


def _find_parts(function: Function, tree: Dominators) -> tuple[_Accesses, _Objects]:
    """The accesses to objects that can be promoted, and their `StackAlloc`s."""
    uses = _Uses()
    # Definitions come before uses in this order, except for those of phis.
    for name in tree.order:
        for instruction in function.blocks[name].instructions:
            uses.add(instruction)
    for block in function.blocks.values():
        for phi in block.phis:
            for _, value in phi.incoming:
                uses.give_up(value)
    for object in uses.allocations.values():
        object.give_up_if_parts_overlap()
    return (
        {instruction: part for instruction, (object, part) in uses.accesses.items() if object.promotable},
        {instruction: list(o.parts.values()) for instruction, o in uses.allocations.items() if o.promotable},
    )


class _Uses:
    """What is done with the addresses of objects."""

    def __init__(self) -> None:
        self.allocations: dict[Instruction, _Object] = {}
        self.accesses: dict[Instruction, tuple[_Object, _Part]] = {}
        self._addresses: dict[Register, tuple[_Object, int]] = {}  # pointers into objects: the object and the offset

    def add(self, instruction: Instruction) -> None:
        match instruction:
            case Load(result=Register(type=type)):
                self._access(instruction, type)
            case Store(value):
                self.give_up(value)
                self._access(instruction, value.type)
            case StackAlloc(Constant(value=int(size), undefined=False), result=Register() as result):
                object = _Object(instruction.variable or "", size, {})
                self.allocations[instruction] = object
                self._addresses[result] = object, 0
            case Offset(Register() as base, Constant(value=int(index), undefined=False), result=Register() as result):
                if base in self._addresses:
                    object, offset = self._addresses[base]
                    offset += index * instruction.scale + instruction.displacement
                    self._addresses[result] = object, signed(offset % (1 << 64), 64)
            case _:
                for value in operands(instruction):
                    self.give_up(value)

    def give_up(self, value: Value) -> None:
        if isinstance(value, Register) and value in self._addresses:
            self._addresses[value][0].promotable = False

    def _access(self, instruction: Load | Store, type: Type) -> None:
        if not isinstance(instruction.address, Register) or instruction.address not in self._addresses:
            return
        object, offset = self._addresses[instruction.address]
        if offset < 0 or offset + type.size > object.size or offset % instruction.align:
            object.promotable = False
            return
        part = object.parts.setdefault((offset, type.bits), _Part(object.variable, type))
        self.accesses[instruction] = object, part


def _place_phis(
    function: Function, tree: Dominators, accesses: _Accesses, objects: _Objects
) -> dict[str, dict[_Part, Phi]]:
    """A phi for each part in each block where different values of it meet."""
    writers: dict[_Part, dict[str, None]] = {}  # in order, so that the result does not depend on chance
    live: set[_Part] = set()  # read in some block before they are written there
    for name in tree.order:
        written: dict[_Part, None] = {}
        for instruction in function.blocks[name].instructions:
            if instruction in objects:
                written.update(dict.fromkeys(objects[instruction]))
            elif instruction in accesses:
                part = accesses[instruction]
                if isinstance(instruction, Store):
                    written[part] = None
                elif part not in written:
                    live.add(part)
        for part in written:
            writers.setdefault(part, {})[name] = None

    phis: dict[str, dict[_Part, Phi]] = {}
    frontiers = dominance_frontiers(function, tree)
    for part, blocks in writers.items():
        if part not in live:
            continue
        pending = list(blocks)
        while pending:
            for meeting in frontiers[pending.pop()]:
                placed = phis.setdefault(meeting, {})
                if part not in placed:
                    placed[part] = Phi(Register(part.name, part.type), [])
                    pending.append(meeting)
    return phis


def _rename(
    function: Function,
    tree: Dominators,
    accesses: _Accesses,
    objects: _Objects,
    phis: dict[str, dict[_Part, Phi]],
) -> None:
    """Replace each load by the value that the part has there, and drop the loads, the stores and the objects."""
    replaced: dict[Register, Value] = {}
    at_end: dict[str, dict[_Part, Value]] = {}  # the values of the parts at the end of each block
    for name in tree.order:
        values = dict(at_end[tree.parent[name]]) if name in tree.parent else {}
        values.update((part, phi.result) for part, phi in phis.get(name, {}).items())
        _rename_in(function.blocks[name], accesses, objects, values, replaced)
        at_end[name] = values

    sources = predecessors(function)
    for name in tree.order:
        block = function.blocks[name]
        for phi in block.phis:
            phi.incoming = [(source, _resolve(value, replaced)) for source, value in phi.incoming]
        for part, phi in phis.get(name, {}).items():
            undefined = Constant(part.type, undefined=True)
            phi.incoming = [(source, at_end[source].get(part, undefined)) for source in sources[name]]
            block.phis.append(phi)


def _rename_in(
    block: Block,
    accesses: _Accesses,
    objects: _Objects,
    values: dict[_Part, Value],
    replaced: dict[Register, Value],
) -> None:
    """`values` are those of the parts, first at the start of the block and then at its end."""
    kept: list[Instruction] = []
    for instruction in block.instructions:
        replace_operands(instruction, replaced)
        if instruction in objects:
            values.update((part, Constant(part.type, undefined=True)) for part in objects[instruction])
        elif instruction in accesses:
            part = accesses[instruction]
            if isinstance(instruction, Store):
                values[part] = _converted(instruction.value, Register(part.name, part.type), instruction, kept)
            elif instruction.result is not None:
                value = _converted(values[part], instruction.result, instruction, kept)
                if isinstance(value, Register):
                    value.point_to(*instruction.result.points_to)
                replaced[instruction.result] = value
        else:
            kept.append(instruction)
    block.instructions = kept


def _converted(value: Value, result: Register, access: Instruction, kept: list[Instruction]) -> Value:
    """A value in the type of `result`, which is where it goes if it has another one."""
    if value.type == result.type:
        return value
    kept.append(Convert("bitcast", value, result=result, location=access.location))
    return result


def _resolve(value: Value, replaced: dict[Register, Value]) -> Value:
    return replaced.get(value, value) if isinstance(value, Register) else value
