"""The stateful engine as its users see it: verdicts, limits, options, schedules, reports."""

from __future__ import annotations

import io
import json
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest

import mazurka
from mazurka import Bug, Progress, Result, StateProgress, States, Verdict, cli
from mazurka.deadline import NEVER
from mazurka.engines import running
from mazurka.engines.stateful import PAUSE_AFTER, default_memory_limit
from mazurka.program.builder import ProgramBuilder
from mazurka.program.program import Program
from mazurka.reports.text import progress_line, summary, write
from mazurka.sizes import format_size, parse_size
from mazurka.transforms import prepare
from tests.support.interrupting import interrupt_check, until_told

REDUCTIONS = ["cpc", "cycle-detection", "none"]

# Two threads that never end, and a third party that does.
FOREVER = """
#include <assert.h>
#include <pthread.h>

pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
int user;

void *work(void *name) {
    pthread_mutex_t *one = &first, *other = &second;
#ifdef DEADLOCK
    if (name) {
        one = &second;
        other = &first;
    }
#endif
    for (;;) {
        pthread_mutex_lock(one);
        pthread_mutex_lock(other);
        user = name != 0;
        assert(user == (name != 0));
        pthread_mutex_unlock(other);
        pthread_mutex_unlock(one);
    }
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, work, 0);
    pthread_create(&threads[1], 0, work, "other");
    pthread_join(threads[0], 0);
}
"""

# The assertion fails while the first thread goes round a loop that does nothing: a reduction that is not careful never
# lets the second one run.
IGNORING = """
#include <assert.h>
#include <pthread.h>
int g;
void *one(void *unused) {
    g = 1;
    for (;;) {
    }
}
void *two(void *unused) {
    assert(g == 0);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, one, 0);
    pthread_create(&thread, 0, two, 0);
    pthread_exit(0);
}
"""

# A circle of two, while a third thread goes on for ever.
CIRCLE = FOREVER.replace(
    "int main(void) {",
    """
void *idle(void *unused) {
    for (;;) {
    }
}

int main(void) {
    pthread_t third;
    pthread_create(&third, 0, idle, 0);
""",
)

# A thread gets out of what looks like a circle by another choice.
WAY_OUT = """
#include <pthread.h>
extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_atomic_begin(void), __VERIFIER_atomic_end(void);
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
void *one(void *unused) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return unused;
}
void *two(void *unused) {
    pthread_mutex_lock(&b);
    __VERIFIER_atomic_begin();
    if (__VERIFIER_nondet_bool()) {
        pthread_mutex_lock(&a);
        pthread_mutex_unlock(&a);
    }
    __VERIFIER_atomic_end();
    pthread_mutex_unlock(&b);
    return unused;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, two, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
}
"""

# Too many states for anybody to wait for.
COUNTING = """
#include <pthread.h>
#include <stdatomic.h>
atomic_ulong counters[3];
void *count(void *counter) {
    for (;;) atomic_fetch_add((atomic_ulong *)counter, 1);
}
int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, count, &counters[i]);
    pthread_join(threads[0], 0);
}
"""

