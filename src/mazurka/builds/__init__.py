"""Programs as their builds have them: `mazurka check --build DIR --target NAME`.

commands.py   compile_commands.json: how each file is compiled
links.py      which object files and libraries make a target: build.ninja, or the link.txt files that CMake writes

Nothing is built, and no build tool is run: what the build would compile is compiled here. A static library is an
archive, of which only the members that are needed come along; a shared one comes as a whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from mazurka.builds.commands import Command, Commands, read_commands, shown
from mazurka.builds.links import Links, read_links
from mazurka.errors import InputError
from mazurka.frontends.c.compiler import C_SUFFIXES, CPP_SUFFIXES
from mazurka.frontends.c.flags import read
from mazurka.frontends.c.sources import Source, StaticLibrary

Input = str | os.PathLike[str]

# The compiler of a build finds these by itself. Here they come last, after the headers that come along.
_SYSTEM_HEADERS = ("/usr/local/include", "/usr/include/x86_64-linux-gnu", "/usr/include")


def sources(build: str, target: str | None, files: Sequence[str]) -> list[Input]:
    """What a target is made of, or these files alone, with the flags of the build. Files that are given along with a
    target are added to it; one that the build does not know is compiled with the flags of the target."""
    commands = read_commands(build)
    if target is None and not files:
        raise InputError(
            f"--build {build}: say of what: --target NAME ({_listed(read_links(build).names())}), or files"
        )
    if target is None:
        return [_named(file, commands, build) for file in files]
    found = _Target(build, commands, read_links(build)).inputs(target)
    added: list[Input] = []
    for file in files:
        known = commands.of(file)
        added.append(_source(known[0]) if known else Source(file, _flags_like(file, found)))
    return [*added, *found]


def has_assertions(inputs: Iterable[Input], more: Sequence[str]) -> bool:
    """Whether `assert` does something in all files of a build, if they are compiled with `more` flags."""
    for source in inputs:
        files = source.members if isinstance(source, StaticLibrary) else [source]
        for words in (file.flags for file in files if isinstance(file, Source)):
            named = [flag for flag in read([*words, *more]) if flag.value and flag.value.partition("=")[0] == "NDEBUG"]
            if named and named[-1].name == "-D":
                return False
    return True


def _named(file: str, commands: Commands, build: str) -> Source:
    known = commands.of(file)
    if not known:
        raise InputError(f"{file}: {commands.file} has no command that compiles it")
    if len({_source(command).flags for command in known}) > 1:
        outputs = ", ".join(command.output or "?" for command in known)
        raise InputError(
            f"{file}: is compiled in {len(known)} ways in {build} ({outputs}); --target NAME says which one is meant"
        )
    return _source(known[0])


def _source(command: Command) -> Source:
    file = command.file
    if not os.path.exists(file):
        raise InputError(f"{file}: no such file, although the build compiles it; build the project first")
    headers = (word for folder in _SYSTEM_HEADERS for word in ("-idirafter", folder))
    return Source(file, (*command.flags, *headers))


def _flags_like(file: str, found: Iterable[Input]) -> tuple[str, ...]:
    """The flags of the first file of a target in the same language, if there is one."""
    language = CPP_SUFFIXES if Path(file).suffix in CPP_SUFFIXES else C_SUFFIXES
    for input in found:
        for source in input.members if isinstance(input, StaticLibrary) else [input]:
            if isinstance(source, Source) and Path(source.file).suffix in language:
                return source.flags
    return ()


class _Target:
    """Follows a target to the files that are compiled for it."""

    def __init__(self, build: str, commands: Commands, links: Links) -> None:
        self._build = build
        self._commands = commands
        self._links = links
        self._seen: set[str] = set()

    def inputs(self, target: str) -> list[Input]:
        outputs = self._links.find(target)
        if len(outputs) > 1:
            told = ", ".join(sorted(os.path.relpath(output, self._build) for output in outputs))
            raise InputError(f"--target {target}: there are several in {self._build}: {told}; name one of these")
        found = self._with_libraries(outputs[0]) if outputs else self._in_object_folder(target)
        if not found:
            raise InputError(
                f"--target {target}: {self._build} has no such target that is made of C or C++ files; there are "
                f"{_listed(self._links.names())}"
            )
        return found

    def _with_libraries(self, output: str) -> list[Input]:
        """What a target is made of; of a static library also what has to be linked along with it."""
        found = self._made_of(output)
        if output.endswith(".a"):
            for library in self._links.beside.get(output, ()):
                found += self._with_libraries(library)
        return found

    def _made_of(self, output: str, whole: bool = False) -> list[Input]:
        """Those who link a file link what it is made of; of an archive only what they need, unless it is a `whole`."""
        if output in self._seen:
            return []
        self._seen.add(output)
        command = self._commands.making(output)
        if command is not None:
            return [_source(command)]
        link = self._links.making(output)
        if link is None and output.endswith((".o", ".obj")):
            raise InputError(
                f"{shown(output)}: {self._commands.file} does not say how this part of the target is compiled; with "
                "CMake, set CMAKE_EXPORT_COMPILE_COMMANDS before the target is added"
            )
        if link is None:  # a library from elsewhere
            return [output] if output.endswith(".a") and _is_of_bitcode(output) else []
        wholes = self._links.whole.get(output, set())
        found = [source for file in link for source in self._made_of(file, file in wholes)]
        if not output.endswith(".a") or whole:
            return found
        members = tuple(source for source in found if isinstance(source, Source))
        return [StaticLibrary(output, members), *(other for other in found if not isinstance(other, Source))]

    def _in_object_folder(self, target: str) -> list[Input]:
        """Without a word about how it is linked, object files of a target can be told by their folder."""
        folders = {f"{target}.dir", f"{target}.p"}
        return [_source(command) for command in self._commands if folders.intersection(Path(command.output).parts)]


def _is_of_bitcode(archive: str) -> bool:
    from mazurka.frontends.c.sources import is_bitcode, read_archive

    try:
        members = read_archive(archive)
    except InputError:
        return False
    return all(is_bitcode(content) for _, content in members)


def _listed(names: Iterable[str]) -> str:
    known = sorted(names)
    more = f" and {len(known) - 20} more" if len(known) > 20 else ""
    return f"{', '.join(known[:20])}{more}" if known else "none of which it is known how they are linked"
