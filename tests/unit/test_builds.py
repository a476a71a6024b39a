"""What a build says of its files and targets: compile_commands.json, build.ninja, link.txt."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mazurka import InputError
from mazurka.builds import sources
from mazurka.builds.links import read_links
from mazurka.frontends.c.sources import Source, StaticLibrary

FILES = ("main.c", "queue.c", "list.c", "log.c")


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A build of `app` from main.c, with a static library queue of queue.c and list.c, and a shared one of log.c."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "build"
    folder.mkdir()
    for name in FILES:
        (tmp_path / name).touch()
    write_commands(folder, [(name, f"o/{name}.o", f"-DFOR_{name[0]} -I../include") for name in FILES])
    return folder


def write_commands(folder: Path, commands: Sequence[tuple[str, str, str]]) -> None:
    entries = [
        {"directory": str(folder), "file": f"../{name}", "command": f"cc {flags} -o {output} -c ../{name}"}
        for name, output, flags in commands
    ]
    (folder / "compile_commands.json").write_text(json.dumps(entries))


def told(inputs: Sequence[Any]) -> list[Any]:
    """Files by their names; archives as the list of their members."""
    return [
        [member.file for member in each.members] if isinstance(each, StaticLibrary) else os.fspath(each)
        for each in inputs
    ]


NINJA = """\
# A comment
root = o
rule CC
  command = cc
build $root/main.c.o: CC ../main.c
build ${root}/queue.c.o: CC ../queue.c | other.h || folder
build o/list.c.o: CC ../list.c
build o/log.c.o: CC ../log.c
build libqueue.a: AR o/queue.c.o $
    o/list.c.o
build liblog.so.1 | extra: LD_SO o/log.c.o
build liblog.so: SYMLINK liblog.so.1
build bin/the$ app: LD o/main.c.o | libqueue.a liblog.so tool.ld || order.a
  LINK_LIBRARIES = libqueue.a liblog.so
