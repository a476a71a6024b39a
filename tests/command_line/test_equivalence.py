"""`--equivalence`: what a person types, and what is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mazurka
from mazurka import cli
from mazurka.engines.stateless import Progress
from mazurka.errors import InputError
from mazurka.reports.text import progress_line

# Five threads write one place in any order, and main reads one of them, or what was there.
WRITERS = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef ORDER
#define ORDER memory_order_seq_cst
#endif

static atomic_int x;

static void *writer(void *argument) {
    atomic_store_explicit(&x, (int)(long)argument, ORDER);
    return 0;
}

int main(void) {
    pthread_t threads[5];
    for (long i = 0; i < 5; ++i)
        pthread_create(&threads[i], 0, writer, (void *)(i + 1));
    int seen = atomic_load_explicit(&x, ORDER);
    for (int i = 0; i < 5; ++i)
        pthread_join(threads[i], 0);
#ifdef WRONG
    assert(seen != 3);
#endif
    return 0;
}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "writers.c").write_text(WRITERS)
    return tmp_path


def check(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = cli.main(["check", "writers.c", *words])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("memory", ["sc", "tso", "c11"])
def test_classes_are_counted_and_told(here: Path, capsys: pytest.CaptureFixture[str], memory: str) -> None:
    _, out, _ = check(capsys, "--memory", memory, "--equivalence", "reads-from")
    assert out.startswith(f"verified: all 6 reads-from classes of {'sc' if memory == 'c11' else memory} (")
    result = json.loads(check(capsys, "--memory", memory, "--equivalence", "reads-from", "--json")[1])
    assert (result["equivalence"], result["algorithm"], result["complete"]) == ("reads-from", "graphs", 6)
    assert result["memory_model"] == memory


def test_what_is_counted_otherwise(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    traces = ["--equivalence", "traces"]
    assert check(capsys, *traces)[1].startswith("verified: all 720 executions (")
    out = check(capsys, *traces, "--algorithm", "graphs", "--memory", "sc")[1]
    assert out.startswith("verified: all 720 execution graphs of sc (")
    result = json.loads(check(capsys, "--json", *traces, "--algorithm", "graphs")[1])
    assert (result["equivalence"], result["complete"]) == ("traces", 720)
    assert json.loads(check(capsys, "--json")[1])["equivalence"] is None


@pytest.mark.parametrize("memory", ["sc", "tso", "c11"])
def test_a_bug_is_shown_again(here: Path, capsys: pytest.CaptureFixture[str], memory: str) -> None:
    words = ["--memory", memory, "--equivalence", "reads-from", "-DWRONG"]
    code, out, _ = check(capsys, *words, "--save-schedule", "bug.json")
    assert code == 1 and out.startswith("bug: assertion `seen != 3` failed (writers.c:")
    assert "reads-from class" in out.splitlines()[1]
    assert cli.main(["replay", "writers.c", "-DWRONG", "bug.json"]) == 1
    assert capsys.readouterr().out.startswith("bug: assertion `seen != 3` failed (writers.c:")
    code, out, _ = check(capsys, *words)
    assert "--equivalence reads-from" in out  # to see it again


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--memory", "ra"], "--equivalence reads-from is for --memory sc and tso: under ra, leave it out"),
        (["--memory", "pso"], "--equivalence reads-from is for --memory sc and tso: under pso, leave it out"),
        (["--algorithm", "pop"], "--equivalence reads-from is for --algorithm graphs, not pop"),
        (["--engine", "stateful"], "--equivalence is for --engine stateless"),
        (["--leaks"], "--equivalence reads-from leaves open what is in memory at the end, where --leaks looks"),
        (["-DORDER=memory_order_relaxed"], "but the program asks for weaker orders than seq_cst (at writers.c:12)"),
    ],
)
def test_where_it_does_not_apply(here: Path, capsys: pytest.CaptureFixture[str], words: list[str], why: str) -> None:
    code, _, err = check(capsys, *words, "--equivalence", "reads-from")
    assert code == 2 and why in err


def test_from_python(here: Path) -> None:
    result = mazurka.check("writers.c", equivalence="reads-from", memory="tso")
    assert (result.executions.complete, result.executions.equivalence) == (6, "reads-from")
    with pytest.raises(InputError, match="equivalence can be traces, reads-from, not 'rf'"):
        mazurka.check("writers.c", equivalence="rf")


def test_progress_tells_classes() -> None:
    line = progress_line(Progress(12, 100, 5, 1, None, classes=True))
    assert line == "12 reads-from classes, 100 per second, depth 5, 1 s"
