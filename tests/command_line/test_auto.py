"""The engine that nobody has to choose: what ends goes to the stateless one, what does not to the stateful one."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import mazurka
from mazurka import Executions, Result, States, Verdict, cli
from mazurka.program.builder import ProgramBuilder
from mazurka.program.program import Program
from mazurka.transforms import prepare
from mazurka.transforms.loops.staying import loops_stay
from tests import ROOT

HEAD = """
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int data;
"""

TWO = """
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, first, 0);
    pthread_create(&other, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    assert(data == RESULT);
    return 0;
}
"""

# A round changes what others could see, and changes it back: no round is like any other that merely waits.
COUNTED_POLLING = (
    HEAD
    + """
int tries[2], ready;
void *first(void *unused) {
    int done = 0;
    while (!done) {
        pthread_mutex_lock(&m);
        tries[0] = 1;
        done = ready;
        tries[0] = 0;
        pthread_mutex_unlock(&m);
        usleep(1);
    }
    return 0;
}
void *second(void *unused) {
    pthread_mutex_lock(&m);
    data++;
    ready = 1;
    pthread_mutex_unlock(&m);
    return 0;
}
"""
    + TWO
)

# As many states as there are numbers.
GROWING = (
    HEAD
    + """
atomic_ulong count;
atomic_int ready;
void *first(void *unused) {
    while (!atomic_load(&ready)) atomic_fetch_add(&count, 1);
    return 0;
}
void *second(void *unused) {
    data++;
    atomic_store(&ready, 1);
    return 0;
}
"""
    + TWO
)


def check(tmp_path: Path, text: str, **options: Any) -> Result:
    path = tmp_path / "program.c"
    path.write_text(text)
    return mazurka.check(path, compiler_arguments=["-DRESULT=1"], **options)


def test_philosophers_just_work() -> None:
    result = mazurka.check(ROOT / "examples" / "philosophers.c")
    assert (result.verdict, result.states.visited) == (Verdict.OK, 244)
    assert result.states.handed_over is not None
    assert result.states.handed_over.startswith("the program can go round for ever (")
    assert result.states.handed_over.endswith("philosophers.c:44 in dine)")
    result = mazurka.check(ROOT / "examples" / "philosophers.c", compiler_arguments=["-DDEADLOCK"])
    assert result.bug is not None and result.bug.kind == "deadlock"


def test_what_ends_is_executed() -> None:
    for name in ("lost_update.c", "queue.c", "parcel.c", "lock_order.c", "use_after_free.c"):
        automatic, stateless = (
            mazurka.check(ROOT / "examples" / name, engine=engine) for engine in ("auto", "stateless")
        )
        assert (automatic.verdict, automatic.bug, automatic.executions) == (
            stateless.verdict,
            stateless.bug,
            stateless.executions,
        )


def test_polling_is_no_bug(tmp_path: Path) -> None:
    result = check(tmp_path, COUNTED_POLLING)
    assert (result.verdict, result.bug) == (Verdict.OK, None)
    assert isinstance(result.coverage, States)
    result = check(tmp_path, COUNTED_POLLING.replace("data++", "data = 2"))
    assert result.bug is not None and result.bug.kind == "assertion"
    assert result.schedule is not None
    again = mazurka.replay(tmp_path / "program.c", result.schedule, compiler_arguments=["-DRESULT=1"])
    assert again.bug == result.bug


@pytest.mark.slow
def test_where_something_grows_the_answer_is_incomplete_and_says_why(tmp_path: Path) -> None:
    result = check(tmp_path, GROWING, timeout=60)
    assert (result.verdict, result.bug) == (Verdict.INCOMPLETE, None)
    assert result.states.handed_over is not None and "steps" in result.states.handed_over


def test_the_report_says_which_engine_and_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = ROOT / "examples" / "philosophers.c"
    assert cli.main(["check", "-DN=2", str(path)]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"by the engine stateful, since the program can go round for ever ({path}:44 in dine)"
    assert cli.main(["check", "-DN=2", "--json", str(path)]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["engine"] == "stateful"
    assert result["handed_over"] == f"the program can go round for ever ({path}:44 in dine)"


@pytest.mark.parametrize(
    ("option", "coverage"),
    [
        ({"algorithm": "optimal"}, Executions),
        ({"seed": 1}, Executions),
        ({"max_steps": 500}, Executions),
        ({"max_executions": 5}, Executions),
        ({"purity": False}, Executions),
        ({"reduction": "none"}, States),
        ({"exact": True}, States),
        ({"max_states": 1000}, States),
        ({"max_memory": 1 << 30}, States),
        ({"keep_going": True}, States),
    ],
)
def test_options_that_fit_one_engine_decide(tmp_path: Path, option: dict[str, Any], coverage: type) -> None:
    assert isinstance(check(tmp_path, COUNTED_POLLING, timeout=0.5, **option).coverage, coverage)


def test_options_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        mazurka.InputError, match=r"^--algorithm is for --engine stateless, but --exact is for --engine "
    ):
        check(tmp_path, COUNTED_POLLING, algorithm="pop", exact=True)


# ------------------------------------------------------------------------------------------------ programs


def waiting(rounds: int | None) -> Program:
    """A thread that goes round, for ever or so often."""
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("worker") as f:
        if rounds is None:
            with f.loop():
                f.store(x, f.xor(f.load(x), 1))
        else:
            with f.repeat(rounds):
                f.store(x, f.xor(f.load(x), 1))
    with p.function("main") as f:
        f.spawn("worker")
        f.store(x, 1)
    return p.build()


def test_a_program_goes_where_it_belongs() -> None:
    assert isinstance(mazurka.check(waiting(3)).coverage, Executions)
    assert isinstance(mazurka.check(waiting(None)).coverage, States)


def test_a_program_whose_loops_were_cut_short_stays_with_the_stateless_engine() -> None:
    result = mazurka.check(prepare(waiting(None), unroll=3))
    assert isinstance(result.coverage, Executions) and result.coverage.bounded


def test_loops_that_count_are_known_to_end() -> None:
    assert loops_stay(prepare(waiting(None)))
    assert not loops_stay(prepare(waiting(3)))


def test_a_thread_that_only_computes_takes_no_memory_to_see_whether_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "counting.c"
    path.write_text("#include <stdatomic.h>\natomic_uint x;\nint main(void) { for (;;) x++; }\n")
    most = 1500 << 20
    checked = subprocess.run(
        [sys.executable, "-m", "mazurka.cli", "check", path],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
    )
    assert checked.returncode == 3
    assert checked.stdout.startswith("incomplete: no end within 10,000,000 instructions")