# More instructions on its own than one step may have, and then a failure.
COMPUTING = """
#include <assert.h>
#include <pthread.h>
void *compute(void *unused) {
    int sum = 0;
    for (int i = 0; i < 20000; i++) sum = (sum + i) % 7;
    assert(sum < 0);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, compute, 0);
    pthread_join(thread, 0);
}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the programs above, as the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name, text in (
        ("forever.c", FOREVER),
        ("ignoring.c", IGNORING),
        ("circle.c", CIRCLE),
        ("way_out.c", WAY_OUT),
        ("counting.c", COUNTING),
        ("computing.c", COMPUTING),
    ):
        (tmp_path / name).write_text(text)
    return tmp_path


def check(file: str, *options: str, **others: Any) -> Result:
    return mazurka.check(file, engine="stateful", compiler_arguments=options, **others)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str]]:
    """The exit code and the lines of the standard output of `mazurka check --engine stateful`."""
    code = cli.main(["check", "--engine", "stateful", *words])
    return code, capsys.readouterr().out.splitlines()


# ------------------------------------------------------------------------------------------------ verdicts


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_a_program_that_never_ends_is_verified(here: Path, reduction: str, exact: bool) -> None:
    result = check("forever.c", reduction=reduction, exact=exact)
    assert (result.verdict, result.bug, result.reason, result.trace) == (Verdict.OK, None, None, None)
    states = result.states
    assert (states.reduction, states.exact, states.finished, states.sound) == (reduction, exact, True, True)
    assert 0 < states.visited <= states.transitions
    assert (states.depth, states.deepest > 0, states.memory > 0, states.per_second > 0) == (0, True, True, True)
    with pytest.raises(TypeError, match="states, not executions"):
        _ = result.executions


@pytest.mark.parametrize("reduction", [*REDUCTIONS, "unsound"])
def test_a_deadlock_is_found_and_replayed(here: Path, reduction: str) -> None:
    result = check("forever.c", "-DDEADLOCK", reduction=reduction)
    assert result.bug is not None and result.trace is not None and result.schedule is not None
    assert (result.verdict, result.bug.kind, result.reason) == (Verdict.BUG, "deadlock", None)
    assert set(result.trace.cycle) == {"main.1", "main.2"}
    assert not result.states.finished
    again = mazurka.replay("forever.c", result.schedule, compiler_arguments=["-DDEADLOCK"])
    assert (again.verdict, again.bug, again.trace) == (Verdict.BUG, result.bug, result.trace)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_nobody_is_ignored_for_ever(here: Path, reduction: str) -> None:
    result = check("ignoring.c", reduction=reduction)
    assert result.bug is not None
    assert (result.bug.kind, result.bug.message) == ("assertion", "assertion `g == 0` failed")


def test_the_unsound_reduction_verifies_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, (verdict, remark, *_) = run(capsys, "ignoring.c", "--reduction", "unsound")
    assert code == 3
    assert verdict.startswith("incomplete: no bug found, but the unsound reduction can miss bugs; ")
    assert "by the unsound reduction, which can miss bugs" in remark
    code, out = run(capsys, "ignoring.c", "--reduction", "unsound", "--json")
    result = json.loads("\n".join(out))
    assert (code, result["verdict"], result["reduction"]) == (3, "incomplete", "unsound")
    assert (result["sound"], result["finished"]) == (False, True)
    assert result["reason"] == "the unsound reduction can miss bugs"


def test_a_bug_of_the_unsound_reduction_is_real_and_marked(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "forever.c", "-DDEADLOCK", "--reduction", "unsound", "--json")
    result = json.loads("\n".join(out))
    assert (code, result["verdict"], result["sound"], result["reason"]) == (1, "bug", False, None)
    code, out = run(capsys, "forever.c", "-DDEADLOCK", "--reduction", "unsound")
    assert code == 1
    assert "by the unsound reduction, which can miss bugs" in out[1]
    command = "mazurka check -DDEADLOCK --engine stateful --reduction unsound forever.c --save-schedule bug.json"
    assert f"  {command}" in out


def test_a_circle_is_a_deadlock_while_others_go_on(here: Path) -> None:
    result = check("circle.c", "-DDEADLOCK")
    assert result.bug is not None and result.trace is not None and result.schedule is not None
    assert result.bug.kind == "deadlock"
    assert sorted(result.trace.cycle) == sorted(wait.thread for wait in result.trace.waiting) == ["main.2", "main.3"]
    assert mazurka.replay("circle.c", result.schedule, compiler_arguments=["-DDEADLOCK"]).bug == result.bug
    assert check("circle.c").verdict is Verdict.OK


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_a_circle_with_a_way_out_is_no_deadlock(here: Path, reduction: str) -> None:
    assert check("way_out.c", reduction=reduction).verdict is Verdict.OK


def test_a_limit_of_mazurka_shows_where(here: Path) -> None:
    Path("deep.c").write_text(
        "int nested(int n) { return n ? nested(n - 1) + 1 : 0; }\nint main(void) { return nested(5000); }\n"
    )
    result = check("deep.c")
    assert (result.verdict, result.bug) == (Verdict.INCOMPLETE, None)
    assert result.reason is not None and "calls nest more than 4,096 deep" in result.reason
    assert result.trace is not None and result.trace.steps[-1].line == 1


def test_keep_going_visits_all_states(here: Path) -> None:
    first = check("forever.c", "-DDEADLOCK")
    every = check("forever.c", "-DDEADLOCK", keep_going=True)
    assert first.bug is not None and every.bug is not None
    assert (every.verdict, every.bug.kind) == (Verdict.BUG, "deadlock")
    assert every.states.finished and not first.states.finished
    assert every.states.visited > first.states.visited


# -------------------------------------------------------------------------------------------------- limits


def test_a_limit_ends_the_search_as_incomplete(here: Path) -> None:
    result = check("counting.c", max_states=5000)
    assert (result.verdict, result.reason) == (Verdict.INCOMPLETE, "the limit of 5,000 states was reached")
    result = check("counting.c", max_memory=4 << 20)
    assert (result.verdict, result.reason) == (Verdict.INCOMPLETE, "the memory limit of 4 MiB was reached")
    assert result.states.visited > 1000 and result.states.depth > 1000 and not result.states.finished
    result = check("counting.c", timeout=0.3)
    assert (result.verdict, result.reason) == (Verdict.INCOMPLETE, "the time limit of 0.3 s was reached")
    words = summary(result)
    assert words.startswith("incomplete: the time limit of 0.3 s was reached; stopped after ")
    assert re.search(r" [\d,]+ states, [\d,]+ per second, at depth [\d,]+, no bug so far \(\d+\.\d\d s\)$", words)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_search_as_incomplete(here: Path, how: signal.Signals) -> None:
    code, out, _ = interrupt_check(["--engine", "stateful", "counting.c", "--json"], b"states", how=how)
    assert code == 3
    result = json.loads(out)
    assert (result["verdict"], result["reason"], result["finished"]) == ("incomplete", "interrupted", False)
    assert result["states"] > 0 and result["per_second"] > 0


def test_memory_that_runs_out_ends_a_search_as_any_limit() -> None:
    class Exhausted:
        def run(self) -> None:
            raise MemoryError

        def stop(self) -> None:
            pass

    seconds, reason = running.run(Exhausted(), NEVER, None)
    assert seconds > 0 and reason == "there is no more memory"


def test_there_is_a_limit_by_default() -> None:
    assert 1 << 20 < default_memory_limit() <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def test_progress_is_told_while_a_search_runs(here: Path) -> None:
    told: list[StateProgress] = []
    result = check("counting.c", progress=until_told(3, told))
    last = told[-1]
    assert 0 < last.states <= result.states.visited
    assert last.depth > 0 and last.memory > 0 and last.sound
    assert last.per_second == pytest.approx(last.states / last.seconds)


def test_progress_in_words() -> None:
    progress = StateProgress(1_234_567, 1_000_000.4, 48 << 20, 4321, 1.2, sound=True)
    words = "1,234,567 states, 1,000,000 per second, 48 MiB, depth 4,321, 1 s"
    assert progress_line(progress) == words
    unsound = StateProgress(1_234_567, 1_000_000.4, 48 << 20, 4321, 1.2, sound=False)
    assert progress_line(unsound) == f"the unsound reduction: {words}"
    shortening = StateProgress(1_234_567, 1_000_000.4, 48 << 20, 4321, 1.2, sound=True, shortening=True)
    assert progress_line(shortening) == "bug found; looking for a shorter way to it (Ctrl-C: report now), 1 s"
    assert progress_line(Progress(12, 100, 5, 1, None)) == "12 executions, 100 per second, depth 5, 1 s"


# ------------------------------------------------------------------------------------------------- options


@pytest.mark.parametrize(
    ("engine", "option", "value", "words"),
    [
        ("stateful", "algorithm", "pop", "--algorithm is for --engine stateless; the engine stateful has --reduction"),
        ("stateful", "seed", 0, "--seed is for --engine stateless; "),
        ("stateful", "commute", False, "--no-commute is for --engine stateless; "),
        ("stateful", "unroll", 3, "--unroll is for --engine stateless; the engine stateful needs no bound on loops"),
        ("stateful", "max_executions", 3, "--max-executions is for --engine stateless; "),
        ("stateful", "max_steps", 3, "--max-steps is for --engine stateless; "),
        ("stateless", "reduction", "cpc", "--reduction is for --engine stateful; the engine stateless has --algorithm"),
        ("stateless", "exact", True, "--exact is for --engine stateful; the engine stateless stores no states"),
        ("stateless", "max_memory", 1 << 30, "--max-memory is for --engine stateful; "),
        ("stateless", "max_states", 3, "--max-states is for --engine stateful; "),
        ("stateful", "reduction", "magic", "reduction can be cpc, cycle-detection, unsound, none, not 'magic'"),
        ("stateful", "max_memory", 0, "max_memory must be a size above 0, not 0"),
        ("stateful", "max_states", -1, "max_states must be a number above 0, not -1"),
        ("magic", "exact", False, "engine can be auto, stateless, stateful, not 'magic'"),
    ],
)
def test_what_an_engine_has_no_use_for_is_refused(engine: str, option: str, value: object, words: str) -> None:
    with pytest.raises(mazurka.InputError) as error:
        mazurka.check("missing.c", engine=engine, **{option: value})  # type: ignore[arg-type]
    assert str(error.value).startswith(words)


def test_what_the_stateful_engine_does_anyway_may_be_asked_for(here: Path) -> None:
    options = {"races": "ignore", "purity": False, "awaits": False, "allow_livelock": True}
    assert check("forever.c", **options).verdict is Verdict.OK


def test_on_the_command_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "counting.c", "--max-memory", "4M")[0] == 3
    assert run(capsys, "counting.c", "--max-states", "100")[0] == 3
    assert run(capsys, "forever.c", "--exact", "--reduction", "none")[0] == 0


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("7 bytes", 7), ("500M", 500 << 20), ("4G", 4 << 30), ("4g", 4 << 30), ("1.5K", 1536), ("2T", 2 << 40)]
    + [(written, 4 << 30) for written in ("4GB", "4GiB", "4 GiB", "4gib")],
)
def test_sizes_are_read(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1", "4GX", "1.K", "0x10", "4  G", "4iB"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size: write it like 500M, 4G or 4GiB"):
        parse_size(text)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (4 << 30, "4 GiB"), (1536, "1.5 KiB"), (48 << 20, "48 MiB")],
)
def test_sizes_in_words(size: int, text: str) -> None:
    assert format_size(size) == text


# ------------------------------------------------------------------------------- programs and schedules


def spinning() -> Program:
    """A thread waits in a loop for another one, which never comes."""
    p = ProgramBuilder()
    flag = p.variable("flag")
    with p.function("worker") as f, f.while_(lambda: f.eq(f.load(flag), 0)):
        pass
    with p.function("main") as f:
        f.spawn("worker")
        f.store(flag, f.choose(2))
    return p.build()


def test_a_program_is_explored_as_it_is() -> None:
    result = mazurka.check(spinning(), engine="stateful")
    assert result.bug is not None and result.bug.kind == "livelock"
    assert mazurka.check(spinning(), engine="stateful", allow_livelock=True).verdict is Verdict.OK


@pytest.mark.parametrize("options", [{"purity": True}, {"purity": False, "unroll": 2}])
def test_loops_that_were_cut_short_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(mazurka.InputError, match="needs loops that go round as they are"):
        mazurka.check(prepare(spinning(), **options), engine="stateful")


def test_a_long_computation_is_several_steps_in_a_replay_too(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = check("computing.c")
    assert result.bug is not None and result.schedule is not None
    assert (result.bug.message, result.schedule.pause_after) == ("assertion `sum < 0` failed", PAUSE_AFTER)
    assert len(result.schedule.steps) > 5
    assert mazurka.replay("computing.c", result.schedule).trace == result.trace
    code, _ = run(capsys, "computing.c", "--save-schedule", "bug.json")
    assert (code, cli.main(["replay", "computing.c", "bug.json"])) == (1, 1)
    assert capsys.readouterr().out.startswith("bug: assertion `sum < 0` failed (computing.c:7, thread main.1)\n")


# ------------------------------------------------------------------------------------------------- reports


def test_what_is_verified_is_said(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, (verdict, remark) = run(capsys, "forever.c")
    assert code == 0
    assert re.fullmatch(r"verified for unbounded executions: all \d+ states covered \(\d\.\d\d s\)", verdict)
    assert re.fullmatch(
        r"\d+ transitions, depth \d+ at most, \d+ KiB, by the reduction cpc",
        remark,
    )


APART = """
#include <pthread.h>
#include <stdatomic.h>
_Atomic int y;
void *other(void *unused) {
    int zero = 0;
    atomic_compare_exchange_strong(&y, &zero, 2);
    return 0;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    atomic_store(&y, VALUE);
    int x = *(int *)&y;
    pthread_join(thread, 0);
    return x > 2;
}
"""


def test_a_race_that_is_never_side_by_side_is_not_denied(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The exchange writes only if it comes first, and then nothing orders it with the plain read."""
    Path("apart.c").write_text(APART)
    assert mazurka.check("apart.c", engine="stateless", compiler_arguments=["-DVALUE=1"]).races
    code, out = run(capsys, "-DVALUE=1", "apart.c")
    assert code == 0 and "data races between accesses that are never side by side were not looked for" in out[1]
    code, out = run(capsys, "-DVALUE=0", "apart.c")
    assert code == 0 and "warning: data race on `y`" in "\n".join(out) and "not looked for" not in "\n".join(out)


