"""Rounds that are alike are told once, and nothing is lost by that."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import mazurka
from mazurka.reports import text
from mazurka.reports.folding import Run, fold


@given(st.lists(st.integers(0, 2), max_size=40))
def test_unfolding_gives_the_same(keys: Sequence[int]) -> None:
    runs = fold(keys)
    assert [run.start for run in runs] == [0, *(run.end for run in runs)][: len(runs)]
    unfolded = [key for run in runs for key in list(keys[run.start : run.start + run.period]) * run.rounds]
    assert unfolded == list(keys)


def test_rounds_are_found_between_other_things() -> None:
    assert fold("xabababy") == [Run(0, 1), Run(1, 2, 3), Run(7, 1)]
    assert fold("aaaa") == [Run(0, 1, 4)]
    assert fold("abcabc") == [Run(0, 3, 2)]
    assert fold("aab") == [Run(0, 3)]  # one line less is no gain
    assert fold("") == []


SOURCE = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x;
void *worker(void *unused) {
    for (int i = 0; i < 5; i++) {
        int old = atomic_load(&x);
        atomic_store(&x, old + 1);
    }
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    pthread_join(thread, 0);
    assert(atomic_load(&x) != 5);
}
"""


def test_reports_fold_and_json_does_not(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text(SOURCE)
    result = mazurka.check(path)
    out = io.StringIO()
    text.write(result, out, width=120)
    words = " ".join(re.sub(r"[─↻]", " ", out.getvalue()).split())
    assert words.count("atomic_store(&x, old + 1);") == 1
    assert "4 more rounds, the last one: reads x = 4 writes x = 5" in words
    assert result.trace is not None
    written = [
        a["written"] for step in result.trace.to_json()["steps"] for a in step["actions"] if a["kind"] == "write"
    ]
    assert written == ["1", "2", "3", "4", "5"]
