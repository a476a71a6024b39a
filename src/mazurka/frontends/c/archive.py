"""The standard library of C++, from its sources: libc++ and libc++abi as they come with the compiler.

Like an archive that a linker is given, it consists of *members*, one for each source file, and a member becomes part of
a program when something that it defines is asked for and not defined elsewhere. A member is compiled when it is needed
for the first time, and kept in the user's cache.

Which member defines a symbol is said by an index, so that nothing is compiled in order to find out. The one that is
installed (`libcxx.index`) is for the sources of one version; for others, all members are compiled once.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib.resources import files
from pathlib import Path

from mazurka.frontends.c.compiler import STANDARD_FOLDERS, Compiler, cached_text, compile_settings, is_cached
from mazurka.frontends.c.llvm.module import Module

# What is no part of it: code for other systems, what the models of the C library have in a form of their own (memory,
# static variables of functions, thread-local ones), what needs files, and what is there for builds without exceptions.
_LEFT_OUT = (
    "libcxx/src/experimental/", "libcxx/src/filesystem/", "libcxx/src/pstl/", "libcxx/src/support/",
    "libcxx/src/new.cpp", "libcxx/src/new_handler.cpp", "libcxx/src/verbose_abort.cpp",
    "libcxxabi/src/cxa_demangle.cpp", "libcxxabi/src/cxa_guard.cpp", "libcxxabi/src/cxa_noexception.cpp",
    "libcxxabi/src/cxa_personality.cpp", "libcxxabi/src/cxa_thread_atexit.cpp", "libcxxabi/src/cxa_virtual.cpp",
    "libcxxabi/src/fallback_malloc.cpp", "libcxxabi/src/stdlib_new_delete.cpp",
)  # fmt: skip
LIBRARY = "libc++"
# By these, a program asks for facets of a locale that are not there (`compiler.py` leaves them out): it must not find
# that they are missing when it runs, where streams take that for a failure of their own.
_FACET = re.compile(
    r"_ZNSt3__1\d+(?!ctypeIcE|codecvtIcc11__|numpunctIcE|num_[gp][eu]tIc)"
    r"(?:collate|ctype|codecvt|numpunct|num_get|num_put|moneypunct|money_get|money_put|time_get|time_put|messages)"
    r"I.*E2idE"
)


def is_left_out(symbol: str) -> bool:
    """Whether the sources define it, but what it is for is not there."""
    return _FACET.fullmatch(symbol) is not None


class Archive:
    """The members that are still to be had. Each is given once."""

    def __init__(self, compiler: Compiler) -> None:
        assert compiler.headers is not None
        self._compiler = compiler
        self._root = compiler.headers
        self._given: set[str] = set()
        self._texts: dict[str, str] = {}  # of those that were compiled just now

    def member(self, symbol: str) -> Module | None:
        """The member that defines a symbol, if it was not given before."""
        name = self._index.get(symbol)
        if name is None or name in self._given:
            return None
        self._given.add(name)
        text = self._texts.get(name) or self._text(name)
        return Module(text, f"<{LIBRARY}>/{name.partition('src/')[2]}", library=LIBRARY)

    def prepare(self, symbols: Iterable[str]) -> None:
        """Compile what these symbols will need, several members at a time, unless that has been done before."""
        while missing := sorted(self._members(symbols) - self._compiled):
            texts = self._compile(missing)
            symbols = [
                name
                for member, text in texts.items()
                for name, symbol in Module(text, member).symbols.items()
                if not symbol.defined
            ]

    def _members(self, symbols: Iterable[str]) -> set[str]:
        return {name for symbol in symbols if (name := self._index.get(symbol)) is not None}

    @cached_property
    def _compiled(self) -> set[str]:
        """The members that are known to be there already."""
        return {name for name in self._index.values() if is_cached(self._cache, _file(name))}

    def _compile(self, members: Sequence[str]) -> Mapping[str, str]:
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            texts = dict(zip(members, pool.map(self._text, members), strict=True))
        self._compiled.update(texts)
        self._texts.update(texts)
        return texts

    def _text(self, member: str) -> str:
        def compile_member() -> str:
            self._announce()
            return self._compiler.compile_standard_library(self._root / member)

        return cached_text(self._cache, _file(member), compile_member)

    def _announce(self) -> None:
        """Say once why nothing happens for a while."""
        if not self._announced and sys.stderr.isatty():
            self._announced = True
            print("compiling parts of the C++ standard library, which are kept for the next time …", file=sys.stderr)

    _announced = False

    @cached_property
    def _cache(self) -> str:
        return f"libcxx-{compile_settings(self._compiler)}"

    @cached_property
    def _index(self) -> dict[str, str]:
        """The member that defines each symbol."""
        installed = (files("mazurka.frontends.c") / "libcxx.index").read_text()
        digest, _, entries = installed.partition("\n")
        if digest != source_digest(self._root):
            entries = cached_text(self._cache, "index", self.make_index)
        index: dict[str, str] = {}
        for line in entries.splitlines():
            member, *symbols = line.split(" ")
            for symbol in symbols:
                index.setdefault(symbol, member)
        return index

    def make_index(self) -> str:
        """A line for each member: its name, and what it defines that others do not define for themselves."""
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            names = sorted(members(self._root))
            defined = pool.map(lambda name: _defined(Module(self._text(name), name)), names)
            return "".join(f"{' '.join([name, *symbols])}\n" for name, symbols in zip(names, defined, strict=True))


def _file(member: str) -> str:
    """Under which name its text is kept."""
    return member.replace("/", "-") + ".ll"


def members(root: Path) -> Iterator[str]:
    for folder in STANDARD_FOLDERS:
        for path in (root / folder).rglob("*.cpp"):
            name = path.relative_to(root).as_posix()
            if not name.startswith(_LEFT_OUT):
                yield name


def source_digest(root: Path) -> str:
    """What tells the sources of one version from those of another one."""
    sizes = sorted((name, (root / name).stat().st_size) for name in members(root))
    return hashlib.sha256(repr(sizes).encode()).hexdigest()[:32]


def _defined(module: Module) -> Iterator[str]:
    for definition in module.symbols.values():
        shared = not definition.local and definition.linkage not in ("linkonce", "linkonce_odr", "available_externally")
        if definition.defined and shared and not definition.name.startswith("llvm."):
            yield definition.name
