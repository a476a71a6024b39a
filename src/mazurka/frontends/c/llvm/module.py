"""A module of LLVM text, indexed by name and read only where it is asked for: headers of C++ are large."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from mazurka.errors import InputError
from mazurka.frontends.c.llvm import syntax as llvm
from mazurka.frontends.c.llvm.instruction import LLVMInstruction
from mazurka.frontends.c.llvm.syntax import Cursor, LLVMType, LLVMValue, Operand, Unsupported, name_of

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
    attributes: llvm.Attributes


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a function. `debug` is the number of its metadata node."""

    returns: LLVMType
    parameters: tuple[Parameter, ...]
    variadic: bool
    debug: int | None

    @property
    def type(self) -> llvm.FunctionType:
        return llvm.FunctionType(self.returns, tuple(parameter.type for parameter in self.parameters), self.variadic)


@dataclass(frozen=True, slots=True)
class Variable:
    """A global variable. `value` is None where it is only declared."""

    type: LLVMType
    value: LLVMValue | None
    constant: bool
    thread_local: bool
    debug: int | None


@dataclass(frozen=True, slots=True)
class Constructor:
    """A function that runs before `main`, or after it. With a `variable`, it does so only if that is the one that
    the program has, of all that were defined with its name."""

    priority: int
    function: str
    variable: str | None


