"""Projects with a build: targets of CMake, and checks as tests of CTest."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mazurka
from tests.command_line.test_cli import run

FILES = {
    "CMakeLists.txt": """\
cmake_minimum_required(VERSION 3.20)
project(shop C)
enable_testing()
add_subdirectory(lib)
add_library(log SHARED src/log.c)
add_executable(shop src/main.c)
set_target_properties(shop PROPERTIES OUTPUT_NAME the_shop RUNTIME_OUTPUT_DIRECTORY bin)
target_compile_definitions(shop PRIVATE "GREETING=\\"good morning\\"" CUSTOMERS=2)
target_compile_options(shop PRIVATE -O2 -Wall -march=x86-64-v2 -fPIC)
target_link_libraries(shop PRIVATE till log)
find_package(Mazurka REQUIRED)
mazurka_add_check(shop)
mazurka_add_check(shop NAME alone OPTIONS -UCUSTOMERS -DCUSTOMERS=1 --races error ARGUMENTS "one customer" TIMEOUT 60)
mazurka_add_check(till NAME harness FILES harness.c)
""",
    "lib/CMakeLists.txt": """\
add_library(coins STATIC coins.c)
add_library(till STATIC till.c unused.c)
target_include_directories(till PUBLIC include)
target_link_libraries(till PUBLIC coins)
""",
    "lib/include/till.h": "void put(int); int sum(void); int coin(int);\n",
    "lib/till.c": """\
#include "till.h"
static int all;
void put(int n) { all += coin(n); }
int sum(void) { return all; }
""",
    "lib/coins.c": "int coin(int n) { return n; }\n",
    # Nobody needs it, so that it is not linked, and does not run.
    "lib/unused.c": """\
#include <stdlib.h>
__attribute__((constructor)) static void stop(void) { abort(); }
int unused;
""",
    # A shared library is loaded as a whole.
    "src/log.c": """\
#include <stdio.h>
int said;
__attribute__((constructor)) static void start(void) { said = 1; }
void say(const char *what) { said++; puts(what); }
""",
    "src/main.c": """\
#include "till.h"
#include <assert.h>
#include <pthread.h>
void say(const char *);
extern int said;
static void *pay(void *unused) { put(1); return unused; }
int main(int count, char **arguments) {
    pthread_t customers[CUSTOMERS];
    assert(said == 1);
    say(count > 1 ? arguments[1] : GREETING);
    for (int i = 0; i < CUSTOMERS; i++) pthread_create(&customers[i], 0, pay, 0);
    for (int i = 0; i < CUSTOMERS; i++) pthread_join(customers[i], 0);
    assert(sum() == CUSTOMERS);
}
""",
    "harness.c": '#include "till.h"\n#include <assert.h>\nint main(void) { put(3); assert(sum() == 3); }\n',
}
BUG = "bug: assertion `sum() == CUSTOMERS` failed (src/main.c:13, thread main)"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return tmp_path


def tool(name: str) -> str:
    """One of the tools that come as wheels, or of the system."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        pytest.skip(f"there is no {name}")
    return found


def configure(generator: str, *options: str) -> None:
    make = tool("ninja" if generator == "Ninja" else "make")
    program = Path("mazurka").absolute()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mazurka.cli "$@"\n')
    program.chmod(0o755)
    words = ["-G", generator, f"-DCMAKE_MAKE_PROGRAM={make}", f"-DMazurka_EXECUTABLE={program}", *options]
    words += [f"-DMazurka_DIR={Path(mazurka.__file__).parent / 'cmake'}", "-S", ".", "-B", "build"]
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler that CMake could find")
    subprocess.run([tool("cmake"), *words], check=True, capture_output=True)


@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_a_project_of_cmake(project: Path, capsys: pytest.CaptureFixture[str], generator: str) -> None:
    configure(generator)
    for target in ("shop", "the_shop", "bin/the_shop"):
        code, out, err = run(capsys, "check", "--build", "build", "--target", target)
        assert (code, out.splitlines()[0], err) == (1, BUG, "")
    again = out.splitlines()[-2:]
    assert again == [
        "  mazurka check --build build --target bin/the_shop --save-schedule bug.json",
        "  mazurka replay --build build --target bin/the_shop bug.json",
    ]
    for command in again:
        code, out, _ = run(capsys, *command.split()[1:])
        assert (code, out.splitlines()[0]) == (1, BUG)
    code, out, _ = run(capsys, "check", "--build", "build", "--target", "till", "harness.c")
    assert code == 0
    code, out, _ = run(capsys, "loops", "--build", "build", "--target", "shop")
    assert (code, out.splitlines()[0]) == (0, "src/main.c:11 in main")
    code, out, _ = run(capsys, "print", "--build", "build", "lib/coins.c", "harness.c", "lib/till.c")
    assert code == 2  # the harness is not in the build


