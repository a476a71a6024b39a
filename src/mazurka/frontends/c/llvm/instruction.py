"""One instruction in the text of a function: what it is, and where in the text its parts stand."""

from __future__ import annotations

from collections.abc import Callable

from mazurka.frontends.c.llvm import syntax as llvm
from mazurka.frontends.c.llvm.syntax import Cursor, LLVMType, LLVMValue, Operand, name_of

ACCESSES = frozenset(("load", "store", "atomicrmw", "cmpxchg"))


class LLVMInstruction:
    """`line` is where it begins in the text, from 1; `text` is all of it as it stands there, also what is on further
    lines. `result` is the name of what it gives. A note for a debugger has an opcode that begins with `#`."""

    __slots__ = ("_named", "_start", "line", "opcode", "result", "text", "tokens")

    def __init__(self, line: int, text: str, named: Callable[[str], LLVMType]) -> None:
        self.line = line
        self.text = text
        self.tokens = llvm.tokens_of(text)
        self._named = named
        start = 2 if self.tokens[1:2] == ["="] else 0
        self.result = name_of(self.tokens[0]) if start else None
        while self.tokens[start] in ("tail", "musttail", "notail"):
            start += 1
        self.opcode = self.tokens[start]
        self._start = start + 1

    def cursor(self) -> Cursor:
        """Reads what comes after the opcode."""
        return Cursor(self.tokens, self._named, self._start)

    @property
    def debug(self) -> int | None:
        """The number of the metadata that says where in the source it comes from."""
        return llvm.debug_of(self.text)

    @property
    def callee(self) -> str | None:
        """The function that is called by its name; "" if a call is through a pointer, None if this is no call."""
        if self.opcode != "call":
            return None
        token = self.tokens[self._callee()]
        return name_of(token) if token[0] == "@" else ""

    def _callee(self) -> int:
        cursor = self.cursor()
        cursor.call_type()
        return cursor.position

    def arguments(self) -> list[tuple[Operand, llvm.Attributes]]:
        """Those of a call."""
        cursor = self.cursor()
        cursor.call_type()
        cursor.next()
        return cursor.arguments()

    def with_callee(self, name: str, *first: str) -> str:
        """The text, but another function is called, with more arguments before its own."""
        spans = llvm.spans_of(self.text)
        callee = self._callee()
        begin, end = spans[callee][0], spans[callee + 1][1]
        more = ", ".join(first)
        if first and self.tokens[callee + 2] != ")":
            more += ", "
        return f"{self.text[:begin]}@{name}({more}{self.text[end:]}"

    def address(self) -> LLVMValue:
        """What an access accesses, or the base of a `getelementptr`."""
        return self._to_address().value(llvm.POINTER)

    @property
    def address_text(self) -> str:
        begin, end = self._address_span()
        return self.text[begin:end]

    def with_address(self, address: str) -> str:
        """The text of an access, but to another address."""
        begin, end = self._address_span()
        return f"{self.text[:begin]}{address}{self.text[end:]}"

    def _address_span(self) -> tuple[int, int]:
        cursor = self._to_address()
        first = cursor.position
        cursor.value(llvm.POINTER)
        spans = llvm.spans_of(self.text)
        return spans[first][0], spans[cursor.position - 1][1]

    def _to_address(self) -> Cursor:
        cursor = self.cursor()
        if self.opcode == "atomicrmw":
            cursor.accept("volatile")
            cursor.next()
        else:
            cursor.skip_words()
        if self.opcode in ("load", "store", "getelementptr"):
            type_ = cursor.type()
            if self.opcode == "store":
                cursor.value(type_)
            cursor.expect(",")
        cursor.type()
        return cursor
