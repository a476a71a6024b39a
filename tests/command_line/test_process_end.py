"""What is said about how a process ends: who still waits, and with which status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mazurka import cli

POOL = """\
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void *work(void *unused) {
    pthread_mutex_lock(&mutex);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, 0, work, 0);
    if (x == 1)
        return 1;
    END;
}
"""
ENGINES = ["stateless", "stateful"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    Path("pool.c").write_text(POOL)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = cli.main(words)
    return code, capsys.readouterr().out


@pytest.mark.parametrize("engine", ENGINES)
def test_who_still_waits_when_main_returns(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "check", "pool.c", "-DEND=return 0", "--engine", engine)
    assert code == 0
    assert out.splitlines()[-1] == (
        "note: a thread still waits when main returns, which ends it: main.1 waits for mutex mutex, held by main, "
        "which has ended (pool.c:6)"
    )
    code, out = run(capsys, "check", "pool.c", "-DEND=return 0", "--engine", engine, "--json")
    [left] = json.loads(out)["left"]
    assert (left["thread"], left["line"], left["what"], left["object"]) == ("main.1", 6, "mutex", "mutex")


@pytest.mark.parametrize("engine", ENGINES)
def test_who_waits_for_a_thread_that_ends_is_in_a_deadlock(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "check", "pool.c", "-DEND=pthread_exit(0)", "--engine", engine)
    assert code == 1 and out.startswith("bug: deadlock: main.1 waits for mutex mutex, held by main, which has ended")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("return 258", "exit status 2: main returns 258"),
        ("exit(3)", "exit status 3: exit(3)"),
        ("quick_exit(-1)", "exit status 255: quick_exit(-1)"),
    ],
)
def test_a_status_is_told_with_where_it_comes_from(
    engine: str, end: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("pool.c", f"-DEND={end}")
    code, out = run(capsys, "check", *words, "--engine", engine, "--save-schedule", "bug.json")
    assert (code, out.splitlines()[0]) == (1, f"bug: {said} (pool.c:15, thread main)")
    assert f"✗ {said}" in out and ("returns 258" if "return" in end else "exits with status") in out
    code, out = run(capsys, "replay", *words, "bug.json", "--json")
    bug = json.loads(out)["bug"]
    assert (code, bug["kind"], bug["line"], bug["message"]) == (1, "exit", 15, said)
    code, out = run(capsys, "replay", *words, "bug.json", "--any-status")
    assert code in (0, 3) and "bug" not in out.splitlines()[0].replace("without a bug", "")
    code, out = run(capsys, "check", *words, "--engine", engine, "--any-status")
    assert code == 0 and out.startswith("verified")


def test_no_schedule_is_needed_for_who_waits_when_main_returns(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "schedule", "pool.c", "-DEND=return 5", "--until", "complete")
    assert code == 0 and "safe: no schedule of the program leads to a bug" in out
    code, out = run(capsys, "schedule", "pool.c", "-DEND=pthread_exit(0)", "--until", "complete")
    assert code == 1 and "deadlock: main.1 waits for mutex mutex" in out