def test_what_fills_memory_is_no_loop_of_the_source(here: Path) -> None:
    Path("fill.c").write_text(
        """
        #include <pthread.h>
        #include <string.h>
        static char buffer[1 << 20];
        void *worker(void *unused) {
            memset(buffer, 1, sizeof buffer);
            return 0;
        }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, worker, 0);
            return buffer[5] > 1;
        }
        """
    )
    result = mazurka.check("fill.c", engine="stateless", max_steps=1000)
    assert result.limit is not None and result.limit.loop is None
    assert "filling memory at fill.c:6 in worker; allow more with --max-steps, or check" in result.limit.message


def test_json_has_the_numbers_of_the_engine(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "forever.c", "--json")
    result = json.loads("\n".join(out))
    assert code == 0
    assert set(result) == {
        *("verdict", "bug", "bugs", "engine", "reduction", "sound", "exact", "finished", "states", "transitions"),
        *("depth", "deepest", "covered_depth", "memory", "restarts", "per_second", "handed_over", "seconds", "reason"),
        *("may_miss", "limit", "races", "suppressed_races", "suppressions", "weak_orders", "left_out", "config"),
        *("left", "trace", "schedule", "memory_model", "why_interleavings"),
    }
    assert (result["verdict"], result["engine"], result["reduction"]) == ("ok", "stateful", "cpc")
    assert (result["finished"], result["sound"], result["exact"], result["races"]) == (True, True, False, [])


