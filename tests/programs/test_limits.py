"""An execution beyond a limit ends neither the search nor hides a bug: bugs come before limits."""

from __future__ import annotations

from pathlib import Path

import pytest

import mazurka
from mazurka import Verdict
from mazurka.program.builder import ProgramBuilder
from mazurka.reports.text import summary

# One order of the two threads recurses too deeply, the other one fails.
DEEP_OR_WRONG = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static int deep(int n) { return deep(n + 1) + n; }
static void *first(void *unused) { return x == 0 ? (void *)(long)deep(0) : 0; }
static void *second(void *unused) { x = 1; return 0; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    %s
    return 0;
}
"""
LONG = "for (volatile long m = 0; m < 100000000; m = m + 1) n++; return n;"
ENDLESS_OR_WRONG = DEEP_OR_WRONG.replace("return deep(n + 1) + n;", LONG)
STEPS_OR_WRONG = DEEP_OR_WRONG.replace("return deep(n + 1) + n;", "static atomic_int y; for (;;) y++;")
# The limit is met, and the other thread races all the same.
DEEP_AND_RACE = """
#include <pthread.h>
static int g;
static int deep(int n) { return deep(n + 1) + n; }
static void *first(void *unused) { g = 1; return (void *)(long)deep(0); }
static void *second(void *unused) { g = 2; return 0; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    return 0;
}
"""


def check(tmp_path: Path, text: str, **options: object) -> mazurka.Result:
    path = tmp_path / "program.c"
    path.write_text(text)
    return mazurka.check(path, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("program", "algorithm"),
    [
        (DEEP_OR_WRONG, "pop"),
        (DEEP_OR_WRONG, "optimal"),
        (DEEP_OR_WRONG, "exhaustive"),
        (ENDLESS_OR_WRONG, "pop"),
        (STEPS_OR_WRONG, "pop"),
        (STEPS_OR_WRONG, "optimal"),
    ],
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_bug_beside_an_execution_beyond_a_limit_is_found(
    tmp_path: Path, program: str, algorithm: str, seed: int
) -> None:
    result = check(tmp_path, program % "assert(0);", algorithm=algorithm, seed=seed, max_steps=500)
    assert result.verdict is Verdict.BUG
    assert result.bug is not None and result.bug.kind == "assertion", result.bug


def test_a_bug_beside_a_limit_is_found_among_states(tmp_path: Path) -> None:
    result = check(tmp_path, DEEP_OR_WRONG % "assert(0);", engine="stateful")
    assert result.bug is not None and result.bug.kind == "assertion", result.bug


@pytest.mark.parametrize("algorithm", ["pop", "optimal", "exhaustive"])
def test_without_a_bug_the_limit_is_the_answer(tmp_path: Path, algorithm: str) -> None:
    result = check(tmp_path, DEEP_OR_WRONG % "", algorithm=algorithm)
    assert result.verdict is Verdict.INCOMPLETE and result.bug is None
    assert "calls nest more than 4,096 deep" in (result.reason or "")
    assert result.trace is not None
    assert isinstance(result.coverage, mazurka.Executions) and result.coverage.beyond == 1 < result.coverage.complete


def test_without_a_bug_the_limit_is_the_answer_among_states(tmp_path: Path) -> None:
    result = check(tmp_path, DEEP_OR_WRONG % "", engine="stateful")
    assert result.verdict is Verdict.INCOMPLETE and result.bug is None
    assert "calls nest more than 4,096 deep" in (result.reason or "")


@pytest.mark.parametrize("seed", range(4))
def test_a_race_outranks_a_limit_that_was_met_before_it(tmp_path: Path, seed: int) -> None:
    result = check(tmp_path, DEEP_AND_RACE, races="error", seed=seed)
    assert result.bug is not None and result.bug.kind == "race", (result.bug, result.reason)


def test_a_search_whose_executions_all_meet_a_limit_ends(tmp_path: Path) -> None:
    program = """
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static void *first(void *unused) { for (;;) x = x + 1; }
int main(void) { pthread_t t; for (int i = 0; i < 4; i++) pthread_create(&t, 0, first, 0); pthread_exit(0); }
"""
    result = check(tmp_path, program, max_steps=300)
    assert result.verdict is Verdict.INCOMPLETE and result.limit is not None and result.reason is not None
    assert result.limit.kind == "too_many_steps" and not result.executions.finished
    assert result.executions.beyond == result.executions.complete > 1
    assert result.reason.endswith("the search was given up, since more and more executions would meet a limit")


def test_a_search_that_goes_on_after_a_limit_says_why_it_ends(tmp_path: Path) -> None:
    """The effort that is left after a limit is used up: among states, and inside of the execution that has met it."""
    many = """
