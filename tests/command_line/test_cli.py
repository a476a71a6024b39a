"""The command line: exit codes, messages, JSON, and the exact text of reports."""

from __future__ import annotations

import importlib.metadata
import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mazurka import cli
from mazurka.engines.outcome import VACUOUS
from mazurka.executions.trace import Action
from mazurka.reports.text import _shorter, summary
from mazurka.result import Executions, Result, Verdict
from tests import ROOT
from tests.support.interrupting import interrupt_check

REPORTS = Path(__file__).parent / "reports"
EXAMPLES = ROOT / "examples"

LOST_UPDATE = """\
#include <assert.h>
#include <pthread.h>

int counter;

void *worker(void *unused) {
    counter = counter + 1;
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(counter == 2);
}
"""

LOCK_ORDER = """\
#include <pthread.h>

struct account { pthread_mutex_t lock; int balance; } accounts[2];

void *transfer(void *argument) {
    long from = (long)argument, to = 1 - from;
    pthread_mutex_lock(&accounts[from].lock);
    pthread_mutex_lock(&accounts[to].lock);
    accounts[from].balance--;
    accounts[to].balance++;
    pthread_mutex_unlock(&accounts[to].lock);
    pthread_mutex_unlock(&accounts[from].lock);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, transfer, (void *)0);
    pthread_create(&b, 0, transfer, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
"""

USE_AFTER_FREE = """\
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct node { int value; struct node *next; };
struct node *head;

void *reader(void *unused) {
    struct node *seen = head;
    if (seen)
        printf("value %d\\n", seen->value);
    return unused;
}

int main(void) {
    pthread_t thread;
    head = malloc(sizeof *head);
    head->value = 3;
    head->next = 0;
    pthread_create(&thread, 0, reader, 0);
    struct node *old = head;
    head = 0;
    free(old);
    pthread_join(thread, 0);
}
"""

CORRECT = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int counter;
int plain;

void *worker(void *unused) {
    int seen = atomic_load(&counter);
    atomic_store(&counter, seen);
    return unused;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, 0, worker, 0);
    atomic_load(&counter);
    pthread_join(a, 0);
    assert(plain == 0);
}
"""

# Loops that wait, one that sometimes waits, one that counts, and one without an end.
LOOPS = """\
#include <pthread.h>
#include <stdatomic.h>

atomic_int flag, lock;
int total, changes;

void *worker(void *unused) {
    while (!atomic_load(&flag))
        ;
    while (atomic_exchange(&lock, 1)) {
        int next = atomic_load(&flag);
        if (next > 4)
            total = next;
    }
    for (int i = 0; i < 3; i++)
        total += i;
    atomic_store(&lock, 0);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    for (;;)
        changes++;
}
"""

# Which thread is woken is a choice in the middle of a step.
WAKING = """\
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
int ready;

