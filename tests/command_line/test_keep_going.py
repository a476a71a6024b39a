"""All bugs of a program at once, each once."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import mazurka
from mazurka import cli
from mazurka.reports import text

FOUR_BUGS = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x, y;
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void both(pthread_mutex_t *one, pthread_mutex_t *other) {
    pthread_mutex_lock(one);
    pthread_mutex_lock(other);
    pthread_mutex_unlock(other);
    pthread_mutex_unlock(one);
}
static void *first(void *unused) {
    both(&a, &b);
    assert(x == 0);
    return 0;
}
static void *second(void *unused) {
    both(&b, &a);
    x = 1;
    int *nothing = 0;
    if (y) *nothing = 1;
    return 0;
}
static void *third(void *unused) {
    y = 1;
    assert(x == 0);
    return 0;
}
int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, first, 0);
    pthread_create(&threads[1], 0, second, 0);
    pthread_create(&threads[2], 0, third, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
}
"""
KNOWN = {("assertion", 14), ("memory", 21), ("assertion", 26), ("deadlock", 8)}

# Threads that fail whatever the others do: there is one execution, up to the order of independent steps.
INDEPENDENT = """\
#include <assert.h>
#include <pthread.h>
static void *one(void *unused) { assert(!"one"); }
static void *two(void *unused) { assert(!"two"); }
int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, two, 0);
    pthread_create(&threads[2], 0, two, 0);
    pthread_join(threads[0], 0);
}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "four.c").write_text(FOUR_BUGS)
    (tmp_path / "independent.c").write_text(INDEPENDENT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "how",
    [{"algorithm": "pop"}, {"algorithm": "optimal"}, {"algorithm": "pop", "seed": 3}, {"engine": "stateful"}],
    ids=str,
)
def test_all_bugs_are_found_each_once_with_how_it_comes_about(here: Path, how: dict[str, Any]) -> None:
    result = mazurka.check("four.c", keep_going=True, **how)
    assert sorted((finding.bug.kind, finding.bug.line) for finding in result.bugs) == sorted(KNOWN)
    assert result.bugs[0].bug == result.bug
    assert (result.bugs[0].trace, result.bugs[0].schedule) == (result.trace, result.schedule)
    for finding in result.bugs:
        assert finding.schedule is not None
        again = mazurka.replay("four.c", finding.schedule)
        assert (again.bug, again.trace) == (finding.bug, finding.trace)
    if "engine" not in how:
        counts = [finding.executions or 0 for finding in result.bugs]
        assert all(0 < count <= result.executions.complete for count in counts)
        (deadlock,) = [finding for finding in result.bugs if finding.bug.kind == "deadlock"]
        assert deadlock.executions == 1


def test_without_it_there_is_one(here: Path) -> None:
    result = mazurka.check("four.c")
    assert [finding.bug for finding in result.bugs] == [result.bug]
    assert result.bugs[0].executions == 1
    assert mazurka.check("four.c", engine="stateful").bugs[0].executions is None


@pytest.mark.parametrize("algorithm", ["pop", "optimal", "exhaustive", "random"])
def test_threads_that_fail_in_the_same_execution(here: Path, algorithm: str) -> None:
    result = mazurka.check("independent.c", keep_going=True, algorithm=algorithm, max_executions=50)
    found = {finding.bug.message: finding for finding in result.bugs}
    assert set(found) == {'assertion `!"one"` failed', 'assertion `!"two"` failed'}
    assert result.bug == result.bugs[0].bug
    if algorithm in ("pop", "optimal"):
        assert result.executions.complete == 1
        assert [finding.executions for finding in result.bugs] == [1, 1]  # also of the two threads that fail alike


def test_races_are_among_them_if_they_are_bugs(here: Path) -> None:
    Path("races.c").write_text(
        "#include <assert.h>\n#include <pthread.h>\nint x, y;\n"
        "static void *run(void *unused) {\n  x = 1;\n  y = 1;\n  return 0;\n}\n"
        "int main(void) {\n  pthread_t thread;\n  pthread_create(&thread, 0, run, 0);\n"
        "  x = 2;\n  assert(y == 0);\n  pthread_join(thread, 0);\n}\n"
    )
    result = mazurka.check("races.c", keep_going=True, races="error")
    assert sorted((finding.bug.kind, finding.bug.line) for finding in result.bugs if finding.bug.kind != "race") == [
        ("assertion", 13)
    ]
    races = [finding for finding in result.bugs if finding.bug.kind == "race"]
    assert {finding.bug.message for finding in races} == {str(race) for race in result.races}
    assert len(races) == 2
    report = io.StringIO()
    text.write(result, report, color="never")
    assert "warning" not in report.getvalue()
    warned = mazurka.check("races.c", keep_going=True)
    assert [finding.bug.kind for finding in warned.bugs] == ["assertion"]


def test_the_report_and_the_json(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check", "four.c", "--keep-going"]) == 1
    out = capsys.readouterr().out
    assert "; 4 different bugs, this is the first, in " in out
    for number in (2, 3, 4):
        assert out.count(f"\nbug {number} of 4: ") == 1
    assert out.count("✗") >= 4
    assert "\nto see the first one again:\n" in out
    assert cli.main(["check", "four.c", "--keep-going", "--json"]) == 1
    bugs = json.loads(capsys.readouterr().out)["bugs"]
    assert {(bug["kind"], bug["line"]) for bug in bugs} == KNOWN
    assert [bug["trace"] is None for bug in bugs] == [bug["schedule"] is None for bug in bugs] == [True] + [False] * 3
    Path("other.json").write_text(json.dumps(bugs[2]["schedule"]))
    assert cli.main(["replay", "four.c", "other.json", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["bug"]["message"] == bugs[2]["message"]


def test_of_very_many_bugs_some_are_shown(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = "\n".join(f"  if (choice == {number}) abort();" for number in range(130))
    Path("many.c").write_text(
        "#include <stdlib.h>\nint __VERIFIER_nondet_range(int, int);\n"
        f"int main(void) {{\n  int choice = __VERIFIER_nondet_range(0, 129);\n{lines}\n}}\n"
    )
    assert cli.main(["check", "many.c", "--keep-going"]) == 1
    out = capsys.readouterr().out
    assert out.count("\nbug ") == 20
    assert "\n… and 79 more, which --json has\n" in out


def test_a_data_race_after_the_first_bug_comes_with_its_schedule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "races.c"
    program.write_text(
        "#include <pthread.h>\n"
        "int one, two;\n"
        "static void *add(void *unused) { one++; two++; return 0; }\n"
        "int main(void) {\n"
        "    pthread_t thread;\n"
        "    pthread_create(&thread, 0, add, 0);\n"
        "    add(0);\n"
        "    pthread_join(thread, 0);\n"
        "}\n"
    )
    words = ["check", str(program), "--keep-going", "--races", "error"]
    assert cli.main(words) == 1
    assert "(--json has its schedule, which mazurka replay shows)" in capsys.readouterr().out
    assert cli.main([*words, "--json"]) == 1
    first, second = json.loads(capsys.readouterr().out)["bugs"]
    assert (first["kind"], second["kind"], second["trace"]) == ("race", "race", None)
    schedule = tmp_path / "schedule.json"
    schedule.write_text(json.dumps(second["schedule"]))
    assert cli.main(["replay", str(program), str(schedule), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["bug"]["message"] == second["message"]


GOES_ON = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int ready, rounds;
static void *poll(void *unused) {
    while (!ready) rounds++;
    return 0;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, poll, 0);
    assert(rounds != 1);
    ready = 1;
    pthread_join(thread, 0);
}
"""