#include <pthread.h>
static void *none(void *unused) { return 0; }
int main(void) {
    pthread_t threads[70];
    for (int i = 0; i < 70; i++) pthread_create(&threads[i], 0, none, 0);
    return 0;
}
"""
    result = check(tmp_path, many, engine="stateful", keep_going=True)
    assert result.verdict is Verdict.INCOMPLETE and result.reason is not None and "63 threads" in result.reason
    busy = """
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static int deep(int n) { return deep(n + 1) + n; }
static void *run(void *unused) { return (void *)(long)deep(0); }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    for (;;) x = !x;
}
"""
    result = check(tmp_path, busy, keep_going=True, max_steps=3_000_000, races="ignore")
    assert result.verdict is Verdict.INCOMPLETE and result.reason is not None and "nest" in result.reason


def test_a_bug_that_ends_the_search_is_reason_enough(tmp_path: Path) -> None:
    result = check(tmp_path, DEEP_OR_WRONG % "assert(x == 0);", algorithm="exhaustive")
    assert result.verdict is Verdict.BUG and result.executions.beyond and result.reason is None


TWO_LIMITS = """
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static int deep(int n) { return deep(n + 1) + n; }
static void *first(void *unused) { x = 1; return (void *)(long)deep(0); }
static void *second(void *unused) { x = 2; for (volatile long m = 0; m < 100000000; m = m + 1); return 0; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    return 0;
}
"""


@pytest.mark.parametrize("algorithm", ["pop", "optimal", "exhaustive"])
def test_limits_have_no_order(tmp_path: Path, algorithm: str) -> None:
    """Whichever of two limits an execution meets first, it counts once, and for nothing but that."""
    result = check(tmp_path, TWO_LIMITS, algorithm=algorithm)
    assert result.verdict is Verdict.INCOMPLETE and result.limit is not None and result.bug is None
    assert result.limit.kind in ("stack_overflow", "too_many_instructions")
    executions = result.executions
    assert executions.finished and executions.beyond == executions.complete and executions.blocked == 0


@pytest.mark.parametrize("algorithm", ["pop", "optimal", "exhaustive"])
def test_a_limit_outweighs_a_false_assumption(tmp_path: Path, algorithm: str) -> None:
    program = """
#include <pthread.h>
void __VERIFIER_assume(int);
static int deep(int n) { return deep(n + 1) + n; }
static void *run(void *unused) { return (void *)(long)deep(0); }
int main(void) { pthread_t thread; pthread_create(&thread, 0, run, 0); __VERIFIER_assume(0); return 0; }
"""
    result = check(tmp_path, program, algorithm=algorithm)
    executions = result.executions
    assert (executions.complete, executions.blocked, executions.assumed, executions.beyond) == (1, 0, 0, 1)
    assert "which stops at a limit, no bug" in summary(result) and "assumption" not in summary(result)


@pytest.mark.parametrize("engine", ["stateless", "stateful"])
def test_polling_is_no_bug(tmp_path: Path, engine: str) -> None:
    """Nobody gets anywhere if the thread that polls runs alone, but that is not fair."""
    program = """
