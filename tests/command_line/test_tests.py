"""Programs of test cases: each is checked by itself."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import mazurka
from mazurka.frontends.c import compile_c
from mazurka.testcases.frameworks import FRAMEWORKS, Framework
from tests.command_line.test_cli import run
from tests.support.interrupting import interrupt_check

# What Unity looks like to its programs.
UNITY = """\
#include <stdio.h>
#define UNITY_BEGIN() UnityBegin(__FILE__)
#define UNITY_END() UnityEnd()
#define RUN_TEST(test) UnityDefaultTestRun(test, #test, __LINE__)
#define TEST_ASSERT(condition) do { if (!(condition)) { fail(__LINE__); return; } } while (0)
static int failures;
static const char *running;
void setUp(void);
void fail(int line) { failures++; printf("%d:%s:FAIL\\n", line, running); }
void UnityBegin(const char *file) {}
int UnityEnd(void) { return failures; }
void UnityDefaultTestRun(void (*test)(void), const char *name, int line) { running = name; setUp(); test(); }
"""
TESTS = """\
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

static void *careless(void *unused) {
    counter++;
    return unused;
}

static void two(void *(*run)(void *)) {
    pthread_t a, b;
    pthread_create(&a, 0, run, 0);
    pthread_create(&b, 0, run, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}

void setUp(void) { counter = 0; }

static void locked(void) {
    two(careful);
    TEST_ASSERT(counter == 2);
}

static void unlocked(void) {
    two(careless);
    TEST_ASSERT(counter == 2);
}

static void fails(void) { TEST_ASSERT(counter == 1); }

int main(int count, char **arguments) {
    UNITY_BEGIN();
    RUN_TEST(locked);
    RUN_TEST(unlocked);
    if (count == 1)
        RUN_TEST(fails);
    return UNITY_END();
}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "unity.h").write_text(UNITY)
    (tmp_path / "tests.c").write_text(TESTS)
    return tmp_path


def verdicts(out: str) -> list[list[str]]:
    """The names and the first words of the verdicts, before the reports."""
    return [line.partition(":")[0].split() for line in out.partition("\n\n")[0].splitlines()]


def test_each_test_case_is_checked_by_itself(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "check", "--tests", "tests.c")
    assert (code, err) == (1, "")
    assert verdicts(out) == [["locked", "verified"], ["unlocked", "bug"], ["fails", "bug"]]
    assert out.splitlines()[1] == "unlocked  bug: 36:unlocked:FAIL, 1 data race"
    assert "\n── unlocked ─" in out
    assert "  36:unlocked:FAIL\n" in out
    assert "  39:fails:FAIL\n" in out
    assert out.splitlines()[-1].startswith("3 test cases of Unity: 1 verified, 2 with a bug (")


def test_arguments_of_the_program_count(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "--tests", "tests.c", "--", "quick")
    assert (code, verdicts(out)) == (1, [["locked", "verified"], ["unlocked", "bug"]])


def test_a_bug_of_a_test_case_is_seen_again(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "check", "--tests", "tests.c")
    again = [line.strip() for line in out.splitlines() if line.startswith("  mazurka") and "unlocked" in line]
    assert again == [
        "mazurka check --test unlocked tests.c --save-schedule bug.json",
        "mazurka replay --test unlocked tests.c bug.json",
    ]
    for command in again:
        code, out, _ = run(capsys, *command.split()[1:])
        assert (code, out.splitlines()[0]) == (1, "bug: exit status 1: main returns 1 (tests.c:47, thread main)")


def test_all_is_well(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "tests.c").write_text(TESTS.replace("RUN_TEST(unlocked);", "").replace("counter == 1", "counter == 0"))
    code, out, _ = run(capsys, "check", "--tests", "tests.c")
    assert (code, verdicts(out)) == (0, [["locked", "verified"], ["fails", "verified"]])


def test_a_limit_is_for_each_of_them(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "tests.c").write_text(TESTS.replace("RUN_TEST(unlocked);", "").replace("counter == 1", "counter == 0"))
    code, out, _ = run(capsys, "check", "--tests", "tests.c", "--max-executions", "1")
    assert (code, verdicts(out)) == (3, [["locked", "incomplete"], ["fails", "verified"]])


def test_junit(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "check", "--tests", "tests.c", "--junit", "result.xml")
    suites = ElementTree.parse("result.xml").getroot()
    assert {name: suites.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3",
        "failures": "2",
        "errors": "0",
        "skipped": "0",
    }
    cases = suites.findall("testsuite/testcase")
    assert [(case.get("name"), case.get("classname")) for case in cases] == [
        ("locked", "Unity"),
        ("unlocked", "Unity"),
        ("fails", "Unity"),
    ]
    assert [case.find("failure") is not None for case in cases] == [False, True, True]
    failure = cases[1].find("failure")
    assert failure is not None and failure.text is not None
    assert failure.get("type") == "exit"
    assert failure.get("message") == "bug: 36:unlocked:FAIL"
    assert "36:unlocked:FAIL" in failure.text