build app: phony bin/the$ app
build all: phony app libqueue.a
default all
"""


def test_a_target_of_ninja(build: Path) -> None:
    (build / "build.ninja").write_text(NINJA)
    for name in ("app", "the app", "bin/the app"):
        assert told(sources("build", name, [])) == ["main.c", ["queue.c", "list.c"], "log.c"]
    assert told(sources("build", "queue", [])) == [["queue.c", "list.c"]]
    assert told(sources("build", "liblog.so", [])) == ["log.c"]


def test_all_members_of_an_archive_that_is_linked_as_a_whole(build: Path) -> None:
    whole = "-Wl,--whole-archive libqueue.a -Wl,--no-whole-archive liblog.so"
    (build / "build.ninja").write_text(NINJA.replace("libqueue.a liblog.so\nbuild app", f"{whole}\nbuild app"))
    assert told(sources("build", "app", [])) == ["main.c", "queue.c", "list.c", "log.c"]
    assert told(sources("build", "queue", [])) == [["queue.c", "list.c"]]


def write_links(build: Path, **links: str) -> None:
    for target, text in links.items():
        folder = build / "CMakeFiles" / f"{target}.dir"
        folder.mkdir(parents=True)
        (folder / "link.txt").write_text(text)


def test_a_target_of_make(build: Path) -> None:
    write_links(
        build,
        app="/usr/bin/cc -O2 @objects.rsp -o bin/app -Wl,-rpath,/x libqueue.a liblog.so -lm /usr/lib/libz.so",
        queue="/usr/bin/ar qc libqueue.a o/queue.c.o o/list.c.o\n/usr/bin/ranlib libqueue.a\n",
        log="/usr/bin/cc -fPIC -shared -Wl,-soname,liblog.so -o liblog.so o/log.c.o",
    )
    (build / "objects.rsp").write_text("o/main.c.o")
    assert told(sources("build", "app", [])) == ["main.c", ["queue.c", "list.c"], "log.c"]
    assert read_links("build").names() == {"app", "queue", "log"}


def test_libraries_that_a_library_needs_come_along(build: Path) -> None:
    write_links(build, queue="ar qc libqueue.a o/queue.c.o", list="ar qc liblist.a o/list.c.o")
    (build / "CMakeFiles" / "Makefile2").write_text("CMakeFiles/queue.dir/all: CMakeFiles/list.dir/all\n")
    assert told(sources("build", "queue", ["main.c"])) == ["main.c", ["queue.c"], ["list.c"]]


def test_without_a_word_about_links_the_folders_of_objects_tell(build: Path) -> None:
    write_commands(build, [(name, f"CMakeFiles/app.dir/{name}.o", "") for name in FILES[:2]])
    assert told(sources("build", "app", [])) == ["main.c", "queue.c"]


def test_flags_are_those_of_the_build(build: Path, tmp_path: Path) -> None:
    (source,) = sources("build", None, ["queue.c"])
    assert isinstance(source, Source)
    assert source.flags[:3] == ("-DFOR_q", "-I", str(tmp_path / "include"))
    assert "-idirafter" in source.flags


def test_a_file_that_is_added_to_a_target_has_its_flags(build: Path, tmp_path: Path) -> None:
    (build / "build.ninja").write_text(NINJA)
    (tmp_path / "harness.c").touch()
    harness, _ = sources("build", "queue", ["harness.c"])
    assert isinstance(harness, Source) and "-DFOR_q" in harness.flags


@pytest.mark.parametrize(
    ("driver", "language"), [("cc", []), ("g++", ["-x", "c++"]), ("ccache clang++-19", ["-x", "c++"])]
)
def test_a_compiler_of_cpp_takes_all_files_for_cpp(build: Path, driver: str, language: list[str]) -> None:
    entry = {"directory": str(build), "file": "../main.c", "arguments": [*driver.split(), "-c", "../main.c"]}
    (build / "compile_commands.json").write_text(json.dumps([entry]))
    (source,) = sources("build", None, ["main.c"])
    assert isinstance(source, Source)
    assert [word for word in source.flags if word in ("-x", "c++")] == language


def test_a_file_that_is_compiled_in_two_ways_needs_a_target(build: Path) -> None:
    write_commands(
        build, [("main.c", "CMakeFiles/one.dir/a.o", "-DONE"), ("main.c", "CMakeFiles/two.dir/a.o", "-DTWO")]
    )
    with pytest.raises(InputError, match=r"main.c: is compiled in 2 ways .*; --target NAME says which"):
        sources("build", None, ["main.c"])
    (source,) = sources("build", "two", [])
    assert isinstance(source, Source) and "-DTWO" in source.flags


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such file; with CMake, -DCMAKE_EXPORT_COMPILE_COMMANDS=ON has it written"),
        ("[", "not a JSON file"),
        ("{}", "not a list of compile commands"),
        ("[1]", "command 1: not an object"),
        ('[{"file": 1}]', "command 1: its file and its directory must be texts"),
        ('[{"file": "a.c"}]', "command 1: it needs a command, or a list of arguments"),
        ('[{"file": "a.c", "arguments": [1]}]', "command 1: it needs a command, or a list of arguments"),
        ('[{"file": "a.c", "command": "cc \'"}]', "command 1: its command cannot be read"),
        ('[{"file": "gone.c", "command": "cc -c gone.c"}]', "has no command that compiles it"),
        ('[{"file": "../main.c", "command": "cc -c x.c"}, {"file": "x.c", "command": "cc"}]', None),
    ],
)
def test_compile_commands_that_are_none(build: Path, content: str | None, message: str | None) -> None:
    file = build / "compile_commands.json"
    file.unlink() if content is None else file.write_text(content)
    if message is None:
        assert told(sources("build", None, ["main.c"])) == ["main.c"]
    else:
        with pytest.raises(InputError, match=message):
            sources("build", None, ["main.c"])


def test_what_cannot_be_meant_is_told_with_what_there_is(build: Path, tmp_path: Path) -> None:
    (build / "build.ninja").write_text(NINJA)
    with pytest.raises(InputError, match=r"--build build: say of what: --target NAME \(app, log, queue\), or files"):
        sources("build", None, [])
    with pytest.raises(InputError, match=r"--target nothing: build has no such target .* there are app, log, queue"):
        sources("build", "nothing", [])
    (tmp_path / "queue.c").unlink()
    with pytest.raises(InputError, match=r"queue.c: no such file, although the build compiles it; build the project"):
        sources("build", "app", [])
    write_commands(build, [])
    with pytest.raises(InputError, match=r"build/o/main.c.o: .* does not say how this part of the target is compiled"):
        sources("build", "app", [])


def test_targets_of_the_same_name_are_told_apart_by_their_files(build: Path) -> None:
    ninja = "build a/app: LD o/main.c.o\nbuild b/app: LD o/log.c.o\n"
    (build / "build.ninja").write_text(ninja)
    with pytest.raises(InputError, match=r"--target app: there are several in build: a/app, b/app; name one of these"):
        sources("build", "app", [])
    assert told(sources("build", "b/app", [])) == ["log.c"]
