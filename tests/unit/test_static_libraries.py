"""Archives: their members, and which of them belong to a program."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import mazurka
from mazurka.frontends.c.compiler import bundled_compiler
from mazurka.frontends.c.sources import Source, StaticLibrary, read_archive

MAIN = "int twice(int); int alarms; int main(void) { return twice(2) - 4 + 10 * alarms; }"
TWICE = "int add(int, int); int twice(int n) { return add(n, n); }"
ADD = "int add(int a, int b) { return a + b; }"
ALARM = "extern int alarms; __attribute__((constructor)) static void ring(void) { alarms++; } int alarm_rings;"


def header(name: str, size: int) -> bytes:
    return f"{name:<16}{0:<12}{0:<6}{0:<6}{644:<8}{size:<10}`\n".encode()


def bitcode(folder: Path, name: str, text: str) -> bytes:
    source = folder / f"{name}.c"
    source.write_text(text)
    flags = ["-target", "x86_64-linux-gnu", "-O0", "-g", "-c", "-emit-llvm", "-o", "-", str(source)]
    return subprocess.run([*bundled_compiler().command, *flags], capture_output=True, check=True).stdout


def archive(file: Path, members: dict[str, bytes]) -> Path:
    names = b"".join(name.encode() + b"/\n" for name in members if len(name) > 15)
    content = b"!<arch>\n" + header("/", 4) + bytes(4)
    content += header("//", len(names)) + names + b"\n" * (len(names) % 2)
    for name, data in members.items():
        short = f"{name}/" if len(name) <= 15 else f"/{names.index(name.encode())}"
        content += header(short, len(data)) + data + b"\n" * (len(data) % 2)
    file.write_bytes(content)
    return file


@pytest.fixture
def library(tmp_path: Path) -> dict[str, bytes]:
    return {f"{name}.o": bitcode(tmp_path, name, text) for name, text in
            (("twice", TWICE), ("add_with_a_name_that_is_long", ADD), ("alarm", ALARM))}  # fmt: skip


def test_members_of_an_archive(tmp_path: Path) -> None:
    members = {"odd.o": b"123", "a_name_of_more_than_fifteen.o": b"4567", "last.o": b""}
    assert read_archive(str(archive(tmp_path / "lib.a", members))) == list(members.items())


@pytest.mark.skipif(shutil.which("ar") is None, reason="there is no ar")
@pytest.mark.parametrize("thin", [False, True], ids=["whole", "thin"])
def test_archives_are_read_as_ar_writes_them(tmp_path: Path, thin: bool) -> None:
    members = {"odd.o": b"123", "a_name_of_more_than_fifteen.o": b"4567", "folder/last.o": b"8"}
    (tmp_path / "folder").mkdir()
    for name, content in members.items():
        (tmp_path / name).write_bytes(content)
    subprocess.run(["ar", "qcT" if thin else "qc", "lib.a", *members], cwd=tmp_path, check=True)
    names = [name if thin else Path(name).name for name in members]
    assert read_archive(str(tmp_path / "lib.a")) == list(zip(names, members.values(), strict=True))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not an archive, although its name ends in .a"),
        (b"!<arch>\n" + b"x" * 60, "not a whole archive: there is no member at byte 8"),
        (b"!<arch>\n" + header("a.o/", 5) + b"123", "not a whole archive: it ends inside of a.o"),
        (b"!<thin>\n" + header("none.o/", 5), "No such file"),
        (b"!<arch>\n" + header("a.o/", 4) + b"\x7fELF", r"lib.a\(a.o\): not LLVM bitcode"),
    ],
)
def test_what_is_no_archive_of_bitcode_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "main.c").write_text(MAIN)
    (tmp_path / "lib.a").write_bytes(content)
    with pytest.raises(mazurka.InputError, match=message):
        mazurka.check([tmp_path / "main.c", tmp_path / "lib.a"])


def test_only_the_members_that_are_needed_belong_to_the_program(tmp_path: Path, library: dict[str, bytes]) -> None:
    (tmp_path / "main.c").write_text(MAIN)
    lib = archive(tmp_path / "lib.a", library)
    assert mazurka.check([tmp_path / "main.c", lib]).verdict is mazurka.Verdict.OK
    # Named as files, all of them do: the constructor of the third one is run.
    for name, content in library.items():
        (tmp_path / name).write_bytes(content)
    result = mazurka.check([tmp_path / "main.c", *(tmp_path / name for name in library)])
    assert result.bug is not None and result.bug.kind == "exit"


def test_main_can_come_from_an_archive(tmp_path: Path) -> None:
    members = {
        "main.o": bitcode(tmp_path, "main", MAIN),
        "twice.o": bitcode(tmp_path, "twice", "int twice(int n) { return 4; }"),
    }
    assert mazurka.check(archive(tmp_path / "lib.a", members)).verdict is mazurka.Verdict.OK


def test_the_first_archive_that_has_it_counts(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(MAIN)
    right, wrong = "int twice(int n) { return 2 * n; }", "int twice(int n) { return 0; } int other;"
    first = archive(tmp_path / "first.a", {"a.o": bitcode(tmp_path, "a", right)})
    second = archive(tmp_path / "second.a", {"b.o": bitcode(tmp_path, "b", wrong)})
    assert mazurka.check([tmp_path / "main.c", first, second]).verdict is mazurka.Verdict.OK
    assert mazurka.check([tmp_path / "main.c", second, first]).verdict is mazurka.Verdict.BUG


def test_a_definition_of_the_program_comes_before_those_of_archives(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(MAIN + " int twice(int n) { return 2 * n; }")
    wrong = archive(tmp_path / "lib.a", {"b.o": bitcode(tmp_path, "b", "int twice(int n) { return 0; }")})
    assert mazurka.check([tmp_path / "main.c", wrong]).verdict is mazurka.Verdict.OK


def test_files_can_have_flags_of_their_own(tmp_path: Path) -> None:
    for name, text in (("main", MAIN), ("twice", TWICE), ("add", ADD), ("alarm", ALARM)):
        (tmp_path / f"{name}.c").write_text(text if name != "add" else "int add(int a, int b) { return SUM; }")
    lib = StaticLibrary("lib.a", tuple(Source(str(tmp_path / f"{name}.c"), flags) for name, flags in
                                 (("twice", ()), ("add", ("-DSUM=a+b", "-O2")), ("alarm", ()))))  # fmt: skip
    assert mazurka.check([tmp_path / "main.c", lib]).verdict is mazurka.Verdict.OK