def states(**changes: Any) -> States:
    numbers = {"visited": 1234, "transitions": 2345, "depth": 0, "deepest": 99, "memory": 1 << 20, "restarts": 0}
    fixed = {"reduction": "cpc", "exact": False, "finished": True, "per_second": 1000.0}
    return States(**{**fixed, **numbers, **changes})


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (
            Result(Verdict.OK, None, states(), 1.5),
            "verified for unbounded executions: all 1,234 states covered (1.50 s)",
        ),
        (
            Result(Verdict.INCOMPLETE, None, states(finished=False, depth=77), 75, reason="interrupted"),
            "incomplete: interrupted; stopped after 1,234 states, 1,000 per second, at depth 77, no bug so far (75 s)",
        ),
        (
            Result(Verdict.INCOMPLETE, None, states(reduction="unsound"), 1, reason="it can miss bugs"),
            "incomplete: no bug found, but it can miss bugs; 1,234 states (1.00 s)",
        ),
        (
            Result(Verdict.INCOMPLETE, None, states(reduction="unsound", finished=False, visited=1), 1, reason="late"),
            "incomplete: late; stopped after 1 state by the unsound reduction, 1,000 per second, at depth 0, no "
            "bug so far (1.00 s)",
        ),
    ],
)
def test_verdicts_in_words(result: Result, words: str) -> None:
    assert summary(result) == words


