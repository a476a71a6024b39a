"""What keeps a program from being translated, collected and told at once: whoever has to change a program wants to know
of all changes before the first one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from mazurka.errors import InputError
from mazurka.escaping import visible
from mazurka.frontends.c.archive import LIBRARY
from mazurka.frontends.c.llvm.module import Definition
from mazurka.program.instructions import Location
from mazurka.program.names import demangle

# How much of it a message shows.
_MOST_SHOWN = 50
_MOST_PLACES = 8


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A line of a file; line 0 is the file as a whole."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Refusal:
    """Something that is not supported, with the remedy in its `message`, and all `places` where the program has it.
    `inside` is where it is in the library, if the program only gets there by calls from these places."""

    message: str
    places: tuple[Place, ...]
    inside: Location | None = None

    def __str__(self) -> str:
        first, *others = self.places
        inside = f" (called at {self.inside})" if self.inside else ""
        also = ", ".join(map(str, others[:_MOST_PLACES]))
        left_out = len(others) - _MOST_PLACES
        also += f" and {left_out} more place{'s' if left_out > 1 else ''}" if left_out > 0 else ""
        return visible(f"{first}: {self.message}{inside}{f' (also at {also})' if also else ''}")


class Refused(InputError):
    """A program that uses what is not supported. `refusals` are all of its reasons, in the order of their places."""

    def __init__(self, refusals: Sequence[Refusal]) -> None:
        self.refusals = tuple(refusals)
        lines = [str(refusal) for refusal in self.refusals[:_MOST_SHOWN]]
        if len(self.refusals) > _MOST_SHOWN:
            lines.append(f"… and {len(self.refusals) - _MOST_SHOWN} more")
        if len(self.refusals) > 1:
            lines.insert(0, f"{len(self.refusals)} things in this program are not supported:")
        super().__init__("\n".join(lines))


@dataclass(frozen=True, slots=True)
class _Met:
    """A thing that was met in the translation of a definition."""

    message: str
    definition: Definition
    location: Location | None


@dataclass(slots=True)
class Refusals:
    """Those that were met so far, and who calls whom, which says for those in the library where they come from."""

    _files: list[tuple[str, str]] = field(default_factory=list)
    _met: list[_Met] = field(default_factory=list)
    _callers: dict[Definition, list[tuple[Definition, Location | None]]] = field(default_factory=dict)

    def add(self, message: str, definition: Definition, location: Location | None) -> None:
        self._met.append(_Met(message, definition, location))

    def add_file(self, message: str, file: str) -> None:
        """What concerns a file as a whole."""
        self._files.append((message, file))

    def note_call(self, callee: Definition, caller: Definition, location: Location | None) -> None:
        self._callers.setdefault(callee, []).append((caller, location))

    def without_callers(self, is_library: Callable[[Definition], bool]) -> dict[Definition, str]:
        """What was met in functions of a compiled library that the program does not come to by calls: they may be
        there for nothing but the table of virtual functions that they are in. These are no refusals any more."""
        found: dict[Definition, str] = {}
        for met in self._met:
            inside = met.definition.kind == "function" and met.definition.module.library == LIBRARY
            if met.definition in found or (inside and not any(self._calls_into(met.definition, is_library))):
                found.setdefault(met.definition, met.message)
        self._met = [met for met in self._met if met.definition not in found]
        return found

    def check(self, is_library: Callable[[Definition], bool]) -> None:
        """Raise `Refused` if there are any."""
        if not self._files and not self._met:
            return
        found: dict[tuple[str, Location | None], set[Place]] = {}
        for message, file in self._files:
            found.setdefault((message, None), set()).add(Place(file))
        # Of what a call of the library comes to, the first is reason enough: the remedy is to do without that call.
        explained: set[tuple[Place, Definition]] = set()
        for met in self._met:
            calls = set(self._calls_into(met.definition, is_library)) if is_library(met.definition) else set()
            if calls:
                places = {place for place, _ in calls - explained}
                explained |= calls
                if places:
                    found.setdefault((met.message, met.location), set()).update(places)
            else:
                found.setdefault((met.message, None), set()).add(_place(met.definition, met.location))
        refusals = [Refusal(message, tuple(sorted(places)), inside) for (message, inside), places in found.items()]
        raise Refused(sorted(refusals, key=lambda refusal: refusal.places))

    def _calls_into(
        self, target: Definition, is_library: Callable[[Definition], bool]
    ) -> Iterator[tuple[Place, Definition]]:
        """The calls by which the program itself gets to a function of the library: where, and of what."""
        todo, seen = [target], {target}
        while todo:
            callee = todo.pop()
            for caller, location in self._callers.get(callee, ()):
                if not is_library(caller):
                    yield _place(caller, location), callee
                elif caller not in seen:
                    seen.add(caller)
                    todo.append(caller)


def shown(name: str) -> str:
    """A symbol as the source has it."""
    return re.sub(r"\bstd::(__\w+::)+", "std::", demangle(name))  # the version of the C++ library is a namespace


def _place(definition: Definition, location: Location | None) -> Place:
    return Place(location.file, location.line) if location else Place(definition.module.origin)