@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_checks_are_tests_of_ctest(project: Path, generator: str) -> None:
    configure(generator)
    done = subprocess.run([tool("ctest"), "--test-dir", "build", "-V"], capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if " Test #" in line]
    assert [(line.split()[3], "Passed" in line) for line in lines] == [
        ("mazurka.shop", False),
        ("alone", True),
        ("harness", True),
    ]
    assert BUG in done.stdout


def test_a_build_without_assertions_is_told(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure("Ninja", "-DCMAKE_BUILD_TYPE=Release")
    code, out, err = run(capsys, "check", "--build", "build", "--target", "shop")
    assert (code, out.split(":")[0]) == (0, "verified")
    assert err == "mazurka: assertions are not checked, since the build defines NDEBUG; with -UNDEBUG, they are\n"
    code, out, err = run(capsys, "check", "--build", "build", "--target", "shop", "-UNDEBUG")
    assert (code, out.splitlines()[0], err) == (1, BUG, "")


def test_a_flag_of_the_build_that_is_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "CMakeLists.txt").write_text(FILES["CMakeLists.txt"].replace("-Wall", "-Wall -ffast-math"))
    configure("Ninja")
    words = ("check", "--build", "build", "--target", "shop", "-UCUSTOMERS", "-DCUSTOMERS=1")
    code, _, err = run(capsys, *words)
    assert (code, err.startswith("mazurka: src/main.c: the flag -ffast-math is refused: ")) == (2, True)
    assert run(capsys, *words, "-fno-fast-math")[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--target", "shop"), "mazurka: --target needs --build DIR: the folder of the build that the target is in\n"),
        (("--build", "nowhere", "--target", "shop"), "mazurka: nowhere: no such file; "),
        (("--tests", "--test", "one", "a.c"), "mazurka: --tests checks all test cases, --test one of them; "),
        (("-fno-such-thing", "a.c"), "usage: "),
    ],
)
def test_mistakes(project: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str) -> None:
    code, out, err = run(capsys, "check", *words)
    assert (code, out, err[: len(message)]) == (2, "", message)


def test_where_the_package_of_cmake_is(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--cmake-dir")
    assert code == 0
    assert (Path(out.strip()) / "MazurkaConfig.cmake").is_file()


def test_a_header_that_is_not_looked_for(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = next((file for file in sorted(Path("/usr/include").glob("*.h")) if file.name == "zconf.h"), None)
    if header is None:
        pytest.skip("there is no /usr/include/zconf.h")
    Path("a.c").write_text("#include <zconf.h>\nint main(void) { return 0; }\n")
    code, _, err = run(capsys, "check", "a.c")
    assert code == 2
    assert err.splitlines()[-1] == "/usr/include has zconf.h: with -idirafter /usr/include, it is found"
    assert run(capsys, "check", "a.c", "-idirafter", "/usr/include")[0] == 0


@pytest.mark.parametrize(
    ("library", "line", "function"), [("other", "/usr/include/other/flag.h:1", "wait"), ("doctest", "a.c:10", "main")]
)
def test_libraries_are_checked_as_the_program_is(
    project: Path, capsys: pytest.CaptureFixture[str], library: str, line: str, function: str
) -> None:
    """Other libraries in /usr/include have lines and loops of their own; test frameworks are told as calls."""
    Path("a.c").write_text(f"""\
#include <pthread.h>
#include <stdatomic.h>
atomic_int flag;
#line 1 "/usr/include/{library}/flag.h"
static void wait(void) {{ while (!flag) ; }}
#line 6 "a.c"
static void *raise(void *unused) {{ flag = 1; return unused; }}
int main(void) {{
    pthread_t thread;
    pthread_create(&thread, 0, raise, 0);
    wait();
    pthread_join(thread, 0);
}}
""")
    _, out, _ = run(capsys, "loops", "a.c")
    assert out == f"{line} in {function}\n  no change if flag == 0: the thread waits at {line}\n"
