"""The tables that a built program follows, read from the C text that is compiled.

Constants and the members of structures come from the header that the compiler reads as well, so that a number means
here what it means there. Whatever is not understood is an error: what is checked must be all that there is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as resources
from typing import Any

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_ENUM = re.compile(r"\benum \{([^}]*)\}")
_STRUCT = re.compile(r"\bstruct (\w+) \{([^}]*)\};")
# Numbers do not begin with zeros: then they would not be decimal.
_TOKEN = re.compile(r'\s*(?:(-?(?:0|[1-9]\d*))[uUlL]*(?!\w)|([A-Za-z_]\w*)|("(?:[^"\\]|\\.)*")|([{}\[\],;=+*]))')
# The long tables are of nothing but numbers and names of numbers.
_PLAIN = re.compile(r"^(?:static )?const (uint\d+_t|struct \w+) (\w+)\[\] = (\{[\w\s{},-]*\});$", re.MULTILINE)
_END = re.compile(r"\s*\Z")

_RANGES = {
    "bool": (0, 1),
    "uint16_t": (0, (1 << 16) - 1),
    "uint32_t": (0, (1 << 32) - 1),
    "uint64_t": (0, (1 << 64) - 1),
    "int32_t": (-(1 << 31), (1 << 31) - 1),
}


class Unreadable(Exception):
    """The text is not one of tables."""


@dataclass(frozen=True, slots=True)
class TableStep:
    """`waits` are pairs of a thread and a clock."""

    point: int
    flags: int
    waits: tuple[tuple[int, int], ...]
    redirect: int
    clock: int


@dataclass(frozen=True, slots=True)
class TableOption:
    thread: int
    begin: int
    arrival: int
    section: int
    sure: bool


@dataclass(frozen=True, slots=True)
class Stage:
    """A `struct section`, with the steps of each thread."""

    options: tuple[TableOption, ...]
    events: tuple[int, ...]
    previous: tuple[int, ...]
    standing: tuple[int, ...]
    lanes: tuple[tuple[TableStep, ...], ...]


@dataclass(frozen=True, slots=True)
class PointEntry:
    threads: int
    always: bool


@dataclass(frozen=True, slots=True)
class ReadTables:
    threads: int
    stages: tuple[Stage, ...]
    points: tuple[PointEntry, ...]
    children: frozenset[tuple[int, int, int]]
    area_size: int
    constants: tuple[int, ...]


@cache
def header() -> tuple[Mapping[str, int], Mapping[str, tuple[tuple[str, str], ...]]]:
    """The enumerators of the runtime's header, and the types and names of the members of its structures."""
    text = _COMMENT.sub("", (resources("mazurka.constrained.enforce") / "runtime" / "schedule.h").read_text())
    values: dict[str, int] = {}
    for body in _ENUM.findall(text):
        following = 0
        for entry in filter(None, map(str.strip, body.split(","))):
            name, _, value = entry.partition("=")
            following = int(value) if value else following
            values[name.strip()] = following
            following += 1
    structures: dict[str, tuple[tuple[str, str], ...]] = {}
    for name, body in _STRUCT.findall(text):
        members: list[tuple[str, str]] = []
        for declaration in filter(None, map(str.strip, body.split(";"))):
            first, *others = declaration.split(",")
            type_, member = first.rsplit(maxsplit=1)
            members += [(type_, each.strip().lstrip("*")) for each in (member, *others)]
        structures[name] = tuple(members)
    return values, structures


def read_tables(text: str) -> ReadTables:
    return _TableReader(text).tables()


def _tokens(text: str) -> Iterator[int | str]:
    """Numbers, and all else as it stands."""
    position = 0
    while (match := _TOKEN.match(text, position)) is not None:
        position = match.end()
        yield int(match[1]) if match[1] else match[match.lastindex or 0]
    if _END.match(text, position) is None:
        raise Unreadable(f"unexpected text: {text[position : position + 40].strip()!r}")


