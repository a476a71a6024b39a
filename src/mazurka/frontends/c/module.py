"""A module of LLVM text, indexed by name and read only where it is asked for: headers of C++ are large."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mazurka.errors import InputError
from mazurka.frontends.c.syntax import (
    POINTER,
    Attributes,
    Characters,
    Cursor,
    FunctionType,
    LLVMType,
    LLVMValue,
    Operand,
    Other,
    Symbol,
    Unsupported,
    Zero,
    name_of,
)

_LINKAGES = frozenset(
    {
        "appending", "available_externally", "common", "extern_weak", "external", "internal", "linkonce",
        "linkonce_odr", "private", "weak", "weak_odr",
    }
)  # fmt: skip
_LOCAL = frozenset({"private", "internal"})
_WEAK = frozenset({"linkonce", "weak", "common", "linkonce_odr", "weak_odr", "available_externally"})
_SYMBOL = r'@(?:"[^"]*"|[-\w.$]+)'
_FUNCTION = re.compile(rf"(?P<name>{_SYMBOL})\(")
_METADATA = re.compile(r"!dbg !(\d+)")
_LABEL = re.compile(r'("[^"]*"|[-\w.$]+):')


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, a variable or an alias that a module defines, or only declares. `start` is its line in the text."""

    module: Module
    name: str
    kind: str  # "function", "variable" or "alias"
    linkage: str
    defined: bool
    start: int

    @property
    def local(self) -> bool:
        """Whether other modules cannot see it, as `static`."""
        return self.linkage in _LOCAL

    @property
    def weak(self) -> bool:
        """Whether it gives way to another definition."""
        return self.linkage in _WEAK


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    type: LLVMType
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a function. `debug` is the number of its metadata node."""

    returns: LLVMType
    parameters: tuple[Parameter, ...]
    variadic: bool
    debug: int | None

    @property
    def type(self) -> FunctionType:
        return FunctionType(self.returns, tuple(parameter.type for parameter in self.parameters), self.variadic)


@dataclass(frozen=True, slots=True)
class Variable:
    """A global variable. `value` is None where it is only declared."""

    type: LLVMType
    value: LLVMValue | None
    constant: bool
    thread_local: bool
    debug: int | None


class Module:
    """`origin` is the file as the user named it. `library` marks the models of the C library."""

    def __init__(self, text: str, origin: str, library: bool = False) -> None:
        self.origin = origin
        self.library = library
        self.lines = text.split("\n")
        self.symbols: dict[str, Definition] = {}
        self.metadata: dict[int, str] = {}
        self._types: dict[str, str | LLVMType] = {}
        self._headers: dict[str, Header] = {}
        for number, line in enumerate(self.lines):
            match line[:1]:
                case "@":
                    self._index_variable(number, line)
                case "d" if line.startswith(("define ", "declare ")):
                    self._index_function(number, line)
                case "!" if line[1:2].isdigit():
                    key, _, node = line.partition(" = ")
                    self.metadata[int(key[1:])] = node
                case "%":
                    name, _, type_ = line.partition(" = type ")
                    self._types[name_of(name)] = type_
                case "t" if line.startswith("target "):
                    self._check_target(line)
                case "m" if line.startswith("module asm "):
                    raise InputError(f"{origin}: assembly outside of functions is not supported; write it in C")

    def _check_target(self, line: str) -> None:
        what, _, value = line.partition(" = ")
        value = value.strip('"')
        if what == "target triple" and not value.startswith("x86_64"):
            raise InputError(f"{self.origin}: compiled for {value}; compile it with `-target x86_64-linux-gnu`")
        if what == "target datalayout" and not value.startswith("e-"):
            raise InputError(f"{self.origin}: compiled for a big-endian machine; compile it for x86_64-linux-gnu")

    def _index_variable(self, number: int, line: str) -> None:
        symbol, _, rest = line.partition(" = ")
        name = name_of(symbol)
        words = rest.split(" ", 12)
        linkage = words[0] if words[0] in _LINKAGES else ""
        if re.match(r"(?:[\w()]+ )*ifunc ", rest):
            raise InputError(f"{self.origin}: '{name}' is chosen at load time (ifunc), which is not supported")
        alias = re.match(r"(?:[\w()]+ )*alias ", rest) is not None
        defined = linkage not in ("external", "extern_weak")
        self.symbols[name] = Definition(self, name, "alias" if alias else "variable", linkage, defined, number)

    def _index_function(self, number: int, line: str) -> None:
        match = _FUNCTION.search(line)
        if match is None:
            raise InputError(f"{self.origin}: the LLVM text `{line}` is not understood")
        name = name_of(match["name"])
        linkage = line.split(" ", 2)[1]
        linkage = linkage if linkage in _LINKAGES else ""
        self.symbols[name] = Definition(self, name, "function", linkage, line.startswith("define "), number)

    def cursor(self, text: str) -> Cursor:
        return Cursor(text, self.named_type)

    def named_type(self, name: str) -> LLVMType:
        type_ = self._types.get(name, "opaque")
        if isinstance(type_, str):
            type_ = self._types[name] = Other("opaque") if type_ == "opaque" else self.cursor(type_).type()
        return type_

    def header(self, name: str) -> Header:
        """The type of a function that is defined or declared here."""
        header = self._headers.get(name)
        if header is None:
            header = self._headers[name] = self._read_header(self.lines[self.symbols[name].start])
        return header

    def _read_header(self, line: str) -> Header:
        cursor = self.cursor(line)
        cursor.next()
        while cursor.peek()[:1] == "!":
            cursor.next()
        cursor.attributes()
        returns = cursor.type()
        cursor.next()
        cursor.expect("(")
        parameters: list[Parameter] = []
        variadic = False
        for _ in cursor.items(")"):
            if cursor.accept("..."):
                variadic = True
                continue
            type_ = cursor.type()
            attributes = cursor.attributes()
            name = name_of(cursor.next()) if cursor.peek()[:1] == "%" else ""
            parameters.append(Parameter(name, type_, attributes))
        debug = _METADATA.search(line)
        return Header(returns, tuple(parameters), variadic, int(debug[1]) if debug else None)

    def variable(self, name: str) -> Variable:
        line = self.lines[self.symbols[name].start]
        cursor = self.cursor(line)
        thread_local = False
        while (word := cursor.next()) not in ("global", "constant"):
            thread_local |= word == "thread_local"
        type_ = cursor.type()
        value = cursor.value(type_) if self.symbols[name].defined else None
        debug = _METADATA.search(line)
        return Variable(type_, value, word == "constant", thread_local, int(debug[1]) if debug else None)

    def aliasee(self, name: str) -> Operand:
        """What an alias stands for: a symbol, perhaps with an offset."""
        cursor = self.cursor(self.lines[self.symbols[name].start])
        while cursor.next() != "alias":
            pass
        cursor.type()
        cursor.expect(",")
        return cursor.operand() if cursor.at_type() else Operand(POINTER, cursor.value(POINTER))

    def body(self, name: str) -> dict[str, list[tuple[int, str]]]:
        """The instructions of a function, each with its line in the text (from 1), by the label of their block; the
        first one is the entry."""
        start = self.symbols[name].start
        # A block without a name is numbered, together with the parameters and the results that have none.
        unnamed = sum(parameter.name.isdigit() for parameter in self.header(name).parameters)
        blocks: dict[str, list[tuple[int, str]]] = {}
        current: list[tuple[int, str]] | None = None
        in_switch = False
        for number, line in enumerate(self.lines[start + 1 :], start + 2):
            if line.startswith("}"):
                break
            if not line or line[0] == ";":
                continue
            if line[0] != " ":
                label = _LABEL.match(line)
                if label is None:
                    raise Unsupported(f"the LLVM text `{line}` is not understood")
                text = label[1]
                current = blocks[name_of("%" + text)] = []
                continue
            if current is None:
                current = blocks[str(unnamed)] = []
            # The cases of a switch and the clauses of other instructions continue the line before.
            if in_switch or line.startswith("      "):
                first, begun = current[-1]
                current[-1] = (first, f"{begun} {line.strip()}")
                in_switch = in_switch and not line.startswith("  ]")
            else:
                current.append((number, line.strip()))
                in_switch = line.startswith("  switch ") and "]" not in line
        return blocks

    def constructors(self) -> list[tuple[int, str]]:
        """The functions that run before `main`, each with its priority."""
        return self._table("llvm.global_ctors")

    def destructors(self) -> list[tuple[int, str]]:
        return self._table("llvm.global_dtors")

    def _table(self, name: str) -> list[tuple[int, str]]:
        if name not in self.symbols:
            return []
        entries = re.findall(rf"\{{ i32 (\d+), ptr ({_SYMBOL}), ", self.lines[self.symbols[name].start])
        return [(int(priority), name_of(symbol)) for priority, symbol in entries]


def string_at(module: Module, value: LLVMValue) -> str | None:
    """The C string that a constant points to, if it is a literal."""
    if not isinstance(value, Symbol) or value.name not in module.symbols:
        return None
    definition = module.symbols[value.name]
    if definition.kind != "variable" or not definition.defined:
        return None
    variable = module.variable(value.name)
    if isinstance(variable.value, Zero):
        return ""
    if not variable.constant or not isinstance(variable.value, Characters):
        return None
    return variable.value.data.split(b"\0", 1)[0].decode("utf-8", "replace")
