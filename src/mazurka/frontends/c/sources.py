"""What a program is made of, besides plain files: files with flags of their own, and archives.

Of an archive, a linker takes only the members that define something which is still missing, and runs only their
constructors: whoever takes all of them has another program. `needed` is that rule.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mazurka.errors import InputError
from mazurka.frontends.c.llvm.module import Module

_MAGIC, _THIN_MAGIC = b"!<arch>\n", b"!<thin>\n"
_HEADER = 60
_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")


@dataclass(frozen=True, slots=True)
class Source(os.PathLike[str]):
    """A file, with the flags that it is compiled with in its build: a path, so that it can stand where files do."""

    file: str
    flags: tuple[str, ...] = ()

    def __fspath__(self) -> str:
        return self.file

    def __str__(self) -> str:
        return self.file


@dataclass(frozen=True, slots=True)
class StaticLibrary(os.PathLike[str]):
    """A static library, made of these files, of which a program has those that it needs."""

    file: str
    members: tuple[Source, ...]

    def __fspath__(self) -> str:
        return self.file

    def __str__(self) -> str:
        return self.file


def is_bitcode(content: bytes) -> bool:
    return content.startswith(_BITCODE)


def read_archive(file: str) -> list[tuple[str, bytes]]:
    """The members of a `.a` file, each with its name; those of a thin one are files beside it."""
    try:
        content = Path(file).read_bytes()
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from None
    thin = content.startswith(_THIN_MAGIC)
    if not thin and not content.startswith(_MAGIC):
        raise InputError(f"{file}: not an archive, although its name ends in .a")
    return list(_members(file, content, thin))


def _members(file: str, content: bytes, thin: bool) -> Iterator[tuple[str, bytes]]:
    names = b""  # a member of its own has those that are too long for a header
    position = len(_MAGIC)
    while position + _HEADER <= len(content):
        header = content[position : position + _HEADER]
        name, digits = header[:16].rstrip(), header[48:58].strip()
        if header[58:] != b"`\n" or not digits.isdigit():
            raise InputError(f"{file}: not a whole archive: there is no member at byte {position}")
        size, start = int(digits), position + _HEADER
        if name in (b"/", b"//", b"/SYM64/") or name.startswith(b"__.SYMDEF"):
            names = content[start : start + size] if name == b"//" else names
            position = start + size + size % 2
            continue
        if name.startswith(b"#1/"):  # the way of BSD: the name is the beginning of the content
            length = int(name[3:])
            start, size, name = start + length, size - length, content[start : start + length].rstrip(b"\0")
        elif name.startswith(b"/"):
            name = names[int(name[1:]) :].partition(b"\n")[0]
        member = os.fsdecode(name.removesuffix(b"/"))
        if thin:
            position = start
            try:
                yield member, (Path(file).parent / member).read_bytes()
            except OSError as error:
                raise InputError(f"{file}({member}): {error.strerror}") from None
            continue
        if start + size > len(content):
            raise InputError(f"{file}: not a whole archive: it ends inside of {member}")
        yield member, content[start : start + size]
        position = start + size + size % 2


def needed(modules: Sequence[Module], archives: Sequence[Sequence[Module]]) -> list[Module]:
    """The members of archives that a program has: those that define what is missing, the first one if several do, and
    what these need in turn. Something is missing if it is used, or is `main`; a weak use does not count."""
    where: dict[str, Module] = {}
    for archive in archives:
        for module in archive:
            for name in _defined(module):
                where.setdefault(name, module)
    present = {name for module in modules for name in _defined(module)}
    missing = ["main", *(name for module in modules for name in _used(module))]
    taken: list[Module] = []
    while missing:
        name = missing.pop()
        member = where.get(name)
        if name in present or member is None:
            continue
        taken.append(member)
        present.update(_defined(member))
        missing += _used(member)
    return sorted(taken, key=[module for archive in archives for module in archive].index)


def _defined(module: Module) -> Iterator[str]:
    return (
        symbol.name
        for symbol in module.symbols.values()
        if symbol.defined and not symbol.local and symbol.linkage != "available_externally"
    )


def _used(module: Module) -> Iterator[str]:
    return (symbol.name for symbol in module.symbols.values() if not symbol.defined and symbol.linkage != "extern_weak")
