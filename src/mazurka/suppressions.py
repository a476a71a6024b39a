"""Data races that somebody knows of and does not want to hear of again, named by file, function or object."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from mazurka.result import Race, Suppression

# The standard says that all threads may print to and read from these without a data race. libc++ writes to them without
# a lock all the same (it sets the width back after each output), which is its own business.
STANDARD_STREAMS = frozenset(("_ZNSt3__13cinE", "_ZNSt3__14coutE", "_ZNSt3__14cerrE", "_ZNSt3__14clogE"))


@dataclass(frozen=True, slots=True)
class Pattern:
    """`file:src/log*.c`, `function:trace`, `object:stats.hits`: a race is meant if the file or the function of one of
    its two accesses matches, or the object that both touch. Patterns are those of a shell. That of a file may leave out
    folders at the begin; that of an object also means all its parts."""

    kind: str
    pattern: str

    @staticmethod
    def parse(text: str) -> Pattern:
        """What `options.SUPPRESS_RACE` accepts."""
        kind, _, pattern = text.partition(":")
        return Pattern(kind, pattern)

    def __str__(self) -> str:
        return f"{self.kind}:{self.pattern}"

    def matches(self, race: Race) -> bool:
        # A name that was copied from a report may have brackets, which mean something else in a pattern.
        return any(name == self.pattern or fnmatchcase(name, self.pattern) for name in self._names(race))

    def _names(self, race: Race) -> Iterator[str]:
        """All that the race is called in this respect."""
        for access in (race.first, race.second):
            if self.kind == "file" and access.file is not None:
                yield from _endings(access.file)
            elif self.kind == "function" and access.function is not None:
                yield access.function
        if self.kind == "object":
            yield race.object
            yield from (race.object[: part.start()] for part in re.finditer(r"[.\[]|->", race.object) if part.start())


class Suppressions:
    """Those that hold for one search, and what they have matched."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._all = [Pattern.parse(text) for text in dict.fromkeys(texts)]
        self._matched: dict[Pattern, set[tuple[Any, ...]]] = {pattern: set() for pattern in self._all}

    def __bool__(self) -> bool:
        return bool(self._all)

    def match(self, race: Race) -> bool:
        """Whether a race is one of those that are meant, or none for the standard."""
        if race.object.partition(" ")[0] in STANDARD_STREAMS:
            return True
        matching = [pattern for pattern in self._all if pattern.matches(race)]
        for pattern in matching:
            self._matched[pattern].add(race.identity)
        return bool(matching)

    @property
    def races(self) -> int:
        """How many different ones were."""
        return len(set[Any]().union(*self._matched.values()))

    @property
    def uses(self) -> tuple[Suppression, ...]:
        return tuple(Suppression(str(pattern), len(races)) for pattern, races in self._matched.items())


def _endings(file: str) -> Iterator[str]:
    """A path, and what is left of it without the first folders."""
    yield file
    yield from (file[slash.end() :] for slash in re.finditer("/+", file) if slash.end() < len(file))
