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
    Load,
    Offset,
    Phi,
    Register,
    StackAlloc,
    Store,
    Value,
)
from mazurka.program.operands import operands, replace_operands
from mazurka.program.program import Function
from mazurka.program.types import Type
from mazurka.transforms.simplify import remove_dead_instructions, remove_unreachable_blocks


@dataclass(eq=False, slots=True)
class _Object:
    """A `StackAlloc` whose address has only been used in loads and stores so far."""

    variable: str
    size: int
    parts: dict[tuple[int, int], _Part]  # by offset in bytes and width in bits
    promotable: bool = True


@dataclass(eq=False, slots=True)
class _Part:
    """A piece of a promoted object: a variable."""

    name: str
    type: Type


def promote(function: Function) -> None:
    """Promote what can be promoted, and drop what that leaves without a use."""
    remove_unreachable_blocks(function)
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
    addresses: dict[Register, tuple[_Object, int]] = {}  # pointers into objects: the object and the offset
    allocations: dict[Instruction, _Object] = {}
    accesses: dict[Instruction, tuple[_Object, _Part]] = {}

    def give_up(value: Value) -> None:
        if isinstance(value, Register) and value in addresses:
            addresses[value][0].promotable = False

    def access(instruction: Load | Store, type: Type) -> None:
        if not isinstance(instruction.address, Register) or instruction.address not in addresses:
            return
        object, offset = addresses[instruction.address]
        if offset < 0 or offset + type.size > object.size or offset % instruction.align:
            object.promotable = False
            return
        part = object.parts.setdefault((offset, type.bits), _Part(object.variable, type))
        accesses[instruction] = object, part

    # Definitions come before uses in this order, except for those of phis.
    for name in tree.order:
        for instruction in function.blocks[name].instructions:
            match instruction:
                case Load(result=Register(type=type)):
                    access(instruction, type)
                case Store(value):
                    give_up(value)
                    access(instruction, value.type)
                case StackAlloc(Constant(value=int(size), undefined=False), result=Register() as result):
                    object = _Object(instruction.variable or "", size, {})
                    allocations[instruction] = object
                    addresses[result] = object, 0
                case Offset(
                    Register() as base, Constant(value=int(index), undefined=False), result=Register() as result
                ):
                    if base in addresses:
                        object, offset = addresses[base]
                        offset += index * instruction.scale + instruction.displacement
                        addresses[result] = object, (offset + (1 << 63)) % (1 << 64) - (1 << 63)
                case _:
                    for value in operands(instruction):
                        give_up(value)
    for block in function.blocks.values():
        for phi in block.phis:
            for _, value in phi.incoming:
                give_up(value)

    for object in allocations.values():
        end = 0
        for (offset, _), part in sorted(object.parts.items(), key=lambda item: item[0]):
            if offset < end:
                object.promotable = False
            end = offset + part.type.size
    return (
        {instruction: part for instruction, (object, part) in accesses.items() if object.promotable},
        {instruction: list(o.parts.values()) for instruction, o in allocations.items() if o.promotable},
    )


def _distance(offset: Offset) -> int:
    """What an `Offset` with a constant index adds, as a signed number."""
    assert isinstance(offset.index, Constant) and isinstance(offset.index.value, int)
    sum = offset.index.value * offset.scale + offset.displacement
    return (sum + (1 << 63)) % (1 << 64) - (1 << 63)


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
        block = function.blocks[name]
        values = dict(at_end[tree.parent[name]]) if name in tree.parent else {}
        for part, phi in phis.get(name, {}).items():
            values[part] = phi.result
        kept: list[Instruction] = []
        for instruction in block.instructions:
            replace_operands(instruction, replaced)
            if instruction in objects:
                for part in objects[instruction]:
                    values[part] = Constant(part.type, undefined=True)
            elif instruction in accesses:
                part = accesses[instruction]
                if isinstance(instruction, Store):
                    values[part] = _converted(instruction.value, Register(part.name, part.type), instruction, kept)
                elif instruction.result is not None:
                    replaced[instruction.result] = _converted(values[part], instruction.result, instruction, kept)
            else:
                kept.append(instruction)
        block.instructions = kept
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


def _converted(value: Value, result: Register, access: Instruction, kept: list[Instruction]) -> Value:
    """A value in the type of `result`, which is where it goes if it has another one."""
    if value.type == result.type:
        return value
    kept.append(Convert("bitcast", value, result=result, location=access.location))
    return result


def _resolve(value: Value, replaced: dict[Register, Value]) -> Value:
    return replaced.get(value, value) if isinstance(value, Register) else value
