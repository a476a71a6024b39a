"""What the compiler noted about the source: lines, names of variables, their types."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from mazurka.frontends.c.llvm.module import Module
from mazurka.frontends.c.llvm.syntax import tokens_of, unescape
from mazurka.program.instructions import Location
from mazurka.program.names import shortened
from mazurka.program.program import DebugType, Member

# Types that say more about the use of another type than about its values.
_QUALIFIERS = frozenset(
    f"DW_TAG_{name}_type" for name in ("const", "volatile", "restrict", "atomic", "immutable", "LLVM_ptrauth")
)
_POINTERS = frozenset(
    {"DW_TAG_pointer_type", "DW_TAG_reference_type", "DW_TAG_rvalue_reference_type"},
)
_RECORDS = {"DW_TAG_structure_type": "struct", "DW_TAG_class_type": "struct", "DW_TAG_union_type": "union"}
_RECORD = re.compile(
    r"(?:distinct )?!DI(?:Composite|Derived)Type\(tag: DW_TAG_(?:structure_type|class_type|union_type|typedef), "
    r'name: "([^"]*)"'
)
_ENCODINGS = {
    "DW_ATE_signed": "int",
    "DW_ATE_unsigned": "uint",
    "DW_ATE_boolean": "bool",
    "DW_ATE_signed_char": "int",
    "DW_ATE_unsigned_char": "uint",
    "DW_ATE_UTF": "uint",
    "DW_ATE_float": "float",
}


@dataclass(frozen=True, slots=True)
class MetadataNode:
    """A node of metadata: `!Kind(field: value, ...)`, or a tuple of `items`."""

    kind: str
    fields: dict[str, str]
    items: tuple[str, ...] = ()

    def text(self, field: str) -> str:
        return unescape(self.fields.get(field, '""')[1:-1]).decode("utf-8", "replace")

    def number(self, field: str, default: int = 0) -> int:
        value = self.fields.get(field, "")
        return int(value) if value.lstrip("-").isdigit() else default

    def reference(self, field: str) -> int | None:
        return _reference(self.fields.get(field, ""))


def _reference(text: str) -> int | None:
    return int(text[1:]) if text[:1] == "!" and text[1:].isdigit() else None


def _last_name(name: str) -> str:
    """Without what it is in, and without the arguments of a template, which LLVM does not tell."""
    plain = re.sub(r"<.*>", "", name)
    return plain.rpartition("::")[2]


_NOTHING = MetadataNode("", {})


def _parse(text: str) -> MetadataNode:
    tokens = tokens_of(text.removeprefix("distinct "))
    if tokens[:2] == ["!", "{"]:
        return MetadataNode("", {}, tuple(token for token in tokens[2:-1] if token != ","))
    fields: dict[str, str] = {}
    name, depth = "", 0
    value: list[str] = []
    for token in tokens[2:]:
        depth += (token in "({") - (token in ")}")
        if (token == "," and depth == 0) or depth < 0:
            fields[name] = " ".join(value)
            name, value = "", []
        elif token == ":" and len(value) == 1 and not name:
            name, value = value[0], []
        else:
            value.append(token)
    return MetadataNode(tokens[0], fields)


class DebugInfo:
    """The debug information of one module. `spellings` maps full paths to the names that the user gave them; types go
    to `types`, under keys that begin with `prefix`."""

    def __init__(self, module: Module, spellings: Mapping[str, str], types: dict[str, DebugType], prefix: str) -> None:
        self._module = module
        self._spellings = spellings
        self._types = types
        self._prefix = prefix
        self._nodes: dict[int, MetadataNode] = {}
        self._locations: dict[int, Location | None] = {}
        self._paths: dict[int | None, str] = {}
        self._records: dict[str, list[int]] | None = None  # the numbers of structures, by their last name

    def _node(self, number: int | None) -> MetadataNode:
        if number is None or number not in self._module.metadata:
            return _NOTHING
        node = self._nodes.get(number)
        if node is None:
            node = self._nodes[number] = _parse(self._module.metadata[number])
        return node

    # ---------------------------------------------------------------------------------------- places

    def path(self, file: int | None) -> str:
        """The name of a file: as the user spelt it, else relative to where the user is, else in full."""
        if file not in self._paths:
            node = self._node(file)
            name, directory = node.text("filename"), node.text("directory")
            if self._module.library:
                path = f"<{self._module.library}>/{os.path.basename(name)}"
            elif not name:
                path = self._module.origin
            else:
                full = os.path.normpath(os.path.join(directory, name))
                here = os.getcwd() + os.sep
                path = self._spellings.get(full, full.removeprefix(here))
            self._paths[file] = path
        return self._paths[file]

    def location(self, number: int) -> Location | None:
        """Where the instruction with this `!dbg` comes from; None if the compiler made it up."""
        if number not in self._locations:
            node = self._node(number)
            scope = self._node(node.reference("scope"))
            line = node.number("line")
            place = Location(self.path(scope.reference("file")), line, node.number("column")) if line else None
            self._locations[number] = place
        return self._locations[number]

    def declaration(self, number: int | None) -> Location | None:
        """Where the function or variable of this node is declared."""
        node = self._node(number)
        if node.kind == "!DIGlobalVariableExpression":
            node = self._node(node.reference("var"))
        line = node.number("line")
        return Location(self.path(node.reference("file")), line) if line else None

    # ------------------------------------------------------------------------------------- variables

    def local_variable(self, number: int) -> tuple[str | None, str | None]:
        """The name and the type of a `DILocalVariable`."""
        node = self._node(number)
        return node.text("name") or None, self.type(node.reference("type"))

    def is_nested(self, number: int) -> bool:
        """Whether a `DILocalVariable` is declared in a block inside of its function."""
        return self._node(self._node(number).reference("scope")).kind.startswith("!DILexicalBlock")

    def parts(self, key: str | None, names: Collection[str]) -> Iterator[tuple[int, int]]:
        """Where in an object of a type there are parts of types with these names, and how large they are."""
        kind = self._types.get(key or "")
        if kind is None:
            return
        if kind.name in names:
            yield 0, kind.size
        elif kind.kind in ("struct", "union"):
            for member in kind.members:
                yield from ((member.offset + offset, size) for offset, size in self.parts(member.type, names))
        elif kind.kind == "array" and (element := self._types.get(kind.element or "")) is not None:
            inner = list(self.parts(kind.element, names))
            for index in range(kind.count if inner else 0):
                yield from ((index * element.size + offset, size) for offset, size in inner)

    def global_variable(self, number: int | None) -> tuple[str | None, str | None]:
        """The name and the type of a global; a static variable of a function is called `function.name`."""
        node = self._node(self._node(number).reference("var"))
        name = node.text("name")
        if not name:
            return None, None
        scope = self._node(node.reference("scope"))
        while scope.kind in ("!DILexicalBlock", "!DILexicalBlockFile"):
            scope = self._node(scope.reference("scope"))
        if scope.kind == "!DISubprogram":
            name = f"{scope.text('name')}.{name}"
        return name, self.type(node.reference("type"))

    def function_name(self, number: int | None) -> str | None:
        """The name of a function, with the classes and namespaces that it is in. A lambda is known by its place."""
        node = self._node(number)
        name, scope = node.text("name"), self._node(node.reference("scope"))
        if scope.fields.get("tag") == "DW_TAG_class_type" and not scope.text("name"):
            place = self.declaration(number)
            return f"lambda at {os.path.basename(place.file)}:{place.line}" if place else "lambda"
        parts = [name] if name else []
        while parts and (scope.kind == "!DINamespace" or scope.fields.get("tag") in _RECORDS):
            inner = scope.kind == "!DINamespace" and "name" not in scope.fields
            parts.insert(0, "(anonymous namespace)" if inner else scope.text("name"))
            scope = self._node(scope.reference("scope"))
        return shortened("::".join(filter(None, parts))) or None

    # ----------------------------------------------------------------------------------------- types

    def type(self, number: int | None) -> str | None:
        """The key of a type in the program's `debug_types`; None for `void` and where nothing is known."""
        node = self._node(number)
        while node.fields.get("tag") in _QUALIFIERS:
            number = node.reference("baseType")
            node = self._node(number)
        if not node.kind:
            return None
        key = f"{self._prefix}{number}"
        if key not in self._types:
            # A structure may contain pointers to itself: its key must be known before its members are.
            self._types[key] = DebugType(node.text("name"), "opaque", node.number("size") // 8)
            self._types[key] = self._describe(key, node)
        return key

    def record(self, name: str, size: int) -> str | None:
        """The key of the structure that LLVM calls so (`struct.node`, `class.ring::slot.12`), if there is one."""
        if self._records is None:
            self._records = {}
            for number, text in self._module.metadata.items():
                if (match := _RECORD.match(text)) is not None:
                    self._records.setdefault(_last_name(match[1]), []).append(number)
        plain = re.sub(r"^(struct|class|union)\.|\.\d+$", "", name)
        for number in self._records.get(_last_name(plain), ()):
            key = self.type(number)
            if key is not None and self._types[key].size == size and self._types[key].kind in ("struct", "union"):
                return key
        return None

    def _describe(self, key: str, node: MetadataNode) -> DebugType:
        name, size, tag = node.text("name"), node.number("size") // 8, node.fields.get("tag", "")
        if node.kind == "!DIBasicType":
            kind = _ENCODINGS.get(node.fields.get("encoding", ""), "opaque")
            if name == "char":
                kind = "char"
            if kind == "float" and size not in (4, 8):
                kind = "opaque"
            return DebugType(name, kind, size)
        if node.kind == "!DISubroutineType":
            return DebugType("function", "function", 0)
        if tag == "DW_TAG_typedef":
            base = self.type(node.reference("baseType"))
            if base is None:
                return DebugType(name, "opaque", 0)
            if self._types[base].kind == "opaque" and self._types[base].size:
                # Perhaps still being described further up: describe it here a second time, with the same members.
                return replace(self._describe(base, self._node(int(base.removeprefix(self._prefix)))), name=name)
            return replace(self._types[base], name=name)
        if tag in _POINTERS:
            target = self.type(node.reference("baseType"))
            return DebugType(self._name(target) + " *", "pointer", 8, element=target)
        if tag in _RECORDS:
            members = tuple(
                member
                for item in self._node(node.reference("elements")).items
                if (member := self._member(self._node(_reference(item)))) is not None
            )
            return DebugType(name or f"({_RECORDS[tag]})", _RECORDS[tag], size, members)
        if tag == "DW_TAG_enumeration_type":
            values = tuple(
                (value.text("name"), value.number("value"))
                for item in self._node(node.reference("elements")).items
                if (value := self._node(_reference(item))).kind == "!DIEnumerator"
            )
            return DebugType(name or "(enum)", "enum", size, enumerators=values)
        if tag == "DW_TAG_array_type" and "DIFlagVector" not in node.fields.get("flags", ""):
            return self._array(key, node, size)
        return DebugType(name or "(unknown)", "opaque", size)

    def _name(self, key: str | None) -> str:
        return self._types[key].name if key is not None else "void"

    def _member(self, node: MetadataNode) -> Member | None:
        tag, flags = node.fields.get("tag"), node.fields.get("flags", "")
        if tag not in ("DW_TAG_member", "DW_TAG_inheritance") or "DIFlagStaticMember" in flags:
            return None
        type_ = self.type(node.reference("baseType"))
        name = node.text("name") if tag == "DW_TAG_member" else self._name(type_)
        position = node.number("offset")
        if "DIFlagBitField" in flags:
            return Member(name, position // 8, type_, node.number("size"), position % 8)
        return Member(name, position // 8, type_)

    def _array(self, key: str, node: MetadataNode, size: int) -> DebugType:
        """An array of arrays is one node with several ranges; each inner one gets a key of its own."""
        counts = [
            self._node(_reference(item)).number("count", -1) for item in self._node(node.reference("elements")).items
        ]
        element = self.type(node.reference("baseType"))
        if element is None or not counts or min(counts[1:], default=0) < 0:
            return DebugType("(array)", "opaque", size)
        stride = self._types[element].size
        suffix = ""
        for dimension in range(len(counts) - 1, 0, -1):
            suffix = f"[{counts[dimension]}]{suffix}"
            stride *= counts[dimension]
            inner = f"{key}[{dimension}]"
            self._types[inner] = DebugType(
                self._base_name(node) + suffix, "array", stride, element=element, count=counts[dimension]
            )
            element = inner
        count = max(counts[0], 0)  # the length of a variable or flexible array is not known
        return DebugType(f"{self._base_name(node)}[{count or ''}]{suffix}", "array", stride * count, (), element, count)

    def _base_name(self, node: MetadataNode) -> str:
        return self._name(self.type(node.reference("baseType")))
