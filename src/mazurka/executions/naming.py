"""Memory, read aloud: names for addresses and words for values, in the terms of the source.

Names follow the debug types: `queue.head`, `a[3]`. Objects on the heap are named by their type and a number, `node#1`;
the type is that of the pointers that lead to them (`blocks`).
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mazurka.escaping import quoted, visible
from mazurka.executions.blocks import Blocks
from mazurka.executions.positions import shown_name
from mazurka.frontends.c.roles import OPAQUE_TYPES, THREAD_TYPES
from mazurka.program.instructions import StackAlloc
from mazurka.program.names import parts_at, shortened
from mazurka.program.program import DebugType, Program
from mazurka.program.types import signed

if TYPE_CHECKING:
    from mazurka._native import Machine, ObjectInfo, Operation
    from mazurka.machine.lowering import Lowered

_LONGEST_LITERAL = 30
_LONGEST_TYPE = 20
# A block that the C++ library makes for an object and the counts of its owners.
_OWNED = re.compile(r"__shared_ptr_emplace<(.+), (?:std::)?(?:__\d::)?allocator<.*> ?>$")


@dataclass(frozen=True, slots=True)
class Place:
    """Some bytes of an object: their name, and the key of their type if it is known and fits them. `library` says
    that what they hold means something to the library only. `start` is where in that type they begin. `reserved`: they
    are in a member of a class of the C++ library, whose name is not for others to use."""

    name: str
    type: str | None
    library: bool
    start: int = 0
    reserved: bool = False


class Names:
    """The names of what is there after one execution, which the machine has recorded."""

    def __init__(self, program: Program, lowered: Lowered, machine: Machine) -> None:
        self._program = program
        self._types = program.debug_types
        self._lowered = lowered
        self._machine = machine
        self._objects: dict[int, ObjectInfo] = {}
        self._heap_types: dict[int, str] = {}  # by base address
        self._heap_names: dict[int, str] = {}
        self._thread_names = {thread: machine.thread_name(thread) for thread in machine.threads()}
        self._learn()

    # ------------------------------------------------------------------------------------------- objects

    def object(self, address: int) -> ObjectInfo:
        info = self._objects.get(address)
        if info is None:
            info = self._objects[address] = self._machine.describe(address)
        return info

    def text(self, address: int) -> str:
        """The C string at an address."""
        info = self.object(address)
        size = info.base + info.size - address
        return self._machine.read(address, size).partition(b"\0")[0].decode("utf-8", "replace")

    def thread(self, number: int) -> str:
        return self._thread_names[number]

    def thread_at(self, address: int) -> str | None:
        """The thread whose control block is at `address`."""
        info = self.object(address)
        return self._thread_names.get(info.owner) if info.kind == "thread" and address == info.base else None

    def life(self, info: ObjectInfo) -> tuple[Operation | None, Operation | None]:
        """How an object on the heap was allocated, and how freed."""
        return self._machine.life(info.base)

    def is_temporary(self, address: int) -> bool:
        """Whether this is memory of the compiler's, which has no name in the source: also what a thread keeps to find
        handlers of exceptions."""
        info = self.object(address)
        if info.kind == "thread-local" and self._lowered.thread_locals[info.index].startswith("__mazurka_"):
            return True
        site = self._lowered.origin[info.site][1] if info.kind == "stack" else None
        return isinstance(site, StackAlloc) and site.variable is None

    def is_library(self, address: int) -> bool:
        """Whether this is a variable of the library or of the compiler's."""
        info = self.object(address)
        if info.kind == "stack":
            return self._lowered.origin[info.site][0].library
        if info.kind not in ("global", "thread-local"):
            return False
        variables = self._lowered.globals if info.kind == "global" else self._lowered.thread_locals
        variable = self._program.globals[variables[info.index]]
        if variable.location is None:  # what the compiler makes: tables of virtual functions, guards
            return variable.name.startswith("_Z")
        return variable.location.file.startswith("<")

    def _learn(self) -> None:
        """Find the types of heap objects from the pointers that lead to them, then name them in the order of their
        appearance. What is learned of one object may tell the type of those that it points to."""
        blocks = Blocks(self._types, self._lowered, self._machine)
        pointers = self._machine.pointers()
        for address, value in pointers:
            if self.object(address).kind != "heap" and (target := self._target(address)):
                blocks.add(value, target)
        for base in self._machine.allocated():
            if (known := blocks.type(base)) is not None:
                self._heap_types[base] = known
        pending = [(address, value) for address, value in reversed(pointers) if self.object(address).kind == "heap"]
        untyped: dict[int, list[tuple[int, int]]] = {}  # pointers in heap objects, by base
        while pending:
            address, value = pending.pop()
            if value in self._heap_types:
                continue
            if target := self._target(address):
                self._heap_types[value] = target
                pending += reversed(untyped.pop(value, ()))
            else:
                untyped.setdefault(self.object(address).base, []).append((address, value))
        counts: dict[str, int] = {}
        for base in self._machine.allocated():
            name = _plain_name(self._types.get(self._heap_types.get(base, "")))
            counts[name] = counts.get(name, 0) + 1
            self._heap_names[base] = f"{name}#{counts[name]}"

    def _target(self, address: int) -> str | None:
        """What the pointer at an address points to, if its type says so."""
        pointer = self._types.get(self.place(address, 8, 0).type or "")
        return pointer.element if pointer and pointer.kind == "pointer" and pointer.element in self._types else None

    def _type_of(self, info: ObjectInfo) -> str | None:
        if info.kind == "global":
            return self._program.globals[self._lowered.globals[info.index]].debug_type
        if info.kind == "thread-local":
            return self._program.globals[self._lowered.thread_locals[info.index]].debug_type
        if info.kind == "stack":
            site = self._lowered.origin[info.site][1]
            return site.debug_type if isinstance(site, StackAlloc) else None
        return self._heap_types.get(info.base)

    def name(self, info: ObjectInfo, viewer: int) -> str:
        """The name of a whole object. What belongs to a thread other than the `viewer` is named with its thread."""
        if info.kind == "global":
            variable = self._program.globals[self._lowered.globals[info.index]]
            return visible(variable.display or variable.name)
        if info.kind == "function":
            return shown_name(self._program.functions[self._lowered.functions[info.index]])
        if info.kind == "thread":
            return self._thread_names.get(info.owner, "thread")
        if info.kind == "heap":
            return self._heap_names.get(info.base, "block")
        if info.kind == "null":
            return "null"
        if info.kind == "thread-local":
            local = self._program.globals[self._lowered.thread_locals[info.index]]
            name = visible(local.display or local.name)
        elif info.kind == "stack":
            site = self._lowered.origin[info.site][1]
            name = visible((site.variable if isinstance(site, StackAlloc) else None) or "temporary")
        else:
            return "no object"
        return name if info.owner == viewer or not viewer else f"{self.thread(info.owner)}:{name}"

    # -------------------------------------------------------------------------------------------- places

    def place(self, address: int, size: int, viewer: int) -> Place:
        """The name of `size` bytes at `address`."""
        info = self.object(address)
        offset = address - info.base
        name = self.name(info, viewer)
        key = self._type_of(info)
        if info.kind == "thread":
            return Place(name, None, library=True)
        path = ""
        if self._is_array(key, info):
            path, offset = self._element(key, offset)
            if offset + size > self._types[key or ""].size:
                return Place(name, None, library=False, start=address - info.base)
        *_, part = parts_at(self._types, key, offset, size, OPAQUE_TYPES)
        path = f"{name}{path}{part.path}"
        kind = self._types.get(part.type or "")
        if kind is None:
            return Place(path + (f" (+{part.offset})" if part.offset else ""), None, library=False, start=part.offset)
        library = kind.name in OPAQUE_TYPES
        if part.reserved and kind.kind == "array":  # room for what another type describes
            return Place(path, None, library=False, start=part.offset)
        if library or kind.kind in ("struct", "union", "array") or (part.offset == 0 and size == kind.size):
            unknown = kind.kind in ("struct", "union") and not kind.members
            return Place(path, part.type, library, part.offset, part.reserved or unknown)
        where = f"byte {part.offset}" if part.offset < kind.size else f"+{part.offset}"
        return Place(f"{path} ({where})", None, library=False, start=part.offset)

    def _is_array(self, key: str | None, info: ObjectInfo) -> bool:
        """Whether a heap object is several of what its pointer points to (and not one with a flexible array)."""
        kind = self._types.get(key or "")
        if info.kind != "heap" or kind is None or kind.size == 0 or info.size < 2 * kind.size:
            return False
        last = self._types.get(kind.members[-1].type or "") if kind.members else None
        return not (last and last.kind == "array" and last.count == 0)

    def _element(self, key: str | None, offset: int) -> tuple[str, int]:
        """The path to the element of a heap object that is several, and where in it that is."""
        number, offset = divmod(offset, self._types[key or ""].size)
        return f"[{number}]", offset

    # -------------------------------------------------------------------------------------------- values

    def value(self, bits: int, size: int, place: Place, viewer: int) -> str:
        """The value `bits` of the bytes of `place`, the way that the source would write it."""
        return self._format(bits.to_bytes(size, "little"), place.type, place.start, viewer)

    def _format(self, data: bytes, key: str | None, start: int, viewer: int) -> str:
        kind = self._types.get(key or "")
        bits = int.from_bytes(data, "little")
        if kind is not None and kind.kind in ("struct", "union", "array"):
            return self._format_parts(data, kind, start, viewer)
        if kind is not None and kind.name in THREAD_TYPES:
            return self.thread_at(bits) or str(bits)
        match kind.kind if kind else "unknown":
            case "pointer":
                return self.pointer(bits, kind.element if kind else None, viewer)
            case "uint":
                return str(bits)
            case "bool":
                return {0: "false", 1: "true"}.get(bits, str(bits))
            case "char":
                return repr(chr(bits)) if 32 <= bits < 127 else str(signed(bits, 8 * len(data)))
            case "float" if len(data) in (4, 8):
                return f"{struct.unpack('<f' if len(data) == 4 else '<d', data)[0]:g}"
            case "enum" if kind:
                values = {number % (1 << 8 * len(data)): name for name, number in kind.enumerators}
                return values.get(bits, str(signed(bits, 8 * len(data))))
            case "unknown" if len(data) == 8 and self.object(bits).kind not in ("null", "invalid"):
                return self.pointer(bits, None, viewer)
        return str(signed(bits, 8 * len(data)))

    def _format_parts(self, data: bytes, kind: DebugType, start: int, viewer: int) -> str:
        """Bytes that cover several members (or elements) of an aggregate, from `start` on."""
        end = start + len(data)
        if kind.kind == "array":
            width = self._types[kind.element].size if kind.element in self._types else 0
            if width == 0 or start % width or len(data) % width:
                return f"0x{data[::-1].hex()}"
            pieces = (data[at : at + width] for at in range(0, len(data), width))
            return "{" + ", ".join(self._format(piece, kind.element, 0, viewer) for piece in pieces) + "}"
        bits = int.from_bytes(data, "little")
        parts = []
        for member in kind.members:
            inner = self._types.get(member.type or "")
            if member.bit_size:
                shift = 8 * (member.offset - start) + member.bit_offset
                if shift >= 0 and shift + member.bit_size <= 8 * len(data):
                    field = bits >> shift & ((1 << member.bit_size) - 1)
                    if inner and inner.kind == "int" and field >> (member.bit_size - 1):
                        field -= 1 << member.bit_size
                    parts.append(f"{member.name} = {field}")
            elif inner and start <= member.offset and member.offset + inner.size <= end:
                piece = data[member.offset - start : member.offset - start + inner.size]
                parts.append(f"{member.name} = {self._format(piece, member.type, 0, viewer)}")
        return "{" + ", ".join(parts) + "}" if parts else f"0x{data[::-1].hex()}"

    def pointer(self, address: int, element: str | None, viewer: int) -> str:
        """An address as a value: `&queue`, `node#2`, `null`, `worker`."""
        info = self.object(address)
        offset = address - info.base
        if info.kind == "invalid":
            return hex(address)
        if info.kind == "null":
            return "null" if offset == 0 else f"null + {offset}"
        if info.kind in ("function", "thread"):
            return self.name(info, viewer) + (f" + {offset}" if offset else "")
        literal = self._literal(info, offset)
        if literal is not None:
            return literal
        if info.kind == "heap" and offset == 0:
            return self.name(info, viewer)
        return f"&{self.name(info, viewer)}{self._path_to(self._type_of(info), offset, element, info)}"

    def _path_to(self, key: str | None, offset: int, target: str | None, info: ObjectInfo) -> str:
        """The path to what begins at `offset` and has the type `target`, or failing that, to the first that begins
        there."""
        path = ""
        if self._is_array(key, info):
            path, offset = self._element(key, offset)
        first = None
        for part in parts_at(self._types, key, offset, opaque=OPAQUE_TYPES):
            if part.offset == 0 and part.type == target:
                return path + part.path
            if part.offset == 0 and first is None:
                first = part
        return path + (first.path if first else f"{part.path} + {part.offset}")

    def _literal(self, info: ObjectInfo, offset: int) -> str | None:
        """A string literal: a constant without a name of its own, that ends with a zero."""
        if info.kind != "global":
            return None
        variable = self._program.globals[self._lowered.globals[info.index]]
        if not variable.constant or variable.display or variable.relocations or not 0 <= offset < len(variable.data):
            return None
        text, zero, _ = variable.data[offset:].partition(b"\0")
        if not zero:
            return None
        shown = text.decode("utf-8", "backslashreplace")
        return quoted(shown if len(shown) <= _LONGEST_LITERAL else shown[: _LONGEST_LITERAL - 1] + "…")


def _plain_name(kind: DebugType | None) -> str:
    """What to call the objects of a type: `node` for `struct node`."""
    if kind is None or not kind.name:
        return "block"
    plain = re.sub(r"^(struct|union|class|enum) ", "", kind.name)
    if owned := _OWNED.match(plain):
        plain = owned[1]
    return shortened(plain, _LONGEST_TYPE).replace(", ", ",").replace(" ", "_")