def test_junit_of_one_program(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "--test", "locked", "tests.c", "--junit", "result.xml")
    assert (code, out.split(":")[0]) == (0, "verified")
    (case,) = ElementTree.parse("result.xml").getroot().findall("testsuite/testcase")
    assert (case.get("name"), case.find("failure"), case.find("error")) == ("locked", None, None)


def test_json(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "--tests", "tests.c", "--json")
    result = json.loads(out)
    assert (code, result["verdict"], result["framework"], result["not_checked"]) == (1, "bug", "Unity", [])
    assert [(test["name"], test["verdict"], test["error"]) for test in result["tests"]] == [
        ("locked", "ok", None),
        ("unlocked", "bug", None),
        ("fails", "bug", None),
    ]
    assert (result["tests"][0]["complete"], result["tests"][0]["told_apart"]) == (1, [2, 0])


def test_an_interrupt_ends_it_with_what_is_known(here: Path) -> None:
    many = "".join(
        f"static void *run{i}(void *x) {{ for (int i = 0; i < 9; i++) counter++; return x; }}\n" for i in "ab"
    )
    text = TESTS.replace("static void unlocked", f"{many}static void unlocked")
    start = "pthread_t a, b; pthread_create(&a, 0, runa, 0); pthread_create(&b, 0, runb, 0);"
    join = "pthread_join(a, 0); pthread_join(b, 0); TEST_ASSERT(counter > 0);"
    (here / "tests.c").write_text(text.replace("    two(careless);\n    TEST_ASSERT(counter == 2);", f"{start} {join}"))
    code, out, _ = interrupt_check(
        ["--tests", "--races", "ignore", "tests.c", "--junit", "result.xml"], b" executions,"
    )
    assert code == 3
    assert verdicts(out) == [["locked", "verified"], ["unlocked", "incomplete"]]
    assert ": 1 verified, 1 incomplete, 1 not checked (interrupted) (" in out.splitlines()[-1]
    cases = ElementTree.parse("result.xml").getroot().findall("testsuite/testcase")
    assert [[child.tag for child in case] for case in cases] == [["system-out"], ["error"], ["skipped"]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--tests", "plain.c"), "plain.c: not a program with a test framework that is known (doctest, Catch2, "),
        (("--tests", "none.c"), "none.c: Unity lists no test cases in this program\n"),
        (("--tests", "broken.c"), "broken.c: the test cases cannot be listed: assertion `0` failed\n"),
        (
            ("--test", "unknown", "tests.c"),
            "there is no test case 'unknown'; those of this program are: locked, unlocked, ",
        ),
        (("--tests", "tests.c", "--save-schedule", "x"), "--save-schedule is for one bug; --test NAME checks one "),
        (("--tests", "tests.c", "--junit", "tests.c"), "tests.c: is needed, and would be overwritten; "),
    ],
)
def test_mistakes(here: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str) -> None:
    Path("plain.c").write_text("int main(void) { return 0; }\n")
    end = "void setUp(void) {} int main(void) { UNITY_BEGIN(); return UNITY_END(); }\n"
    Path("none.c").write_text('#include "unity.h"\n' + end)
    Path("broken.c").write_text(
        '#include "unity.h"\n#include <assert.h>\n' + end.replace("return", "assert(0); return")
    )
    code, out, err = run(capsys, "check", *words)
    assert (code, out, err[: len(message) + 9]) == (2, "", f"mazurka: {message}")


# What programs with the frameworks print, compiled natively.
LISTED = {
    "doctest": (
        '<?xml version="1.0" encoding="UTF-8"?>\n<doctest binary="./d" version="2.4.9">\n  <Options order_by="file"/>\n'
        '  <TestCase name="plain" filename="d.cpp" line="3" skipped="false"/>\n'
        '  <TestCase name="a &quot;b&quot; &amp; &lt;c>" testsuite="s" filename="d.cpp" line="5" skipped="false"/>\n'
        '  <OverallResultsTestCases unskipped="2"/>\n</doctest>\n',
        ["plain", 'a "b" & <c>'],
    ),
    "Catch2": ("plain\na, b [c]\n", ["plain", "a, b [c]"]),
    "GoogleTest": (
        "Running main() from gtest_main.cc\nQueue.\n  Plain\n  DISABLED_Off\nDISABLED_Suite.\n  One\n"
        "All/P.\n  Small/0  # GetParam() = 1\n",
        ["Queue.Plain", "All/P.Small/0"],
    ),
    "Unity": ("some output\nmazurka: test case one\nmazurka: test case two(3, 4)\n", ["one", "two(3, 4)"]),
}


