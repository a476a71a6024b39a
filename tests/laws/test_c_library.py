"""Functions of the C library give in the machine what they give natively, on generated calls."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

import mazurka
from mazurka import Verdict
from tests.laws.test_differential import run_in_machine, run_natively
from tests.support import c_library

MAKERS: dict[str, Callable[[random.Random], list[str]]] = {
    "mathematics": c_library.mathematics,
    "wide integers": c_library.wide,
    "scanning": c_library.scanning,
}


def compare(maker: str, seed: int, rounds: int, folder: Path) -> None:
    r = random.Random(seed)
    source = folder / "program.c"
    source.write_text(c_library.program([line for _ in range(rounds) for line in MAKERS[maker](r)]))
    natively, in_machine = run_natively(source).splitlines(), run_in_machine(source).splitlines()
    text = source.read_text().splitlines()
    for expected, actual in zip(natively, in_machine, strict=False):
        if expected != actual:
            line = expected.split()[0]
            place = text[int(line) - 1].strip() if line.isdigit() and int(line) <= len(text) else ""
            pytest.fail(f"natively {expected!r}, in the machine {actual!r}: {place}")
    assert natively == in_machine


@pytest.mark.parametrize("maker", MAKERS)
def test_calls_give_what_they_give_natively(maker: str, tmp_path: Path) -> None:
    compare(maker, 1, 3, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("maker", MAKERS)
def test_many_calls_give_what_they_give_natively(maker: str, seed: int, tmp_path: Path) -> None:
    compare(maker, seed, 10, tmp_path)


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 60))])
def test_jumps_between_functions_lead_where_they_lead_natively(seed: int, tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(c_library.jumps(random.Random(seed)))
    assert run_natively(source).splitlines() == run_in_machine(source).splitlines()


THREADS = """    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    run(0);
    pthread_join(thread, 0);
    return 0;
}
"""


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 30))])
def test_going_back_over_jumps_restores_everything(seed: int, tmp_path: Path) -> None:
    """Two threads jump while they step on each other; whoever went back wrongly would find other executions."""
    text = c_library.jumps(random.Random(seed), 5)
    text = text.replace("#include <stdio.h>", "#include <pthread.h>\n#include <stdio.h>")
    text = text.replace(
        "static int go(", "static _Thread_local int left = 2;\nstatic _Atomic int shared;\nstatic int go("
    )
    text = text.replace("    kept++;\n", "    kept++;\n    if (left-- > 0)\n        kept += shared++ % 2;\n")
    text = text.replace(
        "int main(void) {\n    for (int i = 0; i < 3; i++)", "static void *run(void *unused) {\n    int i = 0;"
    )
    source = tmp_path / "program.c"
    source.write_text(text.replace(c_library.TAIL, THREADS))
    found = [
        mazurka.check(source, engine="stateless", algorithm=algorithm, seed=start, timeout=60)
        for algorithm, start in (("optimal", None), ("optimal", 3), ("pop", None))
    ]
    assert {result.verdict for result in found} == {Verdict.OK}, [str(result.bug or result.reason) for result in found]
    assert len({result.executions.complete for result in found}) == 1
