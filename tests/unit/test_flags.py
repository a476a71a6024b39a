"""The flags of real builds: kept, dropped or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from mazurka import InputError
from mazurka.frontends.c import flags
from mazurka.frontends.c.compiler import bundled_compiler

# What stands for the rest of a word, where any will not do.
ENDINGS = {
    "-std=": "gnu17", "-march=": "x86-64-v3", "-msse": "4.2", "-mno-sse": "4.2", "-mavx": "2", "-mno-avx": "2",
    "-mbmi": "2", "-ftrivial-auto-var-init=": "zero", "-fstrict-flex-arrays=": "2", "-fmacro-prefix-map=": "a=b",
    "-ffile-prefix-map=": "a=b", "-finput-charset=": "UTF-8", "-fexec-charset=": "UTF-8", "-ftemplate-depth=": "99",
    "-fconstexpr-depth=": "99", "-fconstexpr-steps=": "99",
}  # fmt: skip


def written(word: str) -> str:
    return word[:-1] + ENDINGS.get(word[:-1], "") if word.endswith("*") else word


WORDS = [(row, written(word)) for row in flags.TABLE for word in row.words.split()]


@pytest.mark.parametrize(("row", "word"), WORDS, ids=[word for _, word in WORDS])
def test_each_flag_of_the_table_is_treated_as_it_says(row: flags.Flags, word: str) -> None:
    if row.why:
        with pytest.raises(InputError) as error:
            flags.accepted([word], "a.c")
        assert str(error.value) == f"a.c: the flag {word} is refused: {row.why}"
    else:
        assert flags.accepted([word]) == ([word] if row.kept else [])


def test_a_flag_has_one_place_in_the_table() -> None:
    words = [word for row in flags.TABLE for word in (*row.words.split(), *row.valued.split())]
    assert len(words) == len(set(words))


def test_the_compiler_takes_what_is_kept(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text("int main(void) { return 0; }\n")
    kept = [word for row, word in WORDS if row.kept]
    assert "define" in bundled_compiler().compile(source, kept)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("-DN=2 -D M -Uassert -Iinclude -I /usr -isystem lib", "-DN=2 -D M -Uassert -Iinclude -I /usr -isystem lib"),
        ("-c main.c -o main.o -MD -MT main.o -MF main.d", ""),
        ("-O2 -g -Wall -Wl,--gc-sections -pthread -lm -L/usr/lib -l pthread", "-pthread"),
        ("-xc++ -std=c++20", "-xc++ -std=c++20"),
        (
            "-Wp,-DX,-MD,a.d -Xclang -include -Xclang config.h -Xclang -include-pch -Xclang a.pch",
            "-DX -include config.h",
        ),
        ("-ffast-math -O2 -fno-fast-math", ""),
        ("-Ofast -O2", ""),
        ("-fopenmp -fno-openmp -m32 -m64", ""),
        ("-ffp-contract=fast -ffp-contract=off", "-ffp-contract=off"),
        ("--target=x86_64-linux-gnu -target x86_64-pc-linux-gnu", ""),
        ("-fno-exceptions -fwrapv", "-fno-exceptions -fwrapv"),
    ],
)
def test_what_is_left_of_a_command_line(given: str, kept: str) -> None:
    assert flags.accepted(given.split()) == kept.split()


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ("-fno-such-flag", "-fno-such-flag is refused: it is not known here"),
        ("-fno-fast-math -ffast-math", "-ffast-math is refused"),
        ("-O2 -Ofast", "-Ofast is refused"),
        ("--target=aarch64-linux-gnu", "--target=aarch64-linux-gnu is refused"),
        ("-target riscv64-linux-gnu", "-target is refused"),
        ("-fopenmp-targets=nvptx64", "-fopenmp-targets=nvptx64 is refused"),
    ],
)
def test_what_would_be_another_program_is_refused_by_name(given: str, refused: str) -> None:
    with pytest.raises(InputError, match=refused):
        flags.accepted(given.split())


def test_all_that_is_refused_is_told_at_once() -> None:
    with pytest.raises(InputError) as error:
        flags.accepted(["-m32", "-fopenmp"], "a.c")
    assert [line.split(":")[1] for line in str(error.value).splitlines()] == [
        " the flag -m32 is refused",
        " the flag -fopenmp is refused",
    ]


def test_folders_are_those_of_the_build(tmp_path: Path) -> None:
    (tmp_path / "config.h").touch()
    words = ["-I..", "-isystem", "/usr/x", "-include", "config.h", "-include", "elsewhere.h", "-DN"]
    assert flags.anchored(words, tmp_path) == [
        *("-I", str(tmp_path.parent), "-isystem", "/usr/x", "-include", str(tmp_path / "config.h")),
        *("-include", "elsewhere.h", "-DN"),
    ]


def test_response_files(tmp_path: Path) -> None:
    (tmp_path / "a.rsp").write_text("-DX='a b'\n@b.rsp -O2")
    (tmp_path / "b.rsp").write_text("-DY")
    assert flags.expanded(["cc", "@a.rsp", "@none"], tmp_path) == ["cc", "-DX=a b", "-DY", "-O2", "@none"]
    (tmp_path / "b.rsp").write_text("@b.rsp")
    with pytest.raises(InputError, match="contains itself"):
        flags.expanded(["@b.rsp"], tmp_path)
