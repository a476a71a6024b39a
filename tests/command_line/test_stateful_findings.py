"""What the stateful engine finds besides failures and deadlocks: data races, livelocks; and bugs near the start of
programs that never end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import mazurka
from mazurka import Result, Verdict, cli

HEAD = """
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
int data, shown;
atomic_int flag, count;
"""

TWO = """
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, first, 0);
    pthread_create(&other, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
"""


def program(first: str, second: str) -> str:
    return f"{HEAD}void *first(void *p) {{ {first} return 0; }}\nvoid *second(void *p) {{ {second} return 0; }}\n{TWO}"


def check(tmp_path: Path, text: str, **options: Any) -> Result:
    path = tmp_path / "program.c"
    path.write_text(text)
    return mazurka.check(path, engine="stateful", **options)


SERVER = "for (;;) { pthread_mutex_lock(&m); %s pthread_mutex_unlock(&m); }"

RACES = {
    "unprotected, beside a server": ("data = 1; for (;;) sched_yield();", "shown = data;", 1),
    "two locks": (
        "for (;;) { pthread_mutex_lock(&m); data = 1; pthread_mutex_unlock(&m); }",
        "for (;;) { pthread_mutex_lock(&n); data = 2; pthread_mutex_unlock(&n); }",
        1,
    ),
    "one lock": (SERVER % "data = 1;", SERVER % "data = 2;", 0),
    "a message": ("data = 1; flag = 1;", "while (!flag) sched_yield(); shown = data;", 0),
    "a message too early": ("flag = 1; data = 1;", "while (!flag) sched_yield(); shown = data;", 1),
    "an atomic access inside of a section": (
        "pthread_mutex_lock(&m); *(int *)&flag = 1; pthread_mutex_unlock(&m);",
        "pthread_mutex_lock(&n); flag = 2; pthread_mutex_unlock(&n);",
        1,
    ),
}


@pytest.mark.parametrize("name", RACES)
@pytest.mark.parametrize("reduction", ["cpc", "cycle-detection", "none"])
def test_data_races(tmp_path: Path, name: str, reduction: str) -> None:
    first, second, races = RACES[name]
    text = program(first, second)
    result = check(tmp_path, text, reduction=reduction)
    assert (result.verdict, len(result.races)) == (Verdict.OK, races)
    result = check(tmp_path, text, reduction=reduction, races="error")
    assert (result.verdict is Verdict.BUG) == bool(races)
    if races:
        assert result.bug is not None and result.bug.kind == "race"
        assert result.schedule is not None and result.schedule.race is not None
        again = mazurka.replay(tmp_path / "program.c", result.schedule)
        assert again.bug == result.bug
        assert check(tmp_path, text, reduction=reduction, races="error", suppress_race=["object:*"]).bug is None
    ignoring = check(tmp_path, text, reduction=reduction, races="ignore")
    assert (ignoring.verdict, ignoring.races) == (Verdict.OK, ())


def test_reports_say_what_was_looked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program.c"
    path.write_text(program(*RACES["two locks"][:2]))
    command = ["check", "--engine", "stateful", str(path)]
    assert cli.main(command) == 0
    said = capsys.readouterr().out
    assert "data race on" in said and "not looked for" not in said
    assert cli.main([*command, "--races", "ignore", "--allow-livelock"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("; data races and livelocks were not looked for")
    assert cli.main([*command, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["races"]) == 1
    assert cli.main([*command, "--json", "--races", "ignore"]) == 0
    assert json.loads(capsys.readouterr().out)["races"] is None


WAIT = "while (!flag) sched_yield();"

LIVELOCKS = {
    "nobody sets the flag": (WAIT, "pthread_mutex_lock(&m); pthread_mutex_unlock(&m);", True),
    "each waits for the other": ("while (flag != 1); flag = 2;", "while (flag != 2); flag = 1;", True),
    "polling with a lock": (
        "int done = 0; while (!done) { pthread_mutex_lock(&m); done = data; pthread_mutex_unlock(&m); }",
        "",
        True,
    ),
    "a lock that is never given back": (
        "pthread_mutex_lock(&m);",
        "while (pthread_mutex_trylock(&m)) sched_yield(); pthread_mutex_unlock(&m);",
        True,
    ),
    "one in a loop, one at a lock": (
        "pthread_mutex_lock(&m); " + WAIT + " pthread_mutex_unlock(&m);",
        "pthread_mutex_lock(&m); flag = 1; pthread_mutex_unlock(&m);",
        True,
    ),
    "a server that polls, and nobody asks any more": ("for (;;) { while (!flag); flag = 0; }", "flag = 1;", True),
    "in a function": ("while (!seen()) sched_yield();", "", True),
    "the flag comes": (WAIT, "flag = 1;", False),
    "a server that does nothing": (SERVER % "", SERVER % "", False),
    "a server that asserts": (SERVER % "assert(!data);", SERVER % "assert(!data);", False),
    "a server of many rounds": (
        "for (;;) for (int i = 0; i < 3; i++) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }",
        "",
        False,
    ),
    "a server that looks for something to do": ("for (;;) { if (flag) flag = 0; sched_yield(); }", "flag = 1;", False),
    "somebody goes on by design": (WAIT, "for (;;) sched_yield();", False),
    "a value that changes": ("while (flag != 2) flag = !flag;", "", False),
}


@pytest.mark.parametrize("name", LIVELOCKS)
@pytest.mark.parametrize("reduction", ["cpc", "cycle-detection", "none"])
def test_livelocks(tmp_path: Path, name: str, reduction: str) -> None:
    first, second, livelock = LIVELOCKS[name]
    text = program(first, second).replace("void *first", "int seen(void) { return flag; }\nvoid *first", 1)
    result = check(tmp_path, text, reduction=reduction)
    assert result.verdict is (Verdict.BUG if livelock else Verdict.OK)
    if livelock:
        assert result.bug is not None and result.bug.kind == "livelock" and "for ever" in result.bug.message
        assert result.schedule is not None
        assert mazurka.replay(tmp_path / "program.c", result.schedule).bug == result.bug
        assert mazurka.replay(tmp_path / "program.c", result.schedule, allow_livelock=True).bug is None
    assert check(tmp_path, text, reduction=reduction, allow_livelock=True).verdict is Verdict.OK


def test_main_that_returns_ends_those_who_wait(tmp_path: Path) -> None:
    text = program(WAIT, "").replace("    pthread_join(one, 0);\n", "")
    assert check(tmp_path, text).verdict is Verdict.OK


def test_a_livelock_says_who_waits_for_what(tmp_path: Path) -> None:
    result = check(tmp_path, program(*LIVELOCKS["one in a loop, one at a lock"][:2]))
    assert result.bug is not None
    line = next(
        number for number, text in enumerate((tmp_path / "program.c").read_text().splitlines(), 1) if WAIT in text
    )
    assert (
        f"main.1 goes round the loop at {tmp_path / 'program.c'}:{line} for ever, waiting for flag (now 0) to change"
        in (result.bug.message)
    )
    assert "main.2 waits for mutex m" in result.bug.message


COUNTING = "for (;;) count++;"
SHALLOW = {
    "assertion": ("data = 1; data++; data++; assert(data < 3);", "assertion"),
    "deadlock": ("pthread_mutex_lock(&m); pthread_mutex_lock(&m);", "deadlock"),
    "race": ("shown = 1;", None),
}


@pytest.mark.parametrize("name", SHALLOW)
@pytest.mark.parametrize("counts_first", [False, True])
def test_what_is_near_the_start_is_found_beside_what_grows(tmp_path: Path, name: str, counts_first: bool) -> None:
    body, kind = SHALLOW[name]
    counting = "shown = 2; " + COUNTING if name == "race" else COUNTING
    text = program(counting, body) if counts_first else program(body, counting)
    result = check(tmp_path, text, max_states=100_000)
    if kind is None:
        assert result.verdict is Verdict.INCOMPLETE and len(result.races) == 1
        assert result.races[0].schedule is not None and len(result.races[0].schedule.steps) < 30
    else:
        assert result.bug is not None and result.bug.kind == kind
        assert result.schedule is not None and len(result.schedule.steps) < 30
