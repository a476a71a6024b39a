"""Where in a source file a fence can be written: on a line of its own, before a statement or after it.

The file is read as far as that takes: comments, texts and directives are left out (and of code among which directives
choose, all but the first), brackets are matched, and statements told by their first words and their semicolons. What
does not look like C stays a part of the statement around it, and where no statement begins with a line, there is no
such place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_TEXT = re.compile(
    r'//(?:\\\n|[^\n])*|/\*.*?\*/|R"(?P<mark>[^(\s"]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'",
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w*)(?:\\\n|[^\n])*", re.MULTILINE)
_TOKEN = re.compile(r"\w+|::|\S")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
# What stands before a brace with statements in it. Before others, a type, an enumeration or a value begins.
_BEFORE_CODE = {")", "]", "do", "else", "try", "const", "noexcept", "override", "final", "mutable"}
_WITH_BODIES = {"if", "while", "for", "switch"}
# Simple statements after which nothing is executed.
_LEAVING = {"return", "goto", "break", "continue", "throw", "co_return"}


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that begins with the line `first`. If it is a simple one that ends with a line, that is the `last`.
    `bare`: it is the body of an `if` or a loop, so that a fence before or after it takes braces."""

    first: int
    last: int | None
    bare: bool


def statements(text: str) -> list[Statement]:
    """The statements of a C or C++ file before or after which fences can be written."""
    reader = _Reader(_first_choices(_TEXT.sub(lambda found: _blank(found[0]), text)))
    try:
        reader.declarations(0, "")
    except (IndexError, RecursionError):  # brackets that do not match, perhaps since directives choose among them
        return []
    return sorted(reader.found, key=lambda statement: statement.first)


def _blank(text: str) -> str:
    return "".join("\n" if each == "\n" else " " for each in text)


def _first_choices(text: str) -> str:
    """The text without directives and what comes after an `#else` or `#elif`."""
    parts: list[str] = []
    at, open_conditions, left_out = 0, 0, 0  # how many conditions are open, and at which of them to go on
    for found in _DIRECTIVE.finditer(text):
        parts.append(_blank(text[at : found.start()]) if left_out else text[at : found.start()])
        parts.append(_blank(found[0]))
        at, word = found.end(), found[1]
        if word.startswith("if"):
            open_conditions += 1
        elif word.startswith("el") and not left_out:
            left_out = open_conditions
        elif word == "endif":
            left_out = 0 if left_out == open_conditions else left_out
            open_conditions -= 1
    return "".join([*parts, text[at:]])


class _Reader:
    """Each function reads what begins at a token, and returns where the rest begins."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        self.lines: list[int] = []
        for number, line in enumerate(text.split("\n"), 1):
            words = _TOKEN.findall(line)
            self.tokens += words
            self.lines += [number] * len(words)
        self.found: list[Statement] = []

    def declarations(self, at: int, end: str) -> int:
        """All up to a closing bracket, with the bodies of functions in it."""
        while at < len(self.tokens) and self.tokens[at] != end:
            at = self.bracket(at) if self.tokens[at] in _CLOSING else at + 1
        if end and at == len(self.tokens):
            raise IndexError
        return at + 1

    def bracket(self, at: int) -> int:
        if self.tokens[at] == "{" and at > 0 and self.tokens[at - 1] in _BEFORE_CODE:
            return self.block(at)
        return self.declarations(at + 1, _CLOSING[self.tokens[at]])

    def block(self, at: int) -> int:
        at += 1
        while self.tokens[at] != "}":
            at = self.statement(at)
        return at + 1

    def statement(self, at: int, bare: bool = False) -> int:
        word = self.tokens[at]
        if word == "{":
            return self.block(at)
        if word in ("case", "default") or self.tokens[at + 1] == ":":
            while self.tokens[at] != ":":
                at += 1
            return at + 1
        if word in _WITH_BODIES:
            self.note(at, None, bare)
            at += 1
            while self.tokens[at] != "(":
                at += 1
            at = self.statement(self.bracket(at), bare=True)
            return self.statement(at + 1, bare=True) if word == "if" and self.tokens[at] == "else" else at
        if word == "do":
            self.note(at, None, bare)
            at = self.statement(at + 1, bare=True)
            while self.tokens[at] != ";":
                at = self.bracket(at) if self.tokens[at] in _CLOSING else at + 1
            return at + 1
        if word in ("try", "catch"):
            if word == "try":
                self.note(at, None, bare)
            while self.tokens[at] != "{":
                at += 1
            return self.block(at)
        begin = at
        while self.tokens[at] != ";":
            at = self.bracket(at) if self.tokens[at] in _CLOSING else at + 1
            if self.tokens[at] == "}":  # no statement: a macro, or the last value of a list
                return at
        ends_line = at + 1 == len(self.tokens) or self.lines[at + 1] > self.lines[at]
        simple = ends_line and word not in _LEAVING and "{" not in self.tokens[begin:at]
        self.note(begin, self.lines[at] if simple else None, bare)
        return at + 1

    def note(self, begin: int, last: int | None, bare: bool) -> None:
        if begin == 0 or self.lines[begin - 1] < self.lines[begin]:
            self.found.append(Statement(self.lines[begin], last, bare))
