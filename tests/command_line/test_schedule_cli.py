"""`mazurka schedule` and `mazurka build`: exit codes, messages, files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path
from typing import Any

import pytest

from mazurka import cli
from mazurka.constrained.files import FORMAT
from tests import ROOT
from tests.support.interrupting import interrupt_check

PROGRAMS = ROOT / "benchmarks" / "schedules"
DOUBLE_LOCK = str(PROGRAMS / "double_lock.c")

# Whoever comes first decides what is printed.
RACE = """\
#include <pthread.h>
#include <stdio.h>

static int winner;

static void *run(void *argument) {
    if (winner == 0)
        winner = (int)(long)argument;
    return 0;
}

int main(int argc, char **argv) {
    pthread_t one, other;
    pthread_create(&one, 0, run, (void *)1);
    pthread_create(&other, 0, run, (void *)2);
    pthread_join(one, 0);
    pthread_join(other, 0);
    printf("%d\\n", winner);
    return winner + 10;
}
"""

UNSAFE = """\
#include <assert.h>

unsigned __VERIFIER_nondet_uint(void);

int main(void) {
    unsigned input = __VERIFIER_nondet_uint();
    assert(input != 77);
}
"""

BUSY = """\
#include <pthread.h>

static int shared;

static void *run(void *argument) {
    unsigned local = 0;
    for (;;)
        local = local * 3 + 1;
    return argument;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    for (;;)
        shared = 1 - shared;
}
"""

MIXED = """\
#include <pthread.h>

void __VERIFIER_assume(int);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void *run(void *argument) {
    __VERIFIER_atomic_begin();
    pthread_mutex_lock(&mutex);
    __VERIFIER_assume(x);
    __VERIFIER_atomic_end();
    pthread_mutex_unlock(&mutex);
    return argument;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_exit(0);
}
"""

RECURSION = """\
#include <pthread.h>

static int x;

static int count(int n) {
    x = n;
    return n ? count(n - 1) : 0;
}