class Module:
    """`origin` is the file as the user named it. `library` is the name of the library that it belongs to, if it is not
    the user's. `problems` are what is not supported of the file as a whole."""

    def __init__(self, text: str, origin: str, library: str = "") -> None:
        self.origin = origin
        self.library = library
        self.problems: list[str] = []
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
                    self.problems.append("assembly outside of functions is not supported; write it in C")

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
            self.problems.append(f"'{name}' is chosen at load time (ifunc), which is not supported")
        alias = re.match(r"(?:[\w()]+ )*alias ", rest) is not None
        defined = linkage not in ("external", "extern_weak")
        self.symbols[name] = Definition(self, name, "alias" if alias else "variable", linkage, defined, number)

    def _index_function(self, number: int, line: str) -> None:
        match = _FUNCTION.search(line)
        if match is None:
            self.problems.append(f"the LLVM text `{line}` is not understood")
            return
        name = name_of(match["name"])
        linkage = line.split(" ", 2)[1]
        linkage = linkage if linkage in _LINKAGES else ""
        self.symbols[name] = Definition(self, name, "function", linkage, line.startswith("define "), number)

    def cursor(self, text: str) -> Cursor:
        return Cursor(llvm.tokens_of(text), self.named_type)

    def named_type(self, name: str) -> LLVMType:
        type_ = self._types.get(name, "opaque")
        if isinstance(type_, str):
            type_ = self._types[name] = llvm.Other("opaque") if type_ == "opaque" else self.cursor(type_).type()
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
        return Header(returns, tuple(parameters), variadic, llvm.debug_of(line))

    def is_unoptimised(self, name: str) -> bool:
        """Whether a function is as the compiler first wrote it, and no optimiser may touch it."""
        groups = re.findall(r" (#\d+)", self.lines[self.symbols[name].start])
        return any(self.has_attribute(group, "optnone") for group in groups)

    def has_attribute(self, group: str, attribute: str) -> bool:
        """Whether an attribute is in a group of them, `#7`."""
        return attribute in self._attributes.get(group, ())

    @cached_property
    def _attributes(self) -> dict[str, set[str]]:
        lines = (line for line in self.lines if line.startswith("attributes #"))
        return {line.split(" ", 2)[1]: set(re.findall(r'(?<![\w"-])\w+', line)) for line in lines}

    def signature(self, name: str) -> tuple[str, str]:
        """What a function returns and what it takes, as it is written."""
        line = self.lines[self.symbols[name].start]
        cursor, spans = self.cursor(line), llvm.spans_of(line)
        cursor.next()
        cursor.attributes()
        returns = cursor.position
        cursor.type()
        symbol = cursor.position
        cursor.next()
        cursor.skip_group()
        parameters = line[spans[symbol + 1][1] : spans[cursor.position - 1][0]]
        return line[spans[returns][0] : spans[symbol - 1][1]], parameters

    def variable(self, name: str) -> Variable:
        line = self.lines[self.symbols[name].start]
        cursor = self.cursor(line)
        thread_local = False
        while (word := cursor.next()) not in ("global", "constant"):
            thread_local |= word == "thread_local"
        type_ = cursor.type()
        value = cursor.value(type_) if self.symbols[name].defined else None
        return Variable(type_, value, word == "constant", thread_local, llvm.debug_of(line))

    def aliasee(self, name: str) -> Operand:
        """What an alias stands for: a symbol, perhaps with an offset."""
        cursor = self.cursor(self.lines[self.symbols[name].start])
        while cursor.next() != "alias":
            pass
        cursor.type()
        cursor.expect(",")
        return cursor.operand() if cursor.at_type() else Operand(llvm.POINTER, cursor.value(llvm.POINTER))

    def body(self, name: str) -> dict[str, list[LLVMInstruction]]:
        """The instructions of a function by the label of their block; the first one is the entry."""
        start = self.symbols[name].start
        # A block without a name is numbered, together with the parameters and the results that have none.
        unnamed = sum(parameter.name.isdigit() for parameter in self.header(name).parameters)
        blocks: dict[str, list[tuple[int, str]]] = {}
        current: list[tuple[int, str]] | None = None
        in_switch = False
        for index in range(start + 1, len(self.lines)):  # (a slice would copy the rest of a text that can be long)
            number, line = index + 1, self.lines[index]
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
                current[-1] = (first, f"{begun}\n{line}")
                in_switch = in_switch and not line.startswith("  ]")
            else:
                current.append((number, line))
                in_switch = line.startswith("  switch ") and "]" not in line
        return {
            label: [LLVMInstruction(number, text, self.named_type) for number, text in lines]
            for label, lines in blocks.items()
        }

    @cached_property
    def bodies(self) -> dict[str, dict[str, list[LLVMInstruction]]]:
        """Those of all functions that are defined here, by their names."""
        return {
            name: self.body(name)
            for name, definition in self.symbols.items()
            if definition.kind == "function" and definition.defined
        }

    def instructions(self) -> Iterator[tuple[str, LLVMInstruction]]:
        """All of them, with the functions that they are in."""
        for name, body in self.bodies.items():
            for block in body.values():
                yield from ((name, instruction) for instruction in block if instruction.opcode[0] != "#")

    def addresses_taken(self) -> set[str]:
        """The symbols that stand anywhere else than where they are called, declared or described."""
        found: set[str] = set()
        for line in self.lines:
            if "@" in line and line[0] != "!":
                tokens = llvm.tokens_of(line)
                found.update(
                    name_of(token) for token, after in pairwise([*tokens, ""]) if token[0] == "@" and after != "("
                )
        return found

    def constructors(self) -> list[Constructor]:
        """The functions that run before `main`."""
        return self._table("llvm.global_ctors")

    def destructors(self) -> list[Constructor]:
        return self._table("llvm.global_dtors")

    def _table(self, name: str) -> list[Constructor]:
        if name not in self.symbols:
            return []
        entry = rf"\{{ i32 (\d+), ptr ({_SYMBOL}), ptr ({_SYMBOL}|null) \}}"
        return [
            Constructor(int(priority), name_of(symbol), None if variable == "null" else name_of(variable))
            for priority, symbol, variable in re.findall(entry, self.lines[self.symbols[name].start])
        ]


def string_at(module: Module, value: LLVMValue) -> str | None:
    """The C string that a constant points to, if it is a literal."""
    if not isinstance(value, llvm.Symbol) or value.name not in module.symbols:
        return None
    definition = module.symbols[value.name]
    if definition.kind != "variable" or not definition.defined:
        return None
    variable = module.variable(value.name)
    if isinstance(variable.value, llvm.Zero):
        return ""
    if not variable.constant or not isinstance(variable.value, llvm.Characters):
        return None
    return variable.value.data.split(b"\0", 1)[0].decode("utf-8", "replace")