GROWING = "nearly every step led to a new state"


def test_where_something_grows_the_report_says_what_that_is_worth(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, (_, _, advice) = run(capsys, "counting.c", "--max-states", "2000")
    assert code == 3
    assert advice.startswith(GROWING)
    assert advice.endswith("try --engine stateless with --unroll N or --algorithm random")
    assert len(run(capsys, "counting.c", "--max-states", "900")[1]) == 2


@pytest.mark.parametrize(
    ("result", "line"),
    [
        (
            Result(Verdict.OK, None, states(visited=1, transitions=1, deepest=1, memory=1), 1),
            "1 transition, depth 1 at most, 1 byte, by the reduction cpc",
        ),
        (
            Result(Verdict.BUG, Bug("abort", "abort", None, None, None), states(visited=1), 1),
            "all 1 state covered (1.00 s), 2,345 transitions, depth 99 at most, 1 MiB, by the reduction cpc",
        ),
        (
            Result(Verdict.BUG, Bug("abort", "abort", None, None, None), states(finished=False), 1, reason="late"),
            "1,234 states visited (1.00 s; late), 2,345 transitions, depth 99 at most, 1 MiB, by the reduction cpc",
        ),
    ],
)
def test_effort_in_words(result: Result, line: str) -> None:
    written = io.StringIO()
    write(result, written)
    assert written.getvalue().splitlines()[1:] == [line]


def test_long_traces_lose_what_is_furthest_from_the_failure(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("long.c").write_text(
        """
        #include <assert.h>
        #include <pthread.h>
        #include <stdatomic.h>
        atomic_int turn, other;
        void *one(void *unused) {
            for (int i = 0; i < ROUNDS; i++) {
                while (atomic_load(&turn) % 2) {}
                atomic_fetch_add(&turn, 1);
            }
            return unused;
        }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, one, 0);
            for (int i = 0; i < ROUNDS; i++) {
                while (atomic_load(&turn) % 2 == 0) {}
                if (i % 3)
                    atomic_fetch_add(&turn, 1);
                else
                    atomic_fetch_add(&turn, 3);
                if (i % 5)
                    atomic_store(&other, i);
            }
            assert(0);
        }
        """
    )
    for rounds, more in ((100, "left out, which --json shows"), (1000, "left out …")):
        code, out = run(capsys, "long.c", f"-DROUNDS={rounds}")
        assert code == 1
        assert 90 < len([line for line in out if line.startswith(("long.c:", "↻"))]) <= 100
        gaps = [line for line in out if line.startswith("… ")]
        assert gaps and more in " ".join(gaps[0].split())
        code, out = run(capsys, "long.c", f"-DROUNDS={rounds}", "--json")
        trace = json.loads("\n".join(out))["trace"]
        assert (len(trace["steps"]) == 1000) == (trace["omitted"] > 0) == (rounds == 1000)