int main(int argc, char **argv) {
    return count(argc);
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(text: str, name: str = "program.c") -> str:
    Path(name).write_text(text)
    return name


def test_the_first_schedule(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schedule", DOUBLE_LOCK]) == 0
    out = capsys.readouterr().out
    assert out.startswith("iteration 1: safe under a schedule of ")
    assert "forwards" in out
    assert "backwards" in out
    assert f"mazurka build {DOUBLE_LOCK} --schedule double_lock.schedule.json -o double_lock" in out
    assert json.loads((folder / "double_lock.schedule.json").read_text())["format"] == FORMAT
    assert os.listdir(folder) == ["double_lock.schedule.json"]


def test_more_iterations(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = write(RACE)
    assert cli.main(["schedule", program, "--until", "2"]) == 0
    out = capsys.readouterr().out
    assert "iteration 1: safe" in out
    assert "iteration 2: safe" in out
    assert "\n2 safe schedules found, there may be more (" in out
    assert cli.main(["schedule", program, "--until", "1000"]) == 0
    assert " safe schedules found, there are no more (" in capsys.readouterr().out


def test_all_schedules(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schedule", DOUBLE_LOCK, "--until", "complete"]) == 1
    out = capsys.readouterr().out
    assert "bug: deadlock: " in out
    assert "\neach waits for the next: " in out  # the trace
    assert "\npartially safe: some schedules lead to a bug, others never do (" in out
    assert cli.main(["schedule", DOUBLE_LOCK, "-DCORRECT", "--until", "complete"]) == 0
    assert "\nsafe: no schedule of the program leads to a bug (" in capsys.readouterr().out


def test_no_schedule_is_safe(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schedule", write(UNSAFE)]) == 1
    out = capsys.readouterr().out
    assert "bug: assertion `input != 77` failed (program.c:7, thread main)" in out
    assert "\nunsafe: no schedule is safe: each one fails, gets into a deadlock or is unfair, for some inputs (" in out
    assert "\n  mazurka schedule program.c --save-bug bug.json\n  mazurka replay program.c bug.json\n" in out
    assert os.listdir(folder) == ["program.c"]
    assert cli.main(["schedule", "program.c", "--save-bug", "bug.json"]) == 1
    capsys.readouterr()
    assert cli.main(["replay", "program.c", "bug.json"]) == 1
    assert capsys.readouterr().out.startswith("bug: assertion `input != 77` failed")


GUESS = """
#include <assert.h>
#include <pthread.h>
int __VERIFIER_nondet_range(int, int);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
int first, order;
void *follow(void *argument) {
    int me = argument != 0;
    __VERIFIER_atomic_begin();
    assert(order || first == me);
    order = 1;
    __VERIFIER_atomic_end();
    return 0;
}
int main(void) {
    pthread_t threads[2];
    first = __VERIFIER_nondet_range(0, 1);
    pthread_create(&threads[0], 0, follow, 0);
    pthread_create(&threads[1], 0, follow, &order);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
"""


def test_unsafe_is_said_only_if_it_is_certain(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """There is a bug, and no schedule was found; but one that sees what was read would do."""
    for until in ("1", "complete"):
        assert cli.main(["schedule", write(GUESS), "--until", until]) == 3
        out = capsys.readouterr().out
        assert "\nincomplete: there are safe schedules, but they depend on values that do not show in which way " in out
        assert "; 0 safe schedules and 2 bugs so far (" in out


def test_a_thread_that_computes_for_ever(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The schedule says that it is interrupted again and again, so that the other one has its turns."""
    assert cli.main(["schedule", write(BUSY)]) == 0
    assert "\n1 safe schedule found, there may be more (" in capsys.readouterr().out
    assert cli.main(["schedule", "program.c", "--check", "program.schedule.json"]) == 0


def test_a_bug_beside_a_thread_that_computes_for_ever(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the machine, what a thread computes on its own is one step, which does not end here; the others go on."""
    monkeypatch.setenv("COLUMNS", "120")  # so that no line is broken
    program = write(
        BUSY.replace("unsigned local = 0;", "unsigned local = 0; shared = 5;")
        .replace("for (;;)\n        shared = 1 - shared;", "assert(shared == 0);")
        .replace("<pthread.h>", "<pthread.h>\n#include <assert.h>")
    )
    assert cli.main(["schedule", program, "--until", "complete"]) == 1
    out = capsys.readouterr().out
    assert ": bug: assertion `shared == 0` failed (" in out and "✗ assertion `shared == 0` failed" in out


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schedule", DOUBLE_LOCK, "--until", "complete", "--json"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert (result["verdict"], result["reason"]) == ("partially safe", None)
    first = result["iterations"][0]
    assert first["safe"]
    assert first["nodes"] > first["sections"] > 0
    assert all(isinstance(line, str) for line in first["permits"])
    [bug] = [iteration for iteration in result["iterations"] if not iteration["safe"]]
    assert bug["bug"]["kind"] == "deadlock"
    Path("bug.json").write_text(json.dumps(bug))
    assert cli.main(["replay", DOUBLE_LOCK, "bug.json"]) == 1
    assert capsys.readouterr().out.startswith("bug: deadlock")


@pytest.mark.parametrize("name", ["picture.svg", "picture.dot"])
def test_a_picture(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schedule", DOUBLE_LOCK, "--picture", name]) == 0
    text = (folder / name).read_text()
    if name.endswith(".svg"):
        assert xml.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    else:
        assert text.startswith("digraph")


def test_a_picture_of_another_kind(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schedule", DOUBLE_LOCK, "--picture", "picture.png"]) == 2
    assert capsys.readouterr().err == "mazurka: --picture picture.png: the name of a picture ends in .svg or .dot\n"


# ------------------------------------------------------------------------------------------- files of schedules


def schedule_of(program: str, *options: str) -> dict[str, Any]:
    assert cli.main(["schedule", program, "-o", "s.json", *options]) == 0
    schedule: dict[str, Any] = json.loads(Path("s.json").read_text())
    return schedule


def test_a_schedule_can_be_proved_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schedule_of(DOUBLE_LOCK)
    capsys.readouterr()
    assert cli.main(["schedule", DOUBLE_LOCK, "--check", "s.json"]) == 0
    assert capsys.readouterr().out == (
        "proved: all executions under this schedule are safe, free of deadlocks and fair\n"
    )


def test_nothing_is_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = write(RACE)
    schedule_of(program)
    capsys.readouterr()
    for words in (
        ["schedule", program, "-o", "./program.c"],
        ["build", program, "--schedule", "s.json", "-o", program],
        ["build", program, "--schedule", "s.json", "-o", "s.json"],
    ):
        assert cli.main(words) == 2
        assert "is needed, and would be overwritten" in capsys.readouterr().err
    assert (folder / program).read_text() == RACE


def test_nothing_is_ignored(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--until", "2"], ["-o", "t.json"], ["--timeout", "3"], ["--json"]):
        assert cli.main(["schedule", DOUBLE_LOCK, "--check", "s.json", *words]) == 2
        assert capsys.readouterr().err == (
            f"mazurka: {words[0]} is for the search for a schedule; with --check there is none\n"
        )


def test_a_schedule_that_was_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says of a lock that it is still free where it is not."""
    schedule = schedule_of(DOUBLE_LOCK)
    node = next(node for node in schedule["nodes"] if any(node["explicit"].values()))
    name = next(name for name, value in node["explicit"].items() if value)
    node["explicit"][name] = 0
    Path("s.json").write_text(json.dumps(schedule))
    capsys.readouterr()
    assert cli.main(["schedule", DOUBLE_LOCK, "--check", "s.json"]) == 1
    assert capsys.readouterr().out.startswith("does not hold: ")
    assert cli.main(["build", DOUBLE_LOCK, "--schedule", "s.json", "-o", "program"]) == 2
    assert "s.json: not a safe schedule of this program: " in capsys.readouterr().err
    assert not (folder / "program").exists()


def test_a_schedule_of_another_program(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schedule_of(DOUBLE_LOCK)
    for command in (["schedule", "--check", "s.json"], ["build", "--schedule", "s.json", "-o", "program"]):
        assert cli.main([*command, DOUBLE_LOCK, "-DCORRECT"]) == 2
        err = capsys.readouterr().err
        assert err.startswith("mazurka: s.json: ")
        assert err.count("\n") == 1


def test_a_file_that_is_none(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for content in ("", "{}", "[1]", '{"format": 99}'):
        Path("s.json").write_text(content)
        assert cli.main(["schedule", DOUBLE_LOCK, "--check", "s.json"]) == 2
        assert capsys.readouterr().err.startswith("mazurka: s.json: ")
    assert cli.main(["build", DOUBLE_LOCK, "--schedule", "none.json", "-o", "program"]) == 2
    assert capsys.readouterr().err == "mazurka: none.json: No such file or directory\n"


def test_a_place_that_cannot_be_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is known before the search begins."""
    assert cli.main(["schedule", DOUBLE_LOCK, "-o", "no/such/folder.json"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "mazurka: no/such/folder.json: the schedule cannot be saved: No such file or directory\n"
    assert cli.main(["schedule", DOUBLE_LOCK, "--picture", "no/such/folder.svg"]) == 2
    assert "no/such/folder.svg: the picture cannot be saved: " in capsys.readouterr().err
    assert cli.main(["build", DOUBLE_LOCK, "--schedule", "s.json", "-o", "no/such/program"]) == 2
    assert "no/such/program: the program cannot be saved: " in capsys.readouterr().err


def test_the_schedule_can_go_to_a_pipe(folder: Path) -> None:
    words = [sys.executable, "-m", "mazurka.cli", "schedule", DOUBLE_LOCK, "-o", "/dev/stdout", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    schedule, _, result = done.stdout.partition("\n")
    assert json.loads(schedule)["format"] == FORMAT
    assert json.loads(result)["iterations"]


def test_an_example(folder: Path) -> None:
    program = str(PROGRAMS.parent.parent / "examples" / "lock_order.c")
    schedule_of(program)
    assert cli.main(["build", program, "--schedule", "s.json", "-o", "program"]) == 0
    for _ in range(20):
        subprocess.run(["./program"], timeout=60, check=True)


# ------------------------------------------------------------------------------------------- programs that are built


@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_program_keeps_to_its_schedule(level: int, folder: Path) -> None:
    program = write(RACE)
    schedule_of(program)
    words = ["build", program, "--schedule", "s.json", "-o", "program", "--optimise", str(level)]
    assert cli.main(words) == 0
    for _ in range(20):
        done = subprocess.run(["./program"], capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (11, "1\n", "")


# `constant` is never written, so that the model knows its value and takes it for no access.
POINTER = """\
#include <pthread.h>
#include <stdio.h>

static int constant = 7, variable, result;
static int *pointer = &constant;

static void *read(void *argument) {
    variable = 5;
    int *seen = pointer;
    result = *seen;
    return argument;
}

static void *redirect(void *argument) {
    pointer = &variable;
    return argument;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, read, 0);
    pthread_create(&other, 0, redirect, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    printf("%d\\n", result);
}
"""


@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_pointer_to_what_never_changes(level: int, folder: Path) -> None:
    program = write(POINTER)
    schedule_of(program)
    assert cli.main(["build", program, "--schedule", "s.json", "-o", "program", "--optimise", str(level)]) == 0
    done = subprocess.run(["./program"], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "7\n"


# ------------------------------------------------------------------------------------------- the end of a search


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_there_is(folder: Path, how: signal.Signals) -> None:
    words = [str(PROGRAMS / "grep.c"), "--until", "complete"]
    code, out, _ = interrupt_check(words, b"iteration 2: ", "schedule", how)
    assert code == 3
    assert "iteration 1: safe" in out
    assert "\nincomplete: interrupted; 1 safe schedule and 0 bugs so far (" in out
    assert (folder / "grep.schedule.json").exists()


def test_a_time_limit(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schedule", str(PROGRAMS / "grep.c"), "--until", "complete", "--timeout", "0.01"]) == 3
    assert "incomplete: the time limit of 0.01 s was reached; 0 safe" in capsys.readouterr().out


def test_what_is_out_of_reach(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schedule", write(RECURSION)]) == 2
    err = capsys.readouterr().err
    assert err.startswith("mazurka: program.c:7: count calls itself, ")


def test_two_reasons_to_wait(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is the assumption that keeps the thread, so that there is no deadlock."""
    assert cli.main(["schedule", write(MIXED)]) == 3
    out = capsys.readouterr().out
    assert out.startswith("incomplete: there is no schedule that is safe, free of deadlocks and fair; 0 safe ")


@pytest.mark.parametrize("until", ["0", "-1", "some"])
def test_until_when(until: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(["schedule", DOUBLE_LOCK, "--until", until])
    assert end.value.code == 2
    assert "argument --until: " in capsys.readouterr().err
