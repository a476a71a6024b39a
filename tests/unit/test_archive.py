"""The standard library of C++, which is compiled where it is needed."""

from importlib.resources import files
from pathlib import Path

import pytest

import mazurka
from mazurka import Verdict
from mazurka.frontends.c import load_c_program
from mazurka.frontends.c.archive import Archive, members, source_digest
from mazurka.frontends.c.compiler import bundled_compiler

JOIN = "_ZNSt3__16thread4joinEv"


@pytest.fixture
def headers() -> Path:
    found = bundled_compiler().headers
    assert found is not None
    return found


def test_the_installed_index_is_for_the_installed_sources(headers: Path) -> None:
    digest, *lines = (files("mazurka.frontends.c") / "libcxx.index").read_text().splitlines()
    assert digest == source_digest(headers)
    assert [line.split(" ")[0] for line in lines] == sorted(members(headers))


def test_a_member_defines_what_the_index_says_and_is_given_once() -> None:
    archive = Archive(bundled_compiler())
    member = archive.member(JOIN)
    assert member is not None and member.symbols[JOIN].defined
    assert archive.member(JOIN) is None
    assert archive.member("pthread_join") is None


@pytest.mark.slow
def test_the_installed_index_is_what_the_compiler_defines(headers: Path) -> None:
    installed = (files("mazurka.frontends.c") / "libcxx.index").read_text()
    assert installed == f"{source_digest(headers)}\n{Archive(bundled_compiler()).make_index()}"


def test_only_what_is_asked_for_is_part_of_a_program(tmp_path: Path) -> None:
    source = tmp_path / "program.cpp"
    source.write_text("#include <thread>\nint main() { std::thread thread([] {}); thread.join(); }")
    functions = load_c_program([source]).functions
    assert JOIN in functions
    assert "_ZNSt3__16thread6detachEv" not in functions


def test_without_the_compilers_own_library_there_is_no_archive(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text("int main(void) { return 0; }")
    assert not any(name.startswith("_Z") for name in load_c_program([source]).functions)


def test_the_initialiser_of_a_variable_that_several_files_have_runs_once(tmp_path: Path) -> None:
    """A static member of a template is defined in each file that uses it; one is kept, with what initialises it."""
    (tmp_path / "header.h").write_text(
        "int count(); template <class T> struct box { static int number; };\n"
        "template <class T> int box<T>::number = count();\n"
    )
    first, second = tmp_path / "first.cpp", tmp_path / "second.cpp"
    first.write_text(
        '#include "header.h"\n#include <cassert>\nint counted;\nint count() { return ++counted; }\nint other();\n'
        "int main() { assert(box<int>::number + other() == 2 && counted == 1); }\n"
    )
    second.write_text('#include "header.h"\nint other() { return box<int>::number; }\n')
    entry = load_c_program([first, second]).functions["__mazurka_main"]
    calls = [str(getattr(instruction, "callee", "")) for instruction in entry.instructions]
    assert len([name for name in calls if name.startswith("__cxx_global_var_init")]) == 1


def test_virtual_functions_that_are_not_supported_fail_where_they_are_called(tmp_path: Path) -> None:
    source = tmp_path / "program.cpp"
    source.write_text(
        "#include <sstream>\n"
        "int main(int count, char **) {\n"
        '    std::istringstream in("1 2.5");\n'
        "    int number; double other;\n"
        "    in >> number;\n"
        "    if (count > 1) in >> other;\n"
        "    return number != 1;\n"
        "}\n"
    )
    assert mazurka.check(source).verdict is Verdict.OK
    bug = mazurka.check(source, program_arguments=["more"]).bug
    assert bug is not None and (bug.kind, bug.line) == ("abort", 6)
    assert "of the C++ library is not supported" in bug.message