@pytest.mark.parametrize("framework", FRAMEWORKS, ids=lambda framework: framework.name)
def test_what_frameworks_list(framework: Framework) -> None:
    output, names = LISTED[framework.name]
    assert framework.read(output) == names


FAILED = {
    "doctest": (
        "d.cpp:5:\nTEST CASE:  in suite\n\nd.cpp:5: ERROR: CHECK( 1 == 2 ) is NOT correct!\n"
        "  values: CHECK( 1 == 2 )\n",
        "d.cpp:5: ERROR: CHECK( 1 == 2 ) is NOT correct!",
    ),
    "Catch2": (
        "wrong\n-----\nc.cpp:5\n.....\n\nc.cpp:5: FAILED:\n  CHECK( 1 == 2 )\n\n=====\n",
        "c.cpp:5: FAILED: CHECK( 1 == 2 )",
    ),
    "GoogleTest": (
        "[ RUN      ] Queue.Wrong\ng.cpp:3: Failure\nExpected equality of these values:\n  2\n  1\n"
        "[  FAILED  ] Queue.Wrong\n",
        "g.cpp:3: Failure Expected equality of these values: 2 1",
    ),
    "Unity": ("u.c:17:test_wrong:FAIL: Expected 3 Was 0\n\n", "u.c:17:test_wrong:FAIL: Expected 3 Was 0"),
}


@pytest.mark.parametrize("framework", FRAMEWORKS, ids=lambda framework: framework.name)
def test_what_frameworks_say_of_a_failure(framework: Framework) -> None:
    output, complaint = FAILED[framework.name]
    assert framework.complaint(output) == complaint
    assert framework.complaint("all is well\n") is None


def test_a_complaint_is_no_test_case() -> None:
    """Of Catch2, which has no option to list names alone any more in its third version."""
    (catch2,) = (framework for framework in FRAMEWORKS if framework.name == "Catch2")
    assert catch2.read("Error(s) in input:\n  Unrecognised token: --list-test-names-only\n") == []


def test_what_one_test_case_uses_does_not_keep_others_from_being_checked(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = TESTS.replace("#include <pthread.h>", "#include <pthread.h>\n#include <unistd.h>")
    text = text.replace("    two(careless);", "    fork();\n    two(careless);").replace("counter == 1", "counter == 0")
    (here / "tests.c").write_text(text)
    code, out, _ = run(capsys, "check", "--tests", "tests.c", "--json")
    result = json.loads(out)
    assert (code, [test["verdict"] for test in result["tests"]]) == (3, ["ok", "incomplete", "ok"])
    limit = result["tests"][1]["limit"]
    assert (limit["kind"], limit["line"]) == ("limit", 36)
    assert limit["message"].startswith(
        "what this execution does is not supported: calls 'fork', which Mazurka does not"
    )
    code, _, err = run(capsys, "check", "tests.c")
    assert (code, err.startswith("mazurka: tests.c:36: calls 'fork', which Mazurka does not model")) == (2, True)


def test_a_program_that_is_prepared_once_is_the_same_as_one_that_is_prepared_for_its_arguments(here: Path) -> None:
    source = here / "echo.c"
    source.write_text(
        "#include <pthread.h>\n#include <string.h>\nstatic int seen;\nstatic char **words;\n"
        "static int value(void) { return strcmp(words[1], words[2]) == 0 ? 3 : (int)strlen(words[2]); }\n"
        "static void *look(void *unused) { seen += value(); return 0; }\n"
        "int main(int count, char **arguments) {\n"
        "    pthread_t a, b;\n    words = arguments;\n"
        "    pthread_create(&a, 0, look, 0);\n    pthread_create(&b, 0, look, 0);\n"
        "    pthread_join(a, 0);\n    pthread_join(b, 0);\n    return seen % 2 + 2 * (count != 3);\n}\n"
    )
    compiled = compile_c([source])
    for arguments in (["a", "a"], ["a", "bcde"], ["long", "c"], ["", ""], ["x", "x"]):
        kept = mazurka.check(compiled, program_arguments=arguments)
        fresh = mazurka.check(source, program_arguments=arguments)
        assert (kept.verdict, kept.bug, kept.coverage) == (fresh.verdict, fresh.bug, fresh.coverage)
        assert len(compiled.kept) == 1
