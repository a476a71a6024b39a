"""compile_commands.json: how each file of a build is compiled."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mazurka.errors import InputError
from mazurka.frontends.c import flags
from mazurka.frontends.c.compiler import C_SUFFIXES

NAME = "compile_commands.json"


@dataclass(frozen=True, slots=True)
class Command:
    """How a file is compiled: `file` as it is best shown here, its flags for a compiler that runs here, and the full
    path of the object file, or "" if that is not said."""

    file: str
    flags: tuple[str, ...]
    output: str


class Commands:
    """All of a build, which were read from `file`."""

    def __init__(self, file: str, commands: list[Command]) -> None:
        self.file = file
        self._commands = commands
        self._making = {command.output: command for command in commands if command.output}
        self._of: dict[str, list[Command]] = {}
        for command in commands:
            self._of.setdefault(os.path.realpath(command.file), []).append(command)

    def __iter__(self) -> Iterator[Command]:
        return iter(self._commands)

    def making(self, output: str) -> Command | None:
        """The one that makes an object file."""
        return self._making.get(output)

    def of(self, file: str) -> list[Command]:
        """Those that compile a file."""
        return self._of.get(os.path.realpath(file), [])


def read_commands(build: str) -> Commands:
    """Those of a build: of its folder, or of such a file."""
    file = os.path.join(build, NAME) if os.path.isdir(build) else build
    try:
        entries = json.loads(Path(file).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"{file}: no such file; with CMake, -DCMAKE_EXPORT_COMPILE_COMMANDS=ON has it written (Meson always does)"
        ) from None
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{file}: not a JSON file: {error}") from None
    if not isinstance(entries, list):
        raise InputError(f"{file}: not a list of compile commands")
    return Commands(file, [_command(file, number, entry) for number, entry in enumerate(entries, 1)])


def _command(file: str, number: int, entry: Any) -> Command:
    where = f"{file}: command {number}"
    if not isinstance(entry, dict):
        raise InputError(f"{where}: not an object with directory, file and command")
    name, directory = entry.get("file"), entry.get("directory", "")
    words = entry.get("arguments")
    if not isinstance(name, str) or not isinstance(directory, str):
        raise InputError(f"{where}: its file and its directory must be texts")
    if words is None and isinstance(entry.get("command"), str):
        try:
            words = shlex.split(entry["command"])
        except ValueError as error:
            raise InputError(f"{where}: its command cannot be read: {error}") from None
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        raise InputError(f"{where}: it needs a command, or a list of arguments")
    folder = Path(os.path.abspath(os.path.join(os.path.dirname(file), directory)))
    source = os.path.normpath(folder / name)
    words = flags.expanded(words, folder)
    # (CMake's own "output" is not always relative to the directory.)
    output = next((flag.value for flag in flags.read(words) if flag.name == "-o"), None) or entry.get("output")
    given = flags.anchored(words, folder)
    if Path(source).suffix in C_SUFFIXES and _is_for_cpp(words):
        given += ["-x", "c++"]
    return Command(shown(source), tuple(given), os.path.normpath(folder / output) if output else "")


def _is_for_cpp(words: list[str]) -> bool:
    """Whether the compiler takes all files for C++: `g++`, `clang++-19`, perhaps behind `ccache` or the like."""
    drivers = [word for word in words[:3] if not word.startswith("-") and Path(word).suffix not in C_SUFFIXES]
    return any("++" in Path(word).name for word in drivers)


def shown(file: str) -> str:
    """A path as it is best shown: relative where that is below this folder."""
    here = os.getcwd() + os.sep
    return file.removeprefix(here)
