"""Memory, read aloud: names for addresses and words for values, in the terms of the source.

Names follow the debug types: `queue.head`, `a[3]`. Objects on the heap are named by their type and a number, `node#1`;
the type is that of the pointers that lead to them.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mazurka.escaping import quoted, visible
from mazurka.positions import spoken
from mazurka.program.instructions import StackAlloc
from mazurka.program.program import DebugType, Member, Program

if TYPE_CHECKING:
    from mazurka._native import Machine, ObjectInfo, Operation
    from mazurka.transforms.lowering import Lowered

# Types whose insides are the library's business: their objects are named, their words are not shown.
_LIBRARY_TYPE = re.compile(r"(pthread_\w+_t|sem_t|mtx_t|cnd_t|once_flag)$")
_THREAD_TYPES = ("pthread_t", "thrd_t")
_LONGEST_LITERAL = 30


@dataclass(frozen=True, slots=True)
class Place:
    """Some bytes of an object: their name, and the key of their type if it is known and fits them. `library` says
    that what they hold means something to the library only. `start` is where in that type they begin."""

    name: str
    type: str | None
    library: bool
    start: int = 0


class Names:
    """The names of one execution. Call `learn` with all of its operations first."""

    def __init__(self, program: Program, lowered: Lowered, machine: Machine) -> None:
        self._program = program
        self._types = program.debug_types
        self._lowered = lowered
        self._machine = machine
        self._objects: dict[int, ObjectInfo] = {}
        self._heap_types: dict[int, str] = {}  # by base address
        self._heap_names: dict[int, str] = {}
        self._thread_names = {thread: machine.thread_name(thread) for thread in machine.threads()}

    # ------------------------------------------------------------------------------------------- objects

    def object(self, address: int) -> ObjectInfo:
        info = self._objects.get(address)
        if info is None:
            info = self._objects[address] = self._machine.describe(address)
        return info

    def thread(self, number: int) -> str:
        return self._thread_names[number]

    def thread_at(self, address: int) -> str | None:
        """The thread whose control block is at `address`."""
        info = self.object(address)
        return self._thread_names.get(info.owner) if info.kind == "thread" and address == info.base else None

    def is_temporary(self, address: int) -> bool:
        """Whether this is memory of the compiler's, which has no name in the source."""
        info = self.object(address)
        site = self._lowered.origin[info.site][1] if info.kind == "stack" else None
        return isinstance(site, StackAlloc) and site.variable is None

    def is_library(self, address: int) -> bool:
        """Whether this is a variable of a model of the library."""
        info = self.object(address)
        if info.kind not in ("global", "thread-local"):
            return False
        variables = self._lowered.globals if info.kind == "global" else self._lowered.thread_locals
        location = self._program.globals[variables[info.index]].location
        return location is not None and location.file.startswith("<mazurka>")

    def learn(self, operations: Iterable[Operation]) -> None:
        """Find the types of heap objects from the pointers that were read and written, then name them in the order
        of their appearance. What is learned of one object may tell the type of the next: so again, until no more."""
        allocated = []
        pointers = []
        for operation in operations:
            if operation.kind == "allocate":
                allocated.append(operation.address)
            elif operation.size == 8 and operation.kind in ("load", "store", "update", "compare-exchange"):
                for value in (operation.read, operation.written):
                    if value and self.object(value).kind == "heap" and self.object(value).base == value:
                        pointers.append((operation.address, value))
        learned = True
        while learned:
            learned = False
            for address, value in pointers:
                if value in self._heap_types:
                    continue
                pointer = self._types.get(self.place(address, 8, 0).type or "")
                if pointer and pointer.kind == "pointer" and pointer.element in self._types:
                    self._heap_types[value] = pointer.element
                    learned = True
        counts: dict[str, int] = {}
        for base in allocated:
            name = _plain_name(self._types.get(self._heap_types.get(base, "")))
            counts[name] = counts.get(name, 0) + 1
            self._heap_names[base] = f"{name}#{counts[name]}"

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
            return spoken(self._lowered.functions[info.index])
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
        path, found, library, start = self._walk(key, offset, size, info)
        return Place(name + path, found, library, start)

    def _walk(self, key: str | None, offset: int, size: int, info: ObjectInfo) -> tuple[str, str | None, bool, int]:
        """Descend from a type to the part of it at `offset`: path, type, whether it is the library's, where in it."""
        path = ""
        if self._is_array(key, info):
            index, offset, path = self._index(key, offset, size)
            if index is None:
                return "", None, False, offset
        while True:
            kind = self._types.get(key or "")
            if kind is None:
                return path + (f" (+{offset})" if offset else ""), None, False, offset
            if _LIBRARY_TYPE.match(kind.name):
                return path, key, True, offset
            if kind.kind == "array" and kind.element in self._types:
                index, offset, step = self._index(kind.element, offset, size)
                if index is None:
                    return path, key, False, offset
                path, key = path + step, kind.element
            elif kind.kind in ("struct", "union"):
                member = self._member(kind, offset, size)
                if member is None:
                    return path, key, False, offset
                path, key, offset = path + _step_into(member), member.type, offset - member.offset
            elif offset == 0 and size == kind.size:
                return path, key, False, 0
            elif offset < kind.size:
                return f"{path} (byte {offset})", None, False, offset
            else:
                return f"{path} (+{offset})", None, False, offset

    def _is_array(self, key: str | None, info: ObjectInfo) -> bool:
        """Whether a heap object is several of what its pointer points to (and not one with a flexible array)."""
        kind = self._types.get(key or "")
        if info.kind != "heap" or kind is None or kind.size == 0 or info.size < 2 * kind.size:
            return False
        last = self._types.get(kind.members[-1].type or "") if kind.members else None
        return not (last and last.kind == "array" and last.count == 0)

    def _index(self, element: str | None, offset: int, size: int) -> tuple[int | None, int, str]:
        """The element of an array at `offset`, and the rest of the offset; no element where the bytes span several."""
        width = self._types[element or ""].size
        if width == 0 or offset % width + size > width:
            return None, offset, ""
        return offset // width, offset % width, f"[{offset // width}]"

    def _member(self, kind: DebugType, offset: int, size: int) -> Member | None:
        """The member that covers these bytes; of a union, one that fits them best."""
        fitting = []
        for member in kind.members:
            inner = self._types.get(member.type or "")
            flexible = inner is not None and inner.kind == "array" and inner.count == 0
            width = inner.size if inner else 0
            if not member.bit_size and member.offset <= offset and (flexible or offset + size <= member.offset + width):
                fitting.append((width != size, member))
        return min(fitting, key=lambda pair: pair[0])[1] if fitting else None

    # -------------------------------------------------------------------------------------------- values

    def value(self, bits: int, size: int, place: Place, viewer: int) -> str:
        """The value `bits` of the bytes of `place`, the way that the source would write it."""
        return self._format(bits.to_bytes(size, "little"), place.type, place.start, viewer)

    def _format(self, data: bytes, key: str | None, start: int, viewer: int) -> str:
        kind = self._types.get(key or "")
        bits = int.from_bytes(data, "little")
        if kind is not None and kind.kind in ("struct", "union", "array"):
            return self._format_parts(data, kind, start, viewer)
        if kind is not None and kind.name in _THREAD_TYPES:
            return self.thread_at(bits) or str(bits)
        match kind.kind if kind else "unknown":
            case "pointer":
                return self.pointer(bits, kind.element if kind else None, viewer)
            case "uint":
                return str(bits)
            case "bool":
                return {0: "false", 1: "true"}.get(bits, str(bits))
            case "char":
                return repr(chr(bits)) if 32 <= bits < 127 else str(_signed(bits, len(data)))
            case "float" if len(data) in (4, 8):
                return f"{struct.unpack('<f' if len(data) == 4 else '<d', data)[0]:g}"
            case "enum" if kind:
                values = {number % (1 << 8 * len(data)): name for name, number in kind.enumerators}
                return values.get(bits, str(_signed(bits, len(data))))
            case "unknown" if len(data) == 8 and self.object(bits).kind not in ("null", "invalid"):
                return self.pointer(bits, None, viewer)
        return str(_signed(bits, len(data)))

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
        best = path if offset == 0 else None
        if self._is_array(key, info):
            width = self._types[key or ""].size
            path, offset = f"[{offset // width}]", offset % width
            best = path if offset == 0 else None
        while key != target or offset:
            kind = self._types.get(key or "")
            if kind is None:
                break
            if kind.kind == "array" and kind.element in self._types and self._types[kind.element].size:
                width = self._types[kind.element].size
                path, key, offset = f"{path}[{offset // width}]", kind.element, offset % width
            elif kind.kind in ("struct", "union") and not _LIBRARY_TYPE.match(kind.name):
                member = self._member(kind, offset, 1)
                if member is None:
                    break
                path, key, offset = path + _step_into(member), member.type, offset - member.offset
            else:
                break
            if offset == 0 and best is None:
                best = path
        if key == target and offset == 0:
            return path
        return best if best is not None else f"{path} + {offset}"

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


def _step_into(member: Member) -> str:
    """Members without a name, and those whose name is reserved for the implementation, do not show in a path."""
    return f".{member.name}" if member.name and not member.name.startswith("__") else ""


def _plain_name(kind: DebugType | None) -> str:
    """What to call the objects of a type: `node` for `struct node`."""
    if kind is None or not kind.name:
        return "block"
    return re.sub(r"^(struct|union|class|enum) ", "", kind.name).replace(" ", "_")


def _signed(bits: int, size: int) -> int:
    return bits - (1 << 8 * size) if bits >> (8 * size - 1) else bits