@pytest.mark.parametrize(
    ("options", "where"),
    [(["--max-steps", "50"], "stop at a limit"), (["--unroll", "3"], "stop at the bound on loops")],
)
def test_executions_that_are_cut_short_are_told_with_the_bugs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], where: str
) -> None:
    file = tmp_path / "goes_on.c"
    file.write_text(GOES_ON)
    assert cli.main(["check", str(file), "--engine", "stateless", "--keep-going", *options]) == 1
    assert f"of which {where} (" in capsys.readouterr().out


@pytest.mark.parametrize("source", [FOUR_BUGS, INDEPENDENT])
def test_graphs_count_as_interleavings_do(source: str, tmp_path: Path) -> None:
    (path := tmp_path / "bugs.c").write_text(source)

    def counted(**how: Any) -> dict[tuple[str, int | None], int | None]:
        result = mazurka.check(path, memory="sc", keep_going=True, **how)
        return {(found.bug.kind, found.bug.line): found.executions for found in result.bugs}

    assert counted(algorithm="graphs") == counted(algorithm="optimal", commute=False)


LATE = """\
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
atomic_int *block, told;
static void *user(void *unused) {
    atomic_load_explicit(&told, memory_order_relaxed);
    atomic_store_explicit(block, 1, memory_order_relaxed);
    return 0;
}
static void *owner(void *unused) {
    atomic_store_explicit(&told, 1, memory_order_relaxed);
    free(block);
    return 0;
}
int main(void) {
    block = malloc(sizeof *block);
    pthread_t threads[2];
    pthread_create(&threads[0], 0, user, 0);
    pthread_create(&threads[1], 0, owner, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}
"""


def test_a_use_after_free_counts_in_each_graph(tmp_path: Path) -> None:
    (path := tmp_path / "late.c").write_text(LATE)
    (found,) = mazurka.check(path, keep_going=True).bugs
    assert (found.bug.kind, found.executions) == ("memory", 2)  # whether it has been told or not
