"""Names as the source has them, out of what the compiler makes of them: of functions, and of the parts of objects."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from mazurka.escaping import visible
from mazurka.program.program import DebugType, Member

# Longer names lose the arguments of their templates.
_LONGEST_NAME = 30


def shortened(name: str, longest: int = _LONGEST_NAME) -> str:
    """A name of C++ without the version of the library, which is a namespace, and without the arguments of templates
    if it is longer than that."""
    name = re.sub(r"\bstd::(__\w+::)+", "std::", name)
    if len(name) <= longest:
        return name
    kept: list[str] = []
    depth = 0
    for piece in re.split(r"(operator\s*(?:<=>|<<=?|>>=?|->\*?|[<>]=?)|[<>])", name):
        depth -= piece == ">"
        if depth == 0:
            kept.append("<…" if piece == "<" else piece)
        depth += piece == "<"
    return "".join(kept)


_OPERATORS = {
    "aS": "=", "cl": "()", "ix": "[]", "de": "*", "pt": "->", "eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=",
    "ge": ">=", "ls": "<<", "rs": ">>", "pl": "+", "mi": "-", "pL": "+=", "mI": "-=", "pp": "++", "mm": "--", "nt": "!",
    "an": "&", "or": "|", "eo": "^", "aN": "&=", "oR": "|=", "eO": "^=", "ss": "<=>",
}  # fmt: skip


def demangle(symbol: str) -> str:
    """The name of a function as the source has it: of the symbol of a C++ function, what comes before its parameters,
    without the arguments of templates; of Rust, the path of a function that is no generic one."""
    if symbol.startswith("_R"):
        return visible("::".join(_rust_path(symbol)) or symbol)
    if symbol.startswith("_ZZ"):  # a lambda, or a method of a class inside a function (`Function.display` says more)
        return f"function in {demangle('_Z' + symbol[3:])}"
    start = re.match(r"_Z(N[rVK]*)?(St)?(?=L?[1-9]|[a-z][a-zA-Z])", symbol)
    if start is None or (not start[1] and not start[2] and symbol[start.end()].islower()):
        return visible(symbol)
    nested, standard = start.groups()
    parts = ["std"] if standard else []
    rest = symbol[start.end() :]
    while rest:
        if length := re.match(r"L?([1-9]\d*)", rest):
            end = length.end() + int(length[1])
            name, rest = rest[length.end() : end], rest[end:]
            parts.append("(anonymous namespace)" if name == "_GLOBAL__N_1" else name)
        elif nested and rest[0] == "I" and (end := _end_of_arguments(rest)):
            rest = rest[end:]
            continue
        elif nested and rest[0] == "B" and (tag := re.match(r"B(\d+)", rest)):
            rest = rest[tag.end() + int(tag[1]) :]
            continue
        elif nested and parts and (special := re.match(r"([CD])[0-9]", rest)):
            parts.append(("~" if special[1] == "D" else "") + parts[-1])
            break
        elif rest[:2] in _OPERATORS:
            parts.append(f"operator{_OPERATORS[rest[:2]]}")
            break
        else:
            break
        if not nested:
            break
    return visible("::".join(parts))


def _rust_path(symbol: str) -> list[str]:
    """The parts of a name in the "v0" encoding: as many `N` with a letter as there are names below that of the crate.
    Names begin with their length; before them may be numbers that tell apart what has the same name."""
    start = re.match(r"_R((?:N[a-zA-Z])+)C", symbol)
    parts: list[str] = []
    rest = symbol[start.end() :] if start else ""
    while length := re.match(r"(?:s[0-9A-Za-z]*_)?([1-9]\d*)_?", rest):
        end = length.end() + int(length[1])
        parts.append(rest[length.end() : end])
        rest = rest[end:]
    return parts if start and len(parts) == len(start[1]) // 2 + 1 and not rest else []


def _end_of_arguments(text: str) -> int:
    """Where the arguments of a template end that a part of a symbol begins with; 0 where that cannot be said."""
    depth, at = 0, 0
    while at < len(text):
        if name := re.compile(r"[1-9]\d*").match(text, at):
            at = name.end() + int(name[0])
            continue
        if literal := re.compile(r"L[a-z]n?\d*E").match(text, at):
            at = literal.end()
            continue
        if substitution := re.compile(r"[ST][0-9A-Z]*_|S[abdiost]|D[a-z]").match(text, at):
            at = substitution.end()
            continue
        depth += text[at] in "IJNXF"
        depth -= text[at] == "E"
        at += 1
        if depth == 0:
            return at
    return 0


_FUNDAMENTAL = {
    "a": "signed char", "b": "bool", "c": "char", "d": "double", "e": "long double", "f": "float", "h": "unsigned char",
    "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long", "s": "short", "t": "unsigned short",
    "v": "void", "w": "wchar_t", "x": "long long", "y": "unsigned long long", "Dn": "std::nullptr_t",
}  # fmt: skip


def type_name(encoding: str) -> str:
    """The name of a type, of which the compiler has made what `std::type_info::name` gives."""
    if encoding in _FUNDAMENTAL:
        return _FUNDAMENTAL[encoding]
    match encoding[:1]:
        case "P":
            return f"{type_name(encoding[1:])}*"
        case "K":
            return f"const {type_name(encoding[1:])}"
    name = demangle(f"_Z{encoding}")
    return name.replace("std::__1", "std") if name != f"_Z{encoding}" else visible(encoding)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an object, by how the source gets to it (`.head`, `[3].next`), and the key of its type, if that is
    known. What was looked for begins `offset` bytes after it. `reserved`: its name, or that of something around it, is
    reserved for the implementation (other than what holds the value of an atomic object)."""

    path: str
    type: str | None
    offset: int
    reserved: bool = False


def parts_at(
    types: Mapping[str, DebugType], key: str | None, offset: int, size: int = 1, opaque: Collection[str] = ()
) -> Iterator[Part]:
    """The parts of an object of a type that `size` bytes at `offset` lie in, each inside of the one before: from the
    whole object down to a scalar, or to what they are several parts of. What is inside of types that are `opaque` has
    no name."""
    path = ""
    reserved = False
    while True:
        yield Part(path, key, offset, reserved)
        kind = types.get(key or "")
        if kind is None or kind.name in opaque:
            return
        element = types.get(kind.element or "")
        if kind.kind == "array" and element is not None:
            width = element.size
            if width == 0 or offset % width + size > width:
                return
            path, key, offset = f"{path}[{offset // width}]", kind.element, offset % width
        elif kind.kind in ("struct", "union"):
            member = _member(types, kind, offset, size)
            if member is None:
                return
            # Those without a name, and those whose name is reserved for the implementation, do not show.
            own = member.name.startswith("__")
            reserved = (reserved or own) and not kind.name.startswith("__cxx_atomic")
            shown = f".{member.name}" if member.name and not own else ""
            path, key, offset = path + shown, member.type, offset - member.offset
        else:
            return


def _member(types: Mapping[str, DebugType], kind: DebugType, offset: int, size: int) -> Member | None:
    """The member that covers these bytes; of a union, one that fits them best."""
    fitting = []
    for member in kind.members:
        inner = types.get(member.type or "")
        flexible = inner is not None and inner.kind == "array" and inner.count == 0
        width = inner.size if inner else 0
        if not member.bit_size and member.offset <= offset and (flexible or offset + size <= member.offset + width):
            fitting.append((width != size, member))
    return min(fitting, key=lambda pair: pair[0])[1] if fitting else None
