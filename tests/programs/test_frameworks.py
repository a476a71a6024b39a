"""Test frameworks as their packages have them: each test case of a small program is checked by itself.

Nothing is installed here. On Debian, the packages are googletest, doctest-dev and catch2; Unity's sources are looked
for in the folder that UNITY names, since there is no package of it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.command_line.test_cli import run

pytestmark = pytest.mark.slow

GOOGLETEST = Path("/usr/src/googletest/googletest")
COUNTER = """\
#include <mutex>
#include <thread>
static int counter;
static std::mutex lock;
template <class Run> void two(Run run) {
    counter = 0;
    std::thread a(run), b(run);
    a.join();
    b.join();
}
static void careful() {
    std::lock_guard<std::mutex> guard(lock);
    counter++;
}
static void careless() { counter++; }
"""
CASES = {
    "GoogleTest": """\
#include <gtest/gtest.h>
TEST(Counter, Locked) { two(careful); EXPECT_EQ(2, counter); }
TEST(Counter, Unlocked) { two(careless); EXPECT_EQ(2, counter); }
TEST(Counter, Throws) { EXPECT_THROW(throw 1, int); }
TEST(Counter, DISABLED_Off) { EXPECT_EQ(2, 1); }
""",
    "doctest": """\
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
TEST_CASE("locked") { two(careful); CHECK(counter == 2); }
TEST_CASE("unlocked") { two(careless); CHECK(counter == 2); }
TEST_CASE("throws") { CHECK_THROWS(throw 1); }
""",
    "Catch2": """\
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
TEST_CASE("locked") { two(careful); CHECK(counter == 2); }
TEST_CASE("unlocked") { two(careless); CHECK(counter == 2); }
TEST_CASE("throws") { CHECK_THROWS(throw 1); }
""",
}
FLAGS = {
    "GoogleTest": [f"-I{GOOGLETEST}", str(GOOGLETEST / "src/gtest-all.cc"), str(GOOGLETEST / "src/gtest_main.cc")],
    "doctest": [],
    "Catch2": [],
}
NEEDED = {
    "GoogleTest": GOOGLETEST / "src/gtest-all.cc",
    "doctest": Path("/usr/include/doctest/doctest.h"),
    "Catch2": Path("/usr/include/catch2/catch.hpp"),
}
UNITY = """\
#include "unity.h"
#include <pthread.h>
static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *careful(void *unused) {
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
    return unused;
}
static void *careless(void *unused) { counter++; return unused; }
static void two(void *(*run)(void *)) {
    pthread_t a, b;
    pthread_create(&a, 0, run, 0);
    pthread_create(&b, 0, run, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
void setUp(void) { counter = 0; }
void tearDown(void) {}
static void locked(void) { two(careful); TEST_ASSERT_EQUAL_INT(2, counter); }
static void unlocked(void) { two(careless); TEST_ASSERT_EQUAL_INT(2, counter); }
int main(void) { UNITY_BEGIN(); RUN_TEST(locked); RUN_TEST(unlocked); return UNITY_END(); }
"""


def checked(capsys: pytest.CaptureFixture[str], *words: str) -> list[tuple[str, str]]:
    """The names and verdicts of all test cases."""
    _, out, err = run(capsys, "check", "--tests", "--json", "--engine", "stateless", *words)
    assert err == ""
    tests = json.loads(out)["tests"]
    return [(test["name"], test["verdict"]) for test in tests]


@pytest.mark.parametrize("framework", CASES)
def test_test_cases_of_cpp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], framework: str
) -> None:
    if not NEEDED[framework].exists():
        pytest.skip(f"there is no {NEEDED[framework]}")
    monkeypatch.chdir(tmp_path)
    Path("tests.cpp").write_text(COUNTER + CASES[framework])
    verdicts = checked(capsys, "tests.cpp", *FLAGS[framework], "-idirafter", "/usr/include")
    names = [f"Counter.{name}" for name in ("Locked", "Unlocked", "Throws")]
    names = names if framework == "GoogleTest" else ["locked", "unlocked", "throws"]
    assert verdicts == list(zip(names, ("ok", "bug", "ok"), strict=True))


def test_test_cases_of_unity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = os.environ.get("UNITY", "")
    if not (Path(folder) / "unity.c").is_file():
        pytest.skip("UNITY does not name a folder with unity.c")
    monkeypatch.chdir(tmp_path)
    Path("tests.c").write_text(UNITY)
    words = ("tests.c", f"{folder}/unity.c", f"-I{folder}", "-DUNITY_EXCLUDE_SETJMP_H")
    assert checked(capsys, *words) == [("locked", "ok"), ("unlocked", "bug")]