void *worker(void *unused) {
    pthread_mutex_lock(&mutex);
    while (!ready) pthread_cond_wait(&condition, &mutex);
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
"""

# It stops at a limit of Mazurka, after output that a terminal would act on.
DEEP = """\
#include <stdio.h>
int nested(int n) { return n ? nested(n - 1) + 1 : 0; }
int main(void) {
    printf("\\x1b[31mred\\rend\\n\\nlast\\n");
    return nested(5000);
}
"""

# Two threads that count, for ever.
COUNTING = """\
#include <pthread.h>
#include <stdatomic.h>
atomic_int x;
void *worker(void *unused) { for (;;) x++; return unused; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    for (;;) x++;
}
"""

# Far more interleavings than anybody can wait for.
ENDLESS = """\
#include <pthread.h>
int x;
void *worker(void *unused) {
    for (int i = 0; i < 50; i++) x = x + 1;
    return unused;
}
int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, worker, 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the programs above, as the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name, text in (
        ("lost_update.c", LOST_UPDATE),
        ("lock_order.c", LOCK_ORDER),
        ("use_after_free.c", USE_AFTER_FREE),
        ("correct.c", CORRECT),
        ("deep.c", DEEP),
        ("endless.c", ENDLESS),
        ("loops.c", LOOPS),
        ("parcel.c", (EXAMPLES / "parcel.c").read_text()),
    ):
        (tmp_path / name).write_text(text)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """The exit code, the standard output and the standard error of a command line."""
    try:
        code = cli.main(words)
    except SystemExit as stop:  # how argparse ends
        code = stop.code if isinstance(stop.code, int) else 1
    out, err = capsys.readouterr()
    return code, out, err


def lines(text: str) -> list[str]:
    """Without what differs from run to run, or may be done by one algorithm or the other, and the blanks at the ends of
    lines."""
    effort = r"\(\d+\.\d\d s(, by the algorithm \w+, since [^)]*)?"
    return [line.rstrip() for line in re.sub(effort, "(… s", text).splitlines()]


# -------------------------------------------------------------------------------------- verdicts and exit codes


def test_verified_is_0(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "check", "correct.c")
    assert (code, err) == (0, "")
    assert out.startswith("verified: all 2 executions (")


def test_exhaustive_counts_interleavings(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "correct.c", "--algorithm", "exhaustive")
    assert code == 0
    assert out.startswith("verified: all ") and " interleavings (" in out


def test_a_bug_is_1(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "check", "lost_update.c")
    assert (code, err) == (1, "")
    assert out.startswith("bug: assertion `counter == 2` failed (lost_update.c:17, thread main)\n")


def test_a_limit_is_3(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "endless.c", "--max-executions", "10")
    assert code == 3
    assert out.startswith(
        "incomplete: the limit of 10 executions was reached; stopped after 10 executions, no bug so far"
    )


def test_the_time_limit_is_3(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "endless.c", "--timeout", "0.3")
    assert code == 3
    assert "the time limit of 0.3 s was reached" in out


def test_a_limit_of_mazurka_is_3_and_shows_where(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reason = "calls nest more than 4,096 deep, which is a limit of Mazurka; let the recursion end earlier"
    code, out, _ = run(capsys, "check", "deep.c", "--save-schedule", "deep.json")
    assert code == 3
    assert out.startswith(f"incomplete: {reason}; 1 execution, which stops at a limit, no bug (")
    assert any(line.startswith("deep.c:2   int nested(int n)") for line in lines(out))
    assert "  mazurka replay deep.c deep.json" in lines(out)
    code, out, _ = run(capsys, "replay", "deep.c", "deep.json")
    assert code == 3
    assert lines(out)[0] == f"incomplete: {reason}"
    for words in (["check", "deep.c"], ["replay", "deep.c", "deep.json"]):
        code, out, _ = run(capsys, *words, "--json")
        result = json.loads(out)
        assert (code, result["verdict"], result["bug"], result["reason"]) == (3, "incomplete", None, reason)
        assert result["trace"]["steps"][-1]["line"] == 2
        assert result["schedule"] is not None


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_is_3_and_says_what_was_covered(here: Path, how: signal.Signals) -> None:
    code, out, _ = interrupt_check(["endless.c", "--json"], b" of about", how=how)  # it knows how many there are
    assert code == 3
    result = json.loads(out)
    assert (result["verdict"], result["reason"]) == ("incomplete", "interrupted")
    assert result["complete"] > 0
    assert result["estimate"] > result["complete"]


def test_a_bug_that_was_found_survives_an_interrupt(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("mazurka.executions.replaying.replay_schedule", interrupted)
        code, out, _ = run(capsys, "check", "lost_update.c", "--save-schedule", "bug.json")
    assert code == 1
    assert out.startswith("bug: a failure (assertion) was found, ")
    assert lines(out)[-1] == "  mazurka replay lost_update.c bug.json"
    code, out, _ = run(capsys, "replay", "lost_update.c", "bug.json")
    assert (code, out.startswith("bug: assertion `counter == 2` failed")) == (1, True)


def test_an_interrupt_outside_of_the_search_is_3(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mazurka.checking.check", interrupted)
    assert run(capsys, "check", "lost_update.c") == (3, "", "mazurka: interrupted\n")


@pytest.mark.parametrize("command", ["check", "replay", "build", "schedule", "loops", "print"])
def test_a_termination_outside_of_the_search_is_3(
    command: str, here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def terminated(_: object) -> int:
        os.kill(os.getpid(), signal.SIGTERM)
        raise AssertionError("it went on")

    monkeypatch.setattr(f"mazurka.cli.commands.{command}.run", terminated)
    needed = ["--schedule", "s.json", "-o", "program"] if command == "build" else []
    assert run(capsys, command, "lost_update.c", *needed) == (3, "", "mazurka: interrupted\n")
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_memory_that_runs_out_before_the_search_is_3(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("mazurka.checking.check", exhausted)
    assert run(capsys, "check", "lost_update.c") == (3, "", "mazurka: there is no more memory\n")


def test_a_limit_holds_inside_of_an_execution_without_an_end(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither the search nor what comes after it waits for the execution to end, or for all of it to be told."""
    Path("counting.c").write_text(COUNTING)
    most_steps = ["--max-steps", str((1 << 63) - 1)]
    code, out, _ = run(capsys, "check", "counting.c", "--timeout", "0.5", *most_steps, "--json")
    result = json.loads(out)
    assert (code, result["verdict"], result["complete"]) == (3, "incomplete", 0)
    assert result["reason"] == "the time limit of 0.5 s was reached"


def test_keep_going_counts_after_a_bug(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = json.loads(run(capsys, "check", "--json", "--no-symmetry", "lost_update.c")[1])
    code, out, _ = run(capsys, "check", "--json", "--no-symmetry", "--keep-going", "lost_update.c")
    every = json.loads(out)
    assert code == 1
    assert every["bug"] == first["bug"]
    assert every["complete"] > first["complete"]


LOSING = """\
#include <pthread.h>
#include <stdlib.h>
#include <stdatomic.h>

static void *_Atomic last;

static void *work(void *unused) {
    for (int i = 0; i < 2; i++)
        last = malloc(4);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    return 0;
}
"""


@pytest.mark.parametrize("algorithm", ["optimal", "exhaustive", "graphs"])
@pytest.mark.parametrize("keep_going", [[], ["--keep-going"]])
def test_what_the_last_thread_loses_is_told_with_the_end_of_the_others(
    here: Path, capsys: pytest.CaptureFixture[str], algorithm: str, keep_going: list[str]
) -> None:
    Path("losing.c").write_text(LOSING)
    words = ["losing.c", "--memory", "sc", "--leaks", "--algorithm", algorithm, *keep_going, "--json"]
    result = json.loads(run(capsys, "check", *words)[1])
    assert [bug["kind"] for bug in result["bugs"]] == ["memory"]
    assert result["bug"]["message"].startswith("memory leak: ")


def test_an_internal_error_is_4_and_asks_for_a_report(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("nobody thought of this")

    monkeypatch.setattr("mazurka.checking.check", broken)
    code, out, err = run(capsys, "check", "correct.c")
    assert (code, out) == (4, "")
    assert err.startswith("mazurka: internal error: ZeroDivisionError: nobody thought of this\n")
    assert "please report it" in err and "Traceback" not in err
    monkeypatch.setenv("MAZURKA_DEBUG", "1")
    assert "Traceback" in run(capsys, "check", "correct.c")[2]


def test_a_random_walk_finds_bugs_but_verifies_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "lost_update.c", "--algorithm", "random", "--seed", "7")
    assert code == 1
    assert out.startswith("bug: assertion `counter == 2` failed")
    assert "  mazurka check --algorithm random --seed 7 lost_update.c --save-schedule bug.json" in lines(out)
    code, out, _ = run(capsys, "check", "correct.c", "--algorithm", "random")
    assert code == 3
    assert out.startswith("incomplete: 10,000 random executions, no bug; the limit of 10,000 executions was reached (")
    code, out, _ = run(capsys, "check", "correct.c", "--algorithm", "random", "--max-executions", "20")
    assert code == 3
    assert out.startswith("incomplete: 20 random executions, no bug; ")
    code, out, _ = run(capsys, "check", "correct.c", "--algorithm", "random", "--timeout", "0.2")
    assert code == 3
    assert "no bug; the time limit of 0.2 s was reached" in out


def test_a_limit_of_a_random_walk_is_needed_to_see_its_bug_again(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    limits = ["--max-executions", "20000", "--timeout", "60"]
    _, out, _ = run(capsys, "check", "lost_update.c", "--algorithm", "random", *limits)
    again = (
        "  mazurka check --algorithm random --timeout 60 --max-executions 20000 lost_update.c --save-schedule bug.json"
    )
    assert again in lines(out)


@pytest.mark.parametrize("algorithm", ["pop", "optimal", "exhaustive", "random"])
def test_a_check_gives_the_same_answer_each_time(
    here: Path, capsys: pytest.CaptureFixture[str], algorithm: str
) -> None:
    answers = []
    for _ in range(2):
        answers.append(json.loads(run(capsys, "check", "lost_update.c", "--json", "--algorithm", algorithm)[1]))
        del answers[-1]["seconds"]
    assert answers[0] == answers[1]
    assert answers[0]["verdict"] == "bug"


@pytest.mark.parametrize("algorithm", ["pop", "optimal", "exhaustive"])
def test_counts_do_not_depend_on_the_seed(here: Path, capsys: pytest.CaptureFixture[str], algorithm: str) -> None:
    counts = set()
    for seed in ("0", "1", "2", "3"):
        words = ["lost_update.c", "--keep-going", "--json", "--algorithm", algorithm, "--seed", seed]
        counts.add(json.loads(run(capsys, "check", *words)[1])["complete"])
    assert len(counts) == 1


def test_what_pop_cannot_do_is_done_by_optimal(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("waking.c").write_text(WAKING)
    result = json.loads(run(capsys, "check", "waking.c", "--no-symmetry", "--json")[1])
    assert (result["verdict"], result["algorithm"]) == ("ok", "optimal")
    assert result["handed_over"] == "a section assumes something at waking.c:9"
    assert (
        f"s, by the algorithm optimal, since {result['handed_over']})"
        in run(capsys, "check", "--no-symmetry", "waking.c")[1]
    )


def test_threads_that_are_alike_are_explored_in_one_order(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("waking.c").write_text(WAKING)
    some = json.loads(run(capsys, "check", "waking.c", "--json")[1])
    every = json.loads(run(capsys, "check", "waking.c", "--no-symmetry", "--json")[1])
    assert some["told_apart"] == [every["complete"], every["blocked"]]
    assert some["complete"] + some["blocked"] < sum(some["told_apart"])
    assert every["told_apart"] is None
    assert some["handed_over"].startswith("threads are alike at waking.c:")
    assert f"{sum(some['told_apart'])} with threads told apart that are alike)" in run(capsys, "check", "waking.c")[1]


# -------------------------------------------------------------------------------------------- input at fault


def test_no_such_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "check", "missing.c")
    assert (code, out) == (2, "")
    assert "missing.c" in err and "no such file" in err.lower()


def test_what_the_compiler_says_is_passed_on(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("wrong.c").write_text("int main(void) { return x; }\n")
    code, out, err = run(capsys, "check", "wrong.c")
    assert (code, out) == (2, "")
    assert "wrong.c:1:25: error: use of undeclared identifier 'x'" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["check"], "the following arguments are required: FILE"),
        (["check", "--wrong", "correct.c"], "unrecognized arguments: --wrong"),
        (["--wrong"], "mazurka: error: unrecognized arguments: --wrong"),
        (["replay", "correct.c", "x.json", "--exact"], "mazurka replay: error: unrecognized arguments: --exact"),
        (["check", "correct.c", "--algorithm", "magic"], "invalid choice: 'magic'"),
        (["check", "correct.c", "--timeout", "soon"], "argument --timeout: invalid time value: 'soon'"),
        (["check", "correct.c", "--timeout", "-1"], "argument --timeout: -1 is not a time above 0"),
        (["check", "correct.c", "--max-steps", "0"], "argument --max-steps: 0 is not a number above 0"),
        (["check", "correct.c", "--unroll", "0"], "argument --unroll: 0 is not a number above 0"),
        (["check", "correct.c", "--unroll", "-3"], "argument --unroll: -3 is not a number above 0"),
        (["check", "correct.c", "--max-executions", "x"], "argument --max-executions: invalid number value: 'x'"),
        (["check", "correct.c", "--seed", "x"], "argument --seed: invalid number value: 'x'"),
        (["check", "correct.c", "--seed", "-1"], "argument --seed: -1 is not a number of 64 bits"),
        (["check", "correct.c", "--races", "maybe"], "invalid choice: 'maybe'"),
        (["check", "correct.c", "--engine", "magic"], "invalid choice: 'magic'"),
        (["check", "correct.c", "--engine", "stateful", "--reduction", "magic"], "invalid choice: 'magic'"),
        (["check", "correct.c", "--engine", "stateful", "--max-memory", "x"], "--max-memory: 'x' is not a size: write"),
        (["check", "correct.c", "--engine", "stateful", "--max-memory", "0"], "--max-memory: 0 is not a size above 0"),
        (["check", "correct.c", "--engine", "stateful", "--unroll", "3"], "--unroll is for --engine stateless; "),
        (["check", "correct.c", "--engine", "stateless", "--exact"], "--exact is for --engine stateful; "),
        (
            ["check", "correct.c", "--exact", "--seed", "3"],
            "--seed is for --engine stateless, but --exact is for --engine stateful",
        ),
        (["dance"], "invalid choice: 'dance'"),
        (["replay", "correct.c"], "replay needs a schedule after the source files"),
    ],
)
def test_wrong_usage_is_2(here: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert message in err


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys)
    assert (code, out) == (2, "")
    assert "usage: mazurka" in err and "exit codes:" in err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--version")
    assert code == 0
    assert out.startswith("mazurka 0.")


def test_a_version_that_is_not_installed_is_unknown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_: str) -> str:
        raise importlib.metadata.PackageNotFoundError

    monkeypatch.setattr(importlib.metadata, "version", missing)
    assert run(capsys, "--version")[:2] == (0, "mazurka unknown\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "schedule.json: No such file or directory"),
        ("not JSON", "schedule.json: not JSON"),
        ("[]", "schedule.json: not a schedule"),
        ('{"format": 9}', "schedule.json: schedule format 9, but this version reads formats 2 and 3"),
        (
            '{"format": 2, "threads": ["main"], "steps": [["main"], ["main.7"]],'
            ' "transforms": {"purity": true, "awaits": true, "unroll": null}}',
            "the schedule does not fit the program: step 2 of 2 is of thread main.7, which does not exist then",
        ),
    ],
)
def test_a_wrong_schedule_is_2(here: Path, capsys: pytest.CaptureFixture[str], text: str | None, message: str) -> None:
    if text is not None:
        Path("schedule.json").write_text(text)
    code, out, err = run(capsys, "replay", "correct.c", "schedule.json")
    assert (code, out) == (2, "")
    assert err.startswith(f"mazurka: {message}")


def test_a_schedule_that_cannot_be_saved_is_2(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "check", "lost_update.c", "--save-schedule", "no/such/folder.json")
    assert code == 2
    assert err == "mazurka: no/such/folder.json: the schedule cannot be saved: No such file or directory\n"


def test_whether_a_schedule_can_be_saved_is_known_before_the_search(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("folder").mkdir()
    code, out, err = run(capsys, "check", "endless.c", "--save-schedule", "folder")
    assert (code, out) == (2, "")
    assert err == "mazurka: folder: the schedule cannot be saved: Is a directory\n"
    # What is there stays, and nothing is added, until there is a bug.
    Path("old.json").write_text("old")
    for file in ("old.json", "new.json"):
        assert run(capsys, "check", "correct.c", "--save-schedule", file)[0] == 0
    assert Path("old.json").read_text() == "old"
    assert not Path("new.json").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize(
    "words", [["check", "lost_update.c"], ["check", "correct.c", "--json"], ["print", "correct.c"]]
)
def test_output_that_cannot_be_written_is_2(here: Path, words: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "mazurka.cli", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=30,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "mazurka: the output cannot be written: No space left on device\n"


# ------------------------------------------------------------------------------------- compiling and arguments


def test_compiler_options_are_taken_the_way_a_compiler_takes_them(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("include").mkdir()
    Path("include/limit.h").write_text("#define LIMIT 3\n")
    Path("first.h").write_text("#define FIRST 1\n")
    Path("options.c").write_text(
        "#include <assert.h>\n#include <limit.h>\n"
        "int main(void) { assert(LIMIT == 3 && FIRST == 1 && A == 1 && B == 2 && __STDC_VERSION__ == 199901L); }\n"
    )
    options = ["-DA", "-D", "B=2", "-Iinclude", "-include", "first.h", "-std=c99"]
    code, _, err = run(capsys, "check", "options.c", *options)
    assert (code, err) == (0, "")
    code, _, err = run(capsys, "check", "options.c", *options, "-UA")
    assert code == 2 and "'A'" in err


def test_what_else_compilers_are_told_changes_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    habits = ["-pthread", "-lpthread", "-W", "-Wall", "-Werror", "-Wl,-z,now", "-O", "-O3", "-g", "-g0", "-ggdb"]
    code, out, err = run(capsys, "check", *habits[:5], "lost_update.c", *habits[5:], "--save-schedule", "bug.json")
    assert (code, err) == (1, "")
    assert f"  mazurka replay {' '.join(habits)} lost_update.c bug.json" in lines(out)
    plain = run(capsys, "check", "lost_update.c", "--save-schedule", "bug.json")[1]
    assert lines(plain)[:-1] == lines(out)[:-1]
    code, _, err = run(capsys, "check", "-Wall", "correct.c", "-pthreads", "-fast")
    assert code == 2
    assert "unrecognized arguments: -pthreads -fast\n" in err


def test_files_can_be_among_the_options(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("include").mkdir()
    Path("include/two.h").write_text("int two(void);\n")
    Path("two.c").write_text("#include <two.h>\nint two(void) { return TWO; }\n")
    Path("one.c").write_text("#include <assert.h>\n#include <two.h>\nint main(void) { assert(two() == 2); }\n")
    words = ["one.c", "-Iinclude", "two.c", "-O2"]
    assert run(capsys, "check", *words, "-DTWO=2")[0] == 0
    assert run(capsys, "check", *words, "-DTWO=3", "--save-schedule", "bug.json")[0] == 1
    code, out, err = run(capsys, "replay", *words, "-DTWO=3", "bug.json")
    assert (code, err) == (1, "")
    assert out.startswith("bug: assertion `two() == 2` failed")


def test_the_program_gets_its_arguments(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("arguments.c").write_text(
        "#include <assert.h>\n#include <string.h>\n"
        'int main(int argc, char **argv) { assert(argc == 3 && !strcmp(argv[2], "--two")); }\n'
    )
    assert run(capsys, "check", "arguments.c", "--", "one", "--two")[0] == 0
    assert run(capsys, "check", "arguments.c")[0] == 1


# ------------------------------------------------------------------------------------------- JSON and replay


def test_json_has_all_fields(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "--json", "lost_update.c")
    result = json.loads(out)
    assert code == 1
    assert set(result) == {
        "bugs",
        *("verdict", "bug", "complete", "blocked", "redundant", "algorithm", "seconds", "reason", "estimate", "races"),
        *("assumed", "bounded", "beyond", "handed_over", "unroll", "trace", "schedule", "engine", "finished", "limit"),
        *("told_apart", "jobs"),
        *("left", "weak_orders", "left_out", "memory_model", "why_interleavings", "equivalence"),
        *("suppressed_races", "suppressions", "config"),
    }
    assert result["verdict"] == "bug"
    assert result["bug"] == {
        "kind": "assertion",
        "message": "assertion `counter == 2` failed",
        "file": "lost_update.c",
        "line": 17,
        "thread": "main",
    }
    assert (result["engine"], result["algorithm"]) == ("stateless", "optimal")
    (race,) = result["races"]
    assert set(race) == {"object", "first", "second", "schedule"}
    assert (race["object"], race["first"]["line"], race["second"]["line"]) == ("counter", 7, 7)
    assert race["schedule"] is None
    code, out, _ = run(capsys, "check", "--json", "--race-schedules", "lost_update.c")
    (race,) = json.loads(out)["races"]
    assert race["schedule"]["race"] == [race["first"]["step"], race["second"]["step"]]
    Path("race.json").write_text(json.dumps(race))
    code, out, _ = run(capsys, "replay", "lost_update.c", "race.json")
    assert code == 1 and out.startswith("bug: data race on `counter`: lost_update.c:7 ")
    code, _, err = run(capsys, "check", "--race-schedules", "lost_update.c")
    assert code == 2 and "--race-schedules is for --json" in err
    code, out, _ = run(capsys, "check", "--race-schedules", "--json", "--engine", "stateful", "lost_update.c")
    assert code == 1 and all(race["schedule"] for race in json.loads(out)["races"])
    assert {"threads", "steps", "waiting", "cycle", "output"} <= set(result["trace"])
    last = result["trace"]["steps"][-1]
    assert (last["failed"], last["line"], last["statement"]) == (True, 17, "assert(counter == 2);")
    assert last["actions"][0] == {
        "kind": "read",
        "text": "reads counter = 1",
        "object": "counter",
        "read": "1",
        "written": None,
        "overwritten": None,
    }
    code, out, _ = run(capsys, "check", "--json", "correct.c")
    result = json.loads(out)
    assert code == 0
    assert (result["verdict"], result["bug"], result["trace"], result["schedule"]) == ("ok", None, None, None)


@pytest.mark.parametrize("program", ["lost_update.c", "lock_order.c", "use_after_free.c", "parcel.c"])
def test_replay_shows_the_same_execution(here: Path, capsys: pytest.CaptureFixture[str], program: str) -> None:
    code, out, _ = run(capsys, "check", "--json", program, "--save-schedule", "bug.json")
    Path("result.json").write_text(out)
    found = json.loads(out)
    assert code == 1
    for schedule in ("bug.json", "result.json"):
        code, out, _ = run(capsys, "replay", "--json", program, schedule)
        again = json.loads(out)
        assert code == 1
        assert (again["trace"], again["bug"], again["schedule"]) == (found["trace"], found["bug"], found["schedule"])


# ---------------------------------------------------------------------------------------------------- loops


def test_a_bound_that_is_met_is_3(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "loops.c", "--unroll", "4")
    assert code == 3
    assert lines(out) == [
        "incomplete: no bug within 4 iterations of each loop; 1 execution, which stops at the bound on loops (… s)"
    ]
    code, out, _ = run(capsys, "check", "loops.c", "--unroll", "4", "--json")
    result = json.loads(out)
    assert (code, result["verdict"], result["bounded"], result["unroll"]) == (3, "incomplete", 1, 4)
    assert (result["blocked"], result["complete"], result["reason"]) == (1, 0, None)


def test_a_bound_that_is_not_met_is_0(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "correct.c", "--unroll", "1")
    assert (code, out.startswith("verified")) == (0, True)


def test_an_execution_without_end_has_remedies(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "loops.c", "--max-steps", "100")
    assert code == 3
    assert lines(out)[0] == (
        "incomplete: no end within 100 steps, in the loop at loops.c:25 in main; allow more with --max-steps, bound "
        "the loop with --unroll (`mazurka loops` tells of each loop whether it is a mere wait), or try --engine "
        "stateful if it is not meant to end; 1 execution, which stops at a limit, no bug (… s)"
    )
    code, out, _ = run(capsys, "check", "loops.c", "--max-steps", "100", "--json")
    result = json.loads(out)
    assert (code, result["verdict"], result["bug"], result["beyond"]) == (3, "incomplete", None, 1)
    assert result["limit"]["kind"] == "too_many_steps" and result["limit"]["message"] == result["reason"]
    assert result["limit"]["loop"] == {"function": "main", "file": "loops.c", "line": 25}


def test_what_becomes_of_loops(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "loops", "loops.c")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "loops.c:25 in main",
        "  goes round as it is: writes changes (loops.c:25)",
        "loops.c:8 in worker",
        "  no change if flag == 0: the thread waits at loops.c:8",
        "loops.c:10 in worker",
        "  no change if lock == 1 and flag <= 4: the thread waits at loops.c:11",
        "loops.c:15 in worker",
        "  goes round as it is: changes i from one round to the next (loops.c:15)",
    ]
    Path("others.c").write_text("int main(int argc, char **argv) {\n while (argc > 2) {}\n for (;;) {}\n}\n")
    assert run(capsys, "loops", "others.c")[1].splitlines() == [
        "others.c:2 in main",
        "  no change if argc > 2: the thread stops at others.c:2",
        "others.c:3 in main",
        "  no round changes anything: the thread stops at others.c:3",
    ]
    assert run(capsys, "loops", "correct.c")[:2] == (0, "no loops\n")


def test_what_becomes_of_loops_as_json(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "loops", "--json", "loops.c")
    main, waits, *_ = json.loads(out)
    assert code == 0
    assert waits == {
        "function": "worker",
        "file": "loops.c",
        "line": 8,
        "idle": [{"condition": "flag == 0", "file": "loops.c", "line": 8, "awaited": True}],
        "obstacle": None,
    }
    assert (main["idle"], main["obstacle"]) == ([], "writes changes (loops.c:25)")
    assert json.loads(run(capsys, "loops", "--json", "correct.c")[1]) == []


def test_each_step_can_be_turned_off(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Printed, and counted: a thread that may come too early."""
    Path("spin.c").write_text(
        """
        #include <pthread.h>
        #include <stdatomic.h>
        atomic_int flag;
        void *wait(void *unused) { while (!atomic_load(&flag)) {} return unused; }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, wait, 0);
            atomic_store(&flag, 1);
            pthread_join(thread, 0);
        }
        """
    )
    printed = {
        (): ["guarded begin", ", loop"],
        ("--no-await",): [", loop"],
        ("--no-purity", "--unroll", "2"): [", bound"],
    }
    for options, expected in printed.items():
        _, out, _ = run(capsys, "print", "spin.c", *options)
        assert [word for word in ("guarded begin", ", loop", ", bound") if word in out] == expected
    counted = [
        run(capsys, "check", "spin.c", "--json", *options)[1]
        for options in ((), ("--no-await",), ("--no-purity", "--unroll", "2"))
    ]
    assert [tuple(json.loads(out)[key] for key in ("complete", "blocked", "bounded")) for out in counted] == [
        (1, 0, 0),
        (1, 1, 0),
        (2, 1, 1),
    ]


@pytest.mark.parametrize("options", [[], ["--no-purity", "--unroll", "3"], ["--no-await"]])
def test_a_schedule_knows_what_was_done_to_the_program(
    here: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    Path("late.c").write_text(
        """
        #include <assert.h>
        #include <pthread.h>
        #include <stdatomic.h>
        atomic_int flag, late;
        void *wait(void *unused) {
            while (!atomic_load(&flag)) {}
            assert(atomic_load(&late));
            return unused;
        }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, wait, 0);
            atomic_store(&flag, 1);
            atomic_store(&late, 1);
        }
        """
    )
    code, out, _ = run(capsys, "check", "late.c", "--json", "--save-schedule", "bug.json", *options)
    found = json.loads(out)
    assert code == 1
    assert found["schedule"]["transforms"] == {
        "purity": "--no-purity" not in options,
        "awaits": "--no-await" not in options,
        "unroll": 3 if "--unroll" in options else None,
        "memory": "sc",
    }
    code, out, _ = run(capsys, "replay", "late.c", "bug.json", "--json")
    again = json.loads(out)
    assert (code, again["bug"], again["trace"]) == (1, found["bug"], found["trace"])
    _, out, _ = run(capsys, "check", "late.c", *options)
    saving = " ".join(["mazurka check", *options, "late.c --save-schedule bug.json"])
    assert lines(out)[-2:] == [f"  {saving}", "  mazurka replay late.c bug.json"]


def test_a_livelock_can_be_allowed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("server.c").write_text(
        """
        #include <pthread.h>
        #include <stdatomic.h>
        atomic_int work;
        void *serve(void *unused) { for (;;) if (atomic_load(&work)) return unused; }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, serve, 0);
            pthread_exit(0);
        }
        """
    )
    code, out, _ = run(capsys, "check", "server.c", "--save-schedule", "bug.json")
    message = "livelock: main.1 goes round the loop at server.c:5 for ever, waiting for work (now 0) to change"
    assert (code, lines(out)[0]) == (1, f"bug: {message}")
    for command in (["check", "server.c"], ["replay", "server.c", "bug.json"]):
        code, out, _ = run(capsys, *command, "--allow-livelock")
        assert code == 0
        assert "where a loop would only go round again" in out and "assumption" not in out


# --------------------------------------------------------------------------------------------------- reports


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (Result(Verdict.OK, None, Executions("pop", 3432), 0.5), "verified: all 3,432 executions (0.50 s)"),
        (Result(Verdict.OK, None, Executions("pop", 1), 75.2), "verified: the only execution (75 s)"),
        (
            Result(Verdict.OK, None, Executions("pop", 5, 2, 9), 1),
            "verified: all 7 executions, 2 of which stop where a loop would only go round again (1.00 s, 9 more given "
            "up as equivalent)",
        ),
        (
            Result(Verdict.OK, None, Executions("pop", 5, 1, assumed=1), 1),
            "verified: all 6 executions, 1 of which stops at a false assumption (1.00 s)",
        ),
        (
            Result(Verdict.OK, None, Executions("pop", 5, 4, assumed=1), 1),
            "verified: all 9 executions, 1 of which stops at a false assumption and 3 where a loop would only go round "
            "again (1.00 s)",
        ),
        (
            Result(
                Verdict.INCOMPLETE, None, Executions("exhaustive", 0, 3, assumed=1, finished=True), 1, reason=VACUOUS
            ),
            "incomplete: no execution gets past what the program assumes, so nothing was checked to its end; 3 "
            "interleavings, 1 of which stops at a false assumption and 2 where a loop would only go round again "
            "(1.00 s)",
        ),
        (
            Result(Verdict.INCOMPLETE, None, Executions("pop", 0, 1, assumed=1, finished=True), 1, reason=VACUOUS),
            "incomplete: no execution gets past what the program assumes, so nothing was checked to its end; 1 "
            "execution, which stops at a false assumption (1.00 s)",
        ),
        (
            Result(Verdict.OK, None, Executions("pop", 0, 1), 1),
            "verified: the only execution, up to where a loop would only go round again (1.00 s)",
        ),
        (
            Result(Verdict.INCOMPLETE, None, Executions("pop", 119, 6, bounded=4, assumed=1, unroll=4), 1),
            "incomplete: no bug within 4 iterations of each loop; 125 executions, 4 of which stop at the bound on "
            "loops and 1 at a false assumption and 1 where a loop would only go round again (1.00 s)",
        ),
        (
            Result(Verdict.INCOMPLETE, None, Executions("pop", 0, 2, bounded=2, unroll=1), 1),
            "incomplete: no bug within 1 iteration of each loop; 2 executions, all of which stop at the bound on loops "
            "(1.00 s)",
        ),
        (
            Result(Verdict.INCOMPLETE, None, Executions("pop", 0, 1, bounded=1), 1),
            "incomplete: no bug within the bound on loops; 1 execution, which stops at the bound on loops (1.00 s)",
        ),
        (
            Result(Verdict.INCOMPLETE, None, Executions("pop", 5, 2, bounded=2, unroll=4), 1, reason="interrupted"),
            "incomplete: interrupted; stopped after 7 executions, 2 of which stop at the bound on loops, no bug so far "
            "(1.00 s)",
        ),
        (
            Result(Verdict.INCOMPLETE, None, Executions("exhaustive", 120000), 60, reason="interrupted"),
            "incomplete: interrupted; stopped after 120,000 interleavings, no bug so far (60 s)",
        ),
        (
            Result(Verdict.INCOMPLETE, None, Executions("pop", 120000, estimate=2_012_345), 60, reason="interrupted"),
            "incomplete: interrupted; stopped after 120,000 of about 2,000,000 executions, no bug so far (60 s)",
        ),
        (
            Result(Verdict.INCOMPLETE, None, Executions("pop", 1, estimate=2 * 10**19), 60, reason="interrupted"),
            "incomplete: interrupted; stopped after 1 of about 2·10^19 executions, no bug so far (60 s)",
        ),
        (
            Result(Verdict.INCOMPLETE, None, Executions("random", 1234), 2, reason="interrupted"),
            "incomplete: 1,234 random executions, no bug; interrupted (2.00 s)",
        ),
        (
            Result(Verdict.OK, None, Executions("optimal", 12), 1),
            "verified: all 12 executions (1.00 s, by the algorithm optimal)",
        ),
        (Result(Verdict.OK, None, Executions("replay", 1), 1), "this execution ends without a bug"),
        (
            Result(Verdict.OK, None, Executions("replay", 0, 1, assumed=1), 1),
            "this execution stops at a false assumption",
        ),
        (
            Result(Verdict.OK, None, Executions("replay", 0, 1), 1),
            "this execution stops where a loop would only go round again",
        ),
        (
            Result(Verdict.INCOMPLETE, None, Executions("replay", 0, 1, bounded=1, unroll=4), 1),
            "incomplete: this execution shows no bug within 4 iterations of each loop",
        ),
    ],
)
def test_verdicts_in_words(result: Result, words: str) -> None:
    assert summary(result) == words


@pytest.mark.parametrize(
    ("report", "words"),
    [
        ("lost_update", ["lost_update.c"]),
        ("lock_order", ["lock_order.c"]),
        ("use_after_free", ["use_after_free.c"]),
        ("race", ["lost_update.c", "--races", "error"]),
        ("livelock", ["parcel.c"]),
        ("deadlock", ["parcel.c", "--allow-livelock"]),
    ],
)
def test_reports_to_the_letter(here: Path, capsys: pytest.CaptureFixture[str], report: str, words: list[str]) -> None:
    _, out, _ = run(capsys, "check", *words, "--save-schedule", "bug.json")
    assert lines(out) == (REPORTS / f"{report}.txt").read_text().splitlines()


@pytest.mark.parametrize(
    ("action", "statement", "shown"),
    [
        ("f(&c, &m)", "f(&c, &m);", ""),
        ("f(&c, &m)", "f(&c,&m);", ""),
        ("f(&c, &m)", "while (x) f ( &c, &m );", ""),
        ("f(&c[1], &m)", "f (&c[i],&m);", "on &c[1], &m"),
        ("f(&c)", "g(&c);", "f(&c)"),
    ],
)
def test_what_a_statement_says_is_not_said_again(action: str, statement: str, shown: str) -> None:
    assert _shorter(Action("call", action), statement) == shown


def test_reports_leave_the_terminal_alone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("deep.c").rename("\x1b[31m.c")
    _, out, err = run(capsys, "check", "\x1b[31m.c", "missing\x1b.c")
    assert (out, err) == ("", "mazurka: missing\\x1b.c: no such file\n")
    _, out, _ = run(capsys, "check", "\x1b[31m.c")
    assert "\x1b" not in out
    assert any(line.startswith("\\x1b[31m.c:2   int nested") for line in lines(out))
    begin = lines(out).index("the program printed:")
    assert lines(out)[begin + 1 : begin + 5] == ["  \\x1b[31mred\\rend", "", "  last", ""]


def test_races_are_warned_of_after_the_verdict(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("racy.c").write_text(LOST_UPDATE.replace("    assert(counter == 2);\n", ""))
    code, out, _ = run(capsys, "check", "racy.c")
    verdict, warning, hint = lines(out)
    assert code == 0
    assert verdict.startswith("verified: all ")
    assert warning.startswith("warning: data race on `counter`: racy.c:7 (main.")
    assert hint.startswith("(--races error makes data races bugs")
    assert len(lines(run(capsys, "check", "racy.c", "--races", "ignore")[1])) == 1


def test_no_end_of_warnings(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = "".join(f"    x[{i}]++;\n" for i in range(12))
    Path("racy.c").write_text(
        LOST_UPDATE.replace("int counter", "int x[12]")
        .replace("    counter = counter + 1;\n", body)
        .replace("    assert(counter == 2);\n", "")
    )
    _, out, _ = run(capsys, "check", "racy.c", "--max-executions", "50")
    assert sum(line.startswith("warning: data race on `x[") for line in lines(out)) == 10
    assert "… and 2 more" in lines(out)


def test_narrow_terminals_get_a_list(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    _, out, _ = run(capsys, "check", "lost_update.c")
    assert "main.1 (worker)" in lines(out)
    assert "lost_update.c:7   counter = counter + 1;" in lines(out)


def test_color_only_where_it_is_wanted(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[" not in run(capsys, "check", "lost_update.c")[1]
    assert "\x1b[" in run(capsys, "check", "lost_update.c", "--color", "always")[1]
    assert "\x1b[" not in run(capsys, "check", "lost_update.c", "--color", "never")[1]


def test_progress_is_for_terminals(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "check", "endless.c", "--timeout", "0.4")[2] == ""
    _, _, err = interrupt_check(["endless.c"], b" of about")
    line = next(line for line in err.split("\r\x1b[K") if " of about" in line)
    assert re.fullmatch(r"[\d,]+ of about \S+ \(\d+%\) executions, [\d,]+ per second, depth \d+, \d+ s", line)
    assert on_terminal("check", "endless.c", "--timeout", "0.4", "--no-progress") == ""


def on_terminal(*words: str) -> str:
    """What a command line writes to its standard error when that is a terminal."""
    master, slave = pty.openpty()
    try:
        subprocess.run(
            [sys.executable, "-m", "mazurka.cli", *words],
            stdout=subprocess.DEVNULL,
            stderr=slave,
            timeout=30,
            check=False,
        )
        os.set_blocking(master, False)
        try:
            return os.read(master, 100_000).decode()
        except BlockingIOError:
            return ""
    finally:
        os.close(slave)
        os.close(master)


def test_print_shows_the_program(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "print", "lost_update.c")
    assert code == 0
    assert "worker" in out and "counter" in out


@pytest.mark.parametrize(
    ("body", "options", "told"),
    [
        ("int *p = calloc(1, sizeof(int)); *p = 1;", "--failing-malloc", "gets no memory"),
        (
            "atomic_int x = 0; int zero = 0; atomic_compare_exchange_weak(&x, &zero, 1); assert(x == 1);",
            "--spurious",
            "compare-exchange fails without a reason",
        ),
        (
            "int __VERIFIER_nondet_range(int, int); assert(__VERIFIER_nondet_range(3, 5) < 5);",
            "",
            "chooses 2 (of 0 to 2)",
        ),
    ],
)
def test_what_a_bug_comes_of_is_told_also_before_there_are_threads(
    body: str, options: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program.c"
    headers = "".join(f"#include <{name}.h>\n" for name in ("assert", "pthread", "stdatomic", "stdlib"))
    program.write_text(f"{headers}int main(void) {{\n{body}\nreturn 0;\n}}\n")
    assert cli.main(["check", str(program), *options.split()]) == 1
    out = capsys.readouterr().out
    assert told in out
    assert "__mazurka" not in out


def test_a_wake_up_without_a_signal_is_told_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "program.c"
    program.write_text("""\
#include <assert.h>
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int ready;
static void *work(void *unused) {
    pthread_mutex_lock(&m);
    if (!ready)
        pthread_cond_wait(&c, &m);
    assert(ready);
    pthread_mutex_unlock(&m);
    return 0;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    pthread_join(thread, 0);
    return 0;
}
""")
    assert cli.main(["check", str(program), "--spurious", "--json"]) == 1
    steps = json.loads(capsys.readouterr().out)["trace"]["steps"]
    told = [action["text"] for step in steps for action in step["actions"]]
    assert "pthread_cond_wait(&c, &m) wakes up without a signal" in told
