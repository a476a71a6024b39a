"""The ten programs of the paper on POP: an optimal algorithm explores exactly as many executions as there are."""

from __future__ import annotations

import pytest

from benchmarks.table import ALGORITHMS, BENCHMARKS, Algorithm, Row, explore, measure_apart

# As measured by the authors.
PAPER = {
    "circular-buffer": {7: 3432, 8: 12870, 9: 48620},
    "fib-bench": {4: 19605, 5: 218243, 6: 2364418},
    "linuxrwlocks": {6: 99442, 7: 829168, 8: 6984234},
    "filesystem": {22: 512, 24: 2048, 26: 8192},
    "indexer": {15: 4096, 16: 32768, 17: 262144},
    "lastzero": {10: 3328, 15: 147456, 20: 6029312},
    "exp-mem3": {7: 10080, 8: 80640, 9: 725760},
    "dispatcher": {4: 6854, 5: 151032, 6: 4057388},
    "poke": {10: 135944, 15: 728559, 20: 2366924},
    "length-param": {1024: 4, 8196: 4, 65536: 4},
}
# What takes more than a few minutes.
TOO_LARGE = {
    "pop": {("linuxrwlocks", 8), ("dispatcher", 6), ("poke", 20)},
    "optimal": {
        ("linuxrwlocks", 8), ("indexer", 17), ("lastzero", 20), ("dispatcher", 6), ("poke", 15), ("poke", 20),
    },
}  # fmt: skip
LARGER = [
    Row(name, n, algorithm)
    for algorithm in ALGORITHMS
    for name, counts in PAPER.items()
    for n in counts
    if (name, n) not in TOO_LARGE[algorithm]
]
MOST_MEMORY = 20 * 2**20  # of `pop`, whatever the number of executions ...
LONG = {("poke", 15), ("length-param", 65536)}  # ... unless they are very long


@pytest.mark.parametrize("name", BENCHMARKS)
def test_expected_counts_are_those_of_the_paper(name: str) -> None:
    assert {n: BENCHMARKS[name].executions(n) for n in PAPER[name]} == PAPER[name]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", BENCHMARKS)
def test_small(name: str, algorithm: Algorithm) -> None:
    row = Row(name, BENCHMARKS[name].small, algorithm)
    assert list(explore(row.load(), algorithm).problems(row.expected())) == []


@pytest.mark.slow
@pytest.mark.parametrize("row", LARGER, ids=lambda row: f"{row}-{row.algorithm}")
def test_larger(row: Row) -> None:
    measured = measure_apart(row)
    assert list(measured.outcome.problems(row.expected())) == []
    assert row.algorithm != "pop" or (row.name, row.n) in LONG or measured.memory <= MOST_MEMORY