class _TableReader:
    def __init__(self, text: str) -> None:
        first, _, rest = text.partition("\n")
        if first.strip() != '#include "schedule.h"':
            raise Unreadable("the tables do not begin with the header of the runtime")
        self._constants, self._structures = header()
        self._found: dict[str, tuple[str, Any]] = {}
        self._tokens = list(_tokens(_PLAIN.sub(self._plain, rest)))
        self._position = 0
        while self._position < len(self._tokens):
            self._declaration()

    def _plain(self, match: re.Match[str]) -> str:
        """Read a table of numbers; nothing is left of it."""
        type_, name, body = match.groups()
        if name in self._found:
            raise Unreadable(f"'{name}' is there twice")
        body = re.sub(r"\b[A-Za-z_]\w*", lambda word: str(self._number(word[0])), body)
        body = re.sub(r"(?<=\d)[uUlL]+\b", "", body)
        try:
            values = json.loads(body.replace("{", "[").replace("}", "]"))
        except (ValueError, RecursionError):
            raise Unreadable(f"'{name}' is not a table of numbers") from None
        self._found[name] = (type_, values)
        return ""

    def _next(self) -> int | str:
        if self._position == len(self._tokens):
            raise Unreadable("the tables end too early")
        self._position += 1
        return self._tokens[self._position - 1]

    def _declaration(self) -> None:
        """A constant, as `const TYPE NAME = VALUE;` or `const TYPE NAME[] = {...};`."""
        words: list[str] = []
        while (token := self._next()) not in ("=", "["):
            words.append(str(token))
        if token == "[" and [self._next(), self._next()] != ["]", "="]:
            raise Unreadable("the length of a table is not left to the compiler")
        *type_, name = words
        if "const" not in type_ or name in self._found:
            raise Unreadable(f"'{name}' is not a constant, or there twice")
        value = self._value()
        if self._next() != ";":
            raise Unreadable(f"'{name}' does not end where it should")
        self._found[name] = (" ".join(word for word in type_ if word not in ("static", "const", "*")), value)

    def _value(self) -> Any:
        token = self._next()
        if token == "{":
            values: list[Any] = []
            while self._tokens[self._position] != "}":
                values.append(self._value())
                if self._tokens[self._position] != ",":
                    break
                self._next()
            if self._next() != "}":
                raise Unreadable("a table is not closed")
            return values
        if isinstance(token, str) and not token.startswith('"'):
            if self._position < len(self._tokens) and self._tokens[self._position] == "+":
                self._next()
                return token, self._number(self._next())
            return self._number(token)
        return token

    def _number(self, token: int | str) -> int:
        value = self._constants.get(token, token) if isinstance(token, str) else token
        if not isinstance(value, int):
            raise Unreadable(f"'{token}' is not a number")
        return value

    # ------------------------------------------------------------------------------------------ as objects

    def _scalar(self, name: str) -> int:
        type_, value = self._found.get(f"mazurka_{name}", ("", None))
        if type_ != "uint32_t" or not isinstance(value, int):
            raise Unreadable(f"'mazurka_{name}' is missing")
        return value

    def _columns(self, structure: str, name: str) -> dict[str, Sequence[Any]]:
        """A table of structures, by their members. What a row does not say is zero."""
        type_, rows = self._found.get(name, ("", None))
        if type_ != f"struct {structure}" or not isinstance(rows, list):
            raise Unreadable(f"'{name}' is missing")
        members = self._structures[structure]
        rows = [row if isinstance(row, list) else [row] for row in rows]
        if max(map(len, rows), default=0) > len(members):
            raise Unreadable(f"a row of '{name}' is too long")
        columns = list(zip(*(row + [0] * (len(members) - len(row)) for row in rows), strict=True))
        columns = columns or [()] * len(members)
        for (kind, member), column in zip(members, columns, strict=True):
            if kind in _RANGES:
                smallest, largest = _RANGES[kind]
                is_plain = set(map(type, column)) <= {int}
                if not is_plain or not all(smallest <= bound <= largest for bound in (min(column), max(column))):
                    raise Unreadable(f"'{member}' of a row of '{name}' is not a number that it can be")
        return {member: column for (_, member), column in zip(members, columns, strict=True)}

    def _part(self, reference: Any, length: int) -> tuple[int, ...]:
        """So many numbers, from where a pointer points."""
        name, offset = reference if isinstance(reference, tuple) else ("", 0)
        type_, numbers = self._found.get(name, ("", None))
        if type_ != "uint32_t" or not isinstance(numbers, list) or not 0 <= offset <= len(numbers) - length:
            raise Unreadable("a section refers to numbers that are not there")
        found = tuple(numbers[offset : offset + length])
        smallest, largest = _RANGES["uint32_t"]
        if not all(isinstance(number, int) and smallest <= number <= largest for number in found):
            raise Unreadable("a section refers to what is no number")
        return found

    def tables(self) -> ReadTables:
        threads = self._scalar("threads")
        table = self._columns("wait", "mazurka_wait")
        waits = list(zip(table["thread"], table["clock"], strict=True))
        table = self._columns("step", "mazurka_step")
        steps = list(
            zip(*(table[key] for key in ("point", "flags", "first_wait", "waits", "redirect", "clock")), strict=True)
        )
        table = self._columns("option", "mazurka_option")
        options = [
            TableOption(thread, begin, arrival, section, sure == 1)
            for thread, begin, arrival, section, sure in zip(
                *(table[key] for key in ("thread", "begin", "arrival", "section", "sure")), strict=True
            )
        ]
        table = self._columns("child", "mazurka_child")
        children = list(zip(*(table[key] for key in ("parent", "number", "thread")), strict=True))
        table = self._columns("point", "mazurka_point")
        points = [PointEntry(bits, always == 1) for bits, always in zip(table["threads"], table["always"], strict=True)]
        _, constants = self._found.get("mazurka_constant", ("", ()))
        if len(children) < self._scalar("children") or len(constants) < self._scalar("constants"):
            raise Unreadable("there are fewer threads to be created, or constants, than it says")
        table = self._columns("section", "mazurka_section")
        if len(table["options"]) != self._scalar("sections"):
            raise Unreadable("the number of sections is wrong")
        lanes: dict[int, tuple[TableStep, ...]] = {}
        stages = []
        for first, count, *references in zip(
            *(table[key] for key in ("first_option", "options", "events", "previous", "standing", "steps")), strict=True
        ):
            if first + count > len(options):
                raise Unreadable("a section has options that are not there")
            events, previous, standing, starts = (self._part(reference, threads) for reference in references)
            for start in starts:
                if start not in lanes:
                    lanes[start] = tuple(self._lane(steps, waits, start))
            own = tuple(lanes[start] for start in starts)
            stages.append(Stage(tuple(options[first : first + count]), events, previous, standing, own))
        return ReadTables(
            threads,
            tuple(stages),
            tuple(points),
            frozenset(children[: self._scalar("children")]),
            self._scalar("area_size"),
            tuple(constants[: self._scalar("constants")]),
        )

    def _lane(
        self, steps: Sequence[tuple[int, ...]], waits: Sequence[tuple[int, int]], position: int
    ) -> Iterator[TableStep]:
        """The steps from a position on, up to the one that ends them."""
        if position == 0:
            raise Unreadable("no step is before a list of them")  # `mazurka_accessed` looks at the one before
        while True:
            if position >= len(steps):
                raise Unreadable("a list of steps does not end")
            point, flags, first, count, redirect, clock = steps[position]
            if point == self._constants["NOWHERE"]:
                return
            if first + count > len(waits):
                raise Unreadable("a step has waits that are not there")
            yield TableStep(point, flags, tuple(waits[first : first + count]), redirect, clock)
            position += 1
