"""Which object files and libraries make a target, as the files say that a build tool reads: `build.ninja` (of CMake or
Meson), or the `link.txt` of each target that CMake writes for make.

Only what is linked is of interest: explicit inputs and libraries. What merely has to be there before is not.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from mazurka.errors import InputError
from mazurka.frontends.c import flags

_LIBRARY = re.compile(r".+\.(a|so(\.\d+)*)")
_LINKED = re.compile(r".+\.(a|o|obj|bc|so(\.\d+)*|symbols)")
# In CMake's Makefile2: a target, and one that has to be made before it.
_BEFORE = re.compile(r"^(?:.*/)?CMakeFiles/([^/]+)\.dir/all: (?:.*/)?CMakeFiles/([^/]+)\.dir/all$", re.MULTILINE)
# The variables in which CMake and Meson keep the rest of a linker's command line.
_LINK_VARIABLES = ("LINK_FLAGS", "LINK_PATH", "LINK_LIBRARIES", "LINK_ARGS", "ARGS")


@dataclass(slots=True)
class Links:
    """By full paths: what each file is made of, the other names of files, and the archives that each has as a `whole`,
    with all of their members, whether they are needed or not. The libraries `beside` an archive are those that whoever
    links it has to link as well."""

    inputs: dict[str, tuple[str, ...]] = field(default_factory=dict)
    aliases: dict[str, list[str]] = field(default_factory=dict)
    whole: dict[str, set[str]] = field(default_factory=dict)
    beside: dict[str, list[str]] = field(default_factory=dict)

    def making(self, output: str) -> tuple[str, ...] | None:
        return self.inputs.get(output)

    def names(self) -> set[str]:
        """What targets can be called."""
        named = {
            outputs[0]: alias
            for alias, outputs in self.aliases.items()
            if len(outputs) == 1 and "/" not in alias and not _LIBRARY.fullmatch(alias)
        }
        return {named.get(output, _plain(output)) for output in self.inputs if not _is_object(output)}

    def find(self, target: str) -> list[str]:
        """The files that can be meant: of this path, else of a target of this name, else of a file name like that."""
        files = [output for output in self.inputs if output.endswith(f"/{target}") and "/" in target]
        named = [output for output in self.aliases.get(target, ()) if output in self.inputs]
        alike = [output for output in self.inputs if target in (Path(output).name, _plain(output))]
        return next((sorted(set(found)) for found in (files, named, alike) if found), [])


def read_links(build: str) -> Links:
    """Those of a build, as far as they are known."""
    folder = os.path.abspath(build if os.path.isdir(build) else os.path.dirname(build))
    links = Links()
    ninja = os.path.join(folder, "build.ninja")
    if os.path.exists(ninja):
        _Ninja(folder, links).read(ninja)
    else:
        _read_link_texts(folder, links)
    return links


def _is_object(file: str) -> bool:
    return file.endswith((".o", ".obj", ".symbols"))


def _plain(output: str) -> str:
    """The name of a target in that of its file: `libqueue.so.1` is `queue`."""
    name = Path(output).name
    return re.sub(r"\.(a|so(\.\d+)*|exe)$", "", name).removeprefix("lib") if _LIBRARY.fullmatch(name) else name


# -------------------------------------------------------------------------------- make, as CMake uses it


def _read_link_texts(folder: str, links: Links) -> None:
    for place, folders, files in os.walk(folder):
        folders.sort()
        if "link.txt" not in files or not place.endswith(".dir") or Path(place).parent.name != "CMakeFiles":
            continue
        target, directory = Path(place).name.removesuffix(".dir"), Path(place).parent.parent
        text = _text(os.path.join(place, "link.txt"))
        for line in text.splitlines():
            words = flags.expanded(shlex.split(line), directory)
            output = _output(words)
            if output is None:
                continue
            path = os.path.normpath(directory / output)
            links.inputs[path] = tuple(os.path.normpath(directory / word) for word in _linked(words, output))
            links.whole[path] = {os.path.normpath(directory / word) for word in _whole(words)}
            links.aliases.setdefault(target, []).append(path)
    makefile = os.path.join(folder, "CMakeFiles", "Makefile2")
    for target, before in _BEFORE.findall(_text(makefile) if os.path.exists(makefile) else ""):
        libraries = [file for file in links.aliases.get(before, ()) if _LIBRARY.fullmatch(file)]
        for output in links.aliases.get(target, ()):
            links.beside.setdefault(output, []).extend(libraries)


def _output(words: Sequence[str]) -> str | None:
    """What a command of a linker, or of `ar`, writes."""
    if Path(words[0]).name.endswith("ar") and len(words) > 2:
        return words[2]
    return words[words.index("-o") + 1] if "-o" in words[:-1] else None


def _linked(words: Sequence[str], output: str) -> Iterator[str]:
    for word in words[1:]:
        if not word.startswith("-") and word != output and _LINKED.fullmatch(word):
            yield word


def _whole(words: Sequence[str]) -> Iterator[str]:
    """Archives of which a linker takes everything."""
    whole = False
    for word in chain.from_iterable(word.removeprefix("-Wl,").split(",") for word in words):
        if word in ("--whole-archive", "--no-whole-archive"):
            whole = word == "--whole-archive"
        elif whole and word.endswith(".a"):
            yield word


# -------------------------------------------------------------------------------- ninja


class _Ninja:
    """Reads the statements of `build.ninja` that say what is made of what."""

    def __init__(self, folder: str, links: Links) -> None:
        self._folder = folder
        self._links = links
        self._variables: dict[str, str] = {}

    def read(self, file: str, depth: int = 0) -> None:
        if depth > 20:
            raise InputError(f"{file}: a ninja file that includes itself")
        lines = re.sub(r"\$\n[ ]*", "", _text(file)).split("\n")
        outputs: list[str] = []  # of the statement that indented lines belong to
        for line in lines:
            if line[:1] == " ":
                self._note_whole(outputs, line)
                continue
            outputs = []
            if line.startswith("build "):
                outputs = self._build(line[len("build ") :])
            elif line.startswith(("include ", "subninja ")):
                self.read(self._path(self._words(line.partition(" ")[2])[0]), depth + 1)
            elif " = " in line:
                name, _, value = line.partition(" = ")
                self._variables[name.strip()] = self._plain(value)

    def _build(self, statement: str) -> list[str]:
        """`build OUTPUTS | MORE: RULE EXPLICIT | IMPLICIT || ORDER`. Returns what is linked by it."""
        left, right = _split_at_colon(statement)
        outputs = self._words(left.partition(" | ")[0])
        words = self._words(right)
        if not outputs or not words:
            return []
        rule, *rest = words
        linked = rest[: rest.index("||")] if "||" in rest else rest
        implicit = linked[linked.index("|") + 1 :] if "|" in linked else []
        explicit = linked[: linked.index("|")] if "|" in linked else linked
        inputs = [self._path(word) for word in explicit] + [
            self._path(word) for word in implicit if _LINKED.fullmatch(word)
        ]
        if rule == "phony":
            for output in outputs:
                self._links.aliases.setdefault(output, []).extend(inputs)
                if _LIBRARY.fullmatch(output):
                    self._links.inputs.setdefault(self._path(output), tuple(inputs))
            return []
        if not any(_LINKED.fullmatch(word) for word in explicit):
            return []
        made = [self._path(output) for output in outputs]
        before = [self._path(word) for word in rest[len(linked) :] if _LIBRARY.fullmatch(word)]
        for output in made:
            self._links.inputs[output] = tuple(inputs)
            self._links.beside[output] = before
        return made

    def _note_whole(self, outputs: Sequence[str], line: str) -> None:
        name, _, value = line.strip().partition(" = ")
        if name in _LINK_VARIABLES and "--whole-archive" in value:
            archives = {self._path(word) for word in _whole(shlex.split(self._plain(value)))}
            for output in outputs:
                self._links.whole.setdefault(output, set()).update(archives)

    def _path(self, word: str) -> str:
        return os.path.normpath(os.path.join(self._folder, word))

    def _plain(self, text: str) -> str:
        """Without ninja's own quoting, and with what variables stand for."""

        def replaced(match: re.Match[str]) -> str:
            quoted, name = match[1], match[2] or match[3]
            return quoted if quoted else self._variables.get(name, "")

        return re.sub(r"\$(?:([$ :])|\{([\w.-]+)\}|([\w-]+))", replaced, text)

    def _words(self, text: str) -> list[str]:
        return [self._plain(word) for word in re.findall(r"(?:\$.|[^\s$])+", text)]


def _split_at_colon(statement: str) -> tuple[str, str]:
    match = re.match(r"((?:\$.|[^$:])*):(.*)", statement)
    return (match[1], match[2]) if match else (statement, "")


def _text(file: str) -> str:
    try:
        return Path(file).read_text(errors="surrogateescape")
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from None