#include <pthread.h>
#include <stdatomic.h>
static atomic_int ready, tries;
static void *poll(void *unused) { while (!ready) tries ^= 1; return 0; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, poll, 0);
    ready = 1;
    pthread_join(thread, 0);
    return 0;
}
"""
    options = {"max_steps": 200} if engine == "stateless" else {}
    result = check(tmp_path, program, engine=engine, **options)
    assert result.bug is None
    if engine == "stateless":
        assert result.verdict is Verdict.INCOMPLETE and result.limit is not None and result.limit.loop is not None
        assert (result.limit.loop.function, result.limit.loop.line) == ("poll", 5)


VACUOUS = """
#include <pthread.h>
void __VERIFIER_assume(int);
static void *run(void *unused) { __VERIFIER_assume(0); return 0; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    %s
    return 0;
}
"""


@pytest.mark.parametrize("engine", ["stateless", "stateful"])
@pytest.mark.parametrize("then", ["pthread_join(thread, 0);", ""])
def test_what_only_assumptions_stop_is_not_verified(tmp_path: Path, engine: str, then: str) -> None:
    result = check(tmp_path, VACUOUS % then, engine=engine)
    assert result.verdict is Verdict.INCOMPLETE and result.bug is None
    assert result.reason == "no execution gets past what the program assumes, so nothing was checked to its end"


@pytest.mark.parametrize("engine", ["stateless", "stateful"])
@pytest.mark.parametrize(
    "then", ["if (__VERIFIER_nondet_bool()) exit(0);", "if (__VERIFIER_nondet_bool()) pthread_join(0, 0);"]
)
def test_one_execution_that_gets_to_its_end_is_enough(tmp_path: Path, engine: str, then: str) -> None:
    """Be it a bug."""
    text = "#include <stdlib.h>\n_Bool __VERIFIER_nondet_bool(void);\n" + VACUOUS % then
    result = check(tmp_path, text, engine=engine)
    assert result.verdict is (Verdict.OK if "exit" in then else Verdict.BUG), result.reason


def test_a_program_that_runs_for_ever_is_no_vacuous_one(tmp_path: Path) -> None:
    program = """
#include <pthread.h>
#include <stdatomic.h>
_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_assume(int);
static atomic_int x;
static void *run(void *unused) { for (;;) { x ^= 1; __VERIFIER_assume(__VERIFIER_nondet_bool()); } }
int main(void) { pthread_t thread; pthread_create(&thread, 0, run, 0); pthread_join(thread, 0); return 0; }
"""
    assert check(tmp_path, program, engine="stateful").verdict is Verdict.OK
    stops = program.replace("__VERIFIER_assume(__VERIFIER_nondet_bool())", "__VERIFIER_assume(x == 2)")
    assert check(tmp_path, stops, engine="stateful").verdict is Verdict.INCOMPLETE


@pytest.mark.parametrize("algorithm", ["pop", "optimal", "exhaustive", "random"])
def test_a_step_with_very_many_choices_can_be_stopped(algorithm: str) -> None:
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("main") as f, f.atomic():
        for _ in range(60):
            f.store(x, f.add(f.load(x), f.choose(2)))
        f.assume(f.sgt(f.load(x), 100))
    result = mazurka.check(p.build(), algorithm=algorithm, timeout=0.5)
    assert result.verdict is Verdict.INCOMPLETE and result.bug is None and not result.executions.finished
    assert result.reason == "the time limit of 0.5 s was reached", result.reason


@pytest.mark.parametrize("before", range(4))  # so that the limit is met at each instruction of the loop
def test_a_limit_that_is_met_at_an_addition_is_no_overflow(tmp_path: Path, before: int) -> None:
    loop = "int i = 0; for (;;) { i = i + 1; i = i - 1; }"
    text = f"volatile int x; int main(void) {{ {'x = 1; ' * before}{loop} }}"
    result = check(tmp_path, text, engine="stateless", purity=False)
    assert result.limit is not None and result.limit.message.startswith("no end within 10,000,000 instructions")
