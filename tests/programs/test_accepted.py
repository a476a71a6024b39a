"""What programs may do that get schedules and are built: inputs from outside, and calls through pointers.

Each program is followed by the model and the virtual machine side by side, gets a schedule that the checker proves
again, and runs natively at each level."""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import mazurka
from mazurka import Verdict, find_schedules, replay
from mazurka.cli import main
from mazurka.constrained import load_model
from mazurka.constrained.checker import check
from mazurka.constrained.enforce import build
from mazurka.constrained.files import to_json
from mazurka.constrained.follow import follow
from mazurka.constrained.plan import ProgramSchedule
from mazurka.constraining import UnsafeIteration
from mazurka.errors import InputError
from tests.oracle.model_walk import Walker
from tests.support.two_threads import main_of_two

HEADER = """\
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
int __VERIFIER_nondet_range(int low, int high);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
"""

MAIN = main_of_two()


def written(folder: Path, text: str) -> Path:
    path = folder / "program.c"
    path.write_text(HEADER + text)
    return path


def ends(path: Path, seeds: int = 20, steps: int = 150) -> set[str]:
    """How walks through the program end, in the model and the machine."""
    model = load_model([path])
    return {Walker(model, seed).run(steps).end for seed in range(seeds)}


def schedule_of(path: Path) -> ProgramSchedule:
    """The first schedule, which is proved again and followed."""
    outcome = find_schedules(path, timeout=60)
    assert outcome.schedule is not None, outcome.reason
    assert check(outcome.schedule.proof.model, outcome.schedule) == []
    for seed in range(3):
        follow(outcome.schedule, seed=seed, steps=50)
    return outcome.schedule


def outputs(path: Path, schedule: ProgramSchedule, text: str = "") -> list[str]:
    """What the built program prints at each level, when it reads some text."""
    program = path.with_suffix("")
    printed = []
    for level in (0, 1, 2):
        build([path], schedule, program, optimise=level)
        for environment in ({"MAZURKA_DAWDLE": "1"}, {}):
            done = subprocess.run(
                [program],
                input=text,
                capture_output=True,
                text=True,
                timeout=60,
                env={**os.environ, **environment},
                check=False,
            )
            assert (done.returncode, done.stderr) == (0, "")
        printed.append(done.stdout)
    return printed


# ---------------------------------------------------------------------------------------------------- inputs

READS_INPUT = """
static int lines, drawn; static unsigned seed; static time_t begun;
static void *one(void *arg) {
    for (int i = 0; i < 2; i++) {
        int r = rand() % 4;
        assert(random() >= 0 && lrand48() >= 0);
        pthread_mutex_lock(&m); drawn = r; assert(drawn >= 0 && drawn < 4); pthread_mutex_unlock(&m);
    }
    return arg;
}
static void *two(void *arg) {
    for (int c; (c = getchar()) != EOF;) {
        assert(c >= 0 && c <= 255);
        pthread_mutex_lock(&m); if (c == '\\n') lines++; pthread_mutex_unlock(&m);
    }
    assert(rand_r(&seed) >= 0);
    struct timespec now; struct timeval today;
    clock_gettime(CLOCK_MONOTONIC, &now); gettimeofday(&today, NULL);
    assert(now.tv_nsec < 1000000000 && now.tv_sec >= 0 && today.tv_usec < 1000000 && clock() >= 0);
    printf("%d\\n", lines);
    return arg;
}
int main(void) {
    srand(time(&begun)); srandom(1); srand48(1);
    assert(begun >= 0);
    pthread_t a, b; pthread_create(&a, NULL, one, NULL); pthread_create(&b, NULL, two, NULL);
    pthread_join(a, NULL); pthread_join(b, NULL);
    return 0;
}
"""


def test_a_program_reads_what_a_system_gives(tmp_path: Path) -> None:
    path = written(tmp_path, READS_INPUT)
    assert ends(path) <= {"end", "steps"}
    schedule = schedule_of(path)
    assert outputs(path, schedule, "a\nb\nend\n") == ["3\n"] * 3
    assert outputs(path, schedule) == ["0\n"] * 3


@pytest.mark.parametrize(
    ("condition", "verdict"),
    [
        ("rand() == RAND_MAX", "bug"),
        ("rand() < 0", "ok"),
        ("random() == 0", "bug"),
        ("mrand48() < 0", "bug"),
        ("getchar() == EOF", "bug"),
        ("getc(stdin) == 255", "bug"),
        ("fgetc(stdin) > 255", "ok"),
        ("fgetc(stdout) == 0", "bug"),
        ("time(NULL) == 0", "bug"),
        ("time(&x) != x", "ok"),
        ("(rand_r(&s), s) == 7", "bug"),
        ("(clock_gettime(CLOCK_REALTIME, &now), now.tv_sec) != 1", "bug"),
        ("(timespec_get(&now, TIME_UTC), now.tv_nsec) == 999999999", "bug"),
    ],
)
def test_each_value_that_a_function_can_return_is_one(tmp_path: Path, condition: str, verdict: str) -> None:
    """What goes wrong for one value is found, and shows when it is replayed."""
    text = f"int main(void) {{ time_t x; unsigned s; struct timespec now; assert(!({condition})); return 0; }}"
    path = written(tmp_path, text)
    outcome = find_schedules(path, until="complete", timeout=60)
    assert outcome.verdict == ("unsafe" if verdict == "bug" else "safe")
    for iteration in outcome.iterations:
        if isinstance(iteration, UnsafeIteration):
            assert iteration.result.schedule is not None
            assert replay(path, iteration.result.schedule).verdict is Verdict.BUG


def test_what_tries_all_values_takes_only_those_that_are_bounded(tmp_path: Path) -> None:
    """Random numbers need a range, standard input a file; the clock has two values to show."""
    for call in ("rand()", "(int)random()"):
        path = written(tmp_path, f"int main(void) {{ return {call} == 1; }}")
        with pytest.raises(InputError, match="calls"):
            mazurka.check(path)
        assert mazurka.check(path, nondet="0..1").verdict is Verdict.BUG
        assert mazurka.check(path, nondet="2..5").executions.complete == 4
    path = written(tmp_path, "int main(void) { return getchar() == 'x'; }")
    unknown = mazurka.check(path)
    assert unknown.verdict is Verdict.INCOMPLETE and "--stdin" in str(unknown.reason)
    (tmp_path / "input").write_text("xyz")
    assert mazurka.check(path, stdin=str(tmp_path / "input")).verdict is Verdict.BUG
    assert mazurka.check(written(tmp_path, "int main(void) { return time(NULL) == 0; }")).executions.complete == 2


def test_a_bug_of_a_check_is_replayed_with_the_clock_of_the_check(tmp_path: Path) -> None:
    text = "int main(void) { struct timespec t; clock_gettime(CLOCK_REALTIME, &t);"
    text += " int n = __VERIFIER_nondet_range(0, 3); assert(n != 2 || t.tv_sec != 1); return 0; }"
    path = written(tmp_path, text)
    result = mazurka.check(path)
    assert result.schedule is not None and not result.schedule.inputs
    assert replay(path, result.schedule).bug == result.bug


# ------------------------------------------------------------------------------------- pointers to functions

ADD = """
static int x;
static void up(int n) { x += n; }
static void down(int n) { x -= n; }
static void stay(int n) { }
"""

CALLS = {
    "a table": """
        static void (*table[3])(int) = {up, down, stay};
        static void *one(void *arg) { int r = __VERIFIER_nondet_range(0, 2);
            pthread_mutex_lock(&m); table[r](1); assert(x >= -2 && x <= 2); pthread_mutex_unlock(&m); return arg; }
        static void *two(void *arg) { return one(arg); }
        """,
    "a table with gaps": """
        static void (*const table[8])(int) = {up, [3] = down, [5] = stay};
        static void *one(void *arg) { for (int i = 0; i < 8; i++) if (table[i]) {
            pthread_mutex_lock(&m); table[i](1); pthread_mutex_unlock(&m); } return arg; }
        static void *two(void *arg) { pthread_mutex_lock(&m); assert(x == 0 || x == 1); pthread_mutex_unlock(&m);
            return arg; }
        """,
    "a table that changes": """
        static void (*table[2])(int) = {stay, stay};
        static void *one(void *arg) { int r = __VERIFIER_nondet_range(0, 1);
            pthread_mutex_lock(&m); table[r] = up; pthread_mutex_unlock(&m); return arg; }
        static void *two(void *arg) { int r = __VERIFIER_nondet_range(0, 1);
            pthread_mutex_lock(&m); table[r](1); assert(x == 0 || x == 1); pthread_mutex_unlock(&m); return arg; }
        """,
    "a queue of jobs": """
        static struct { void (*run)(int); int n; } jobs[2]; static unsigned head, tail;
        static void *one(void *arg) { for (int i = 0; i < 3; i++) { pthread_mutex_lock(&m);
            if (tail - head < 2) { jobs[tail % 2].run = __VERIFIER_nondet_range(0, 1) ? up : down;
                jobs[tail % 2].n = i; tail++; }
            pthread_mutex_unlock(&m); } return arg; }
        static void *two(void *arg) { for (int i = 0; i < 3; i++) { void (*run)(int) = NULL; int n = 0;
            pthread_mutex_lock(&m);
            if (head != tail) { run = jobs[head % 2].run; n = jobs[head % 2].n; head++; }
            pthread_mutex_unlock(&m);
            if (run) run(n); } return arg; }
        """,
    "an endless queue of jobs": """
        static void (*jobs[3])(int); static int count, rounds;
        static void *one(void *arg) { for (;;) { pthread_mutex_lock(&m);
            if (count < 3) { jobs[count] = __VERIFIER_nondet_range(0, 1) ? up : down; count++; }
            pthread_mutex_unlock(&m); } return arg; }
        static void *two(void *arg) { for (;;) { void (*run)(int) = stay; pthread_mutex_lock(&m);
            if (count > 0) { count--; run = jobs[count]; }
            pthread_mutex_unlock(&m); run(1);
        #ifndef __MAZURKA__
            if (++rounds == 1000) exit(0);
        #endif
            } return arg; }
        """,
    "callbacks in structures": """
        struct part { void (*start)(int), (*stop)(int); struct part *next; };
        static struct part last = {stay, down, NULL}, first = {up, stay, &last}; static struct part *parts = &first;
        static void *one(void *arg) { pthread_mutex_lock(&m); for (struct part *d = parts; d; d = d->next) d->start(1);
            pthread_mutex_unlock(&m); return arg; }
        static void *two(void *arg) { pthread_mutex_lock(&m); for (struct part *d = parts; d; d = d->next) d->stop(1);
            assert(x == -1 || x == 0); pthread_mutex_unlock(&m); return arg; }
        """,
    "pointers to data in a table": """
        static int a = 1, b = 2; static int *cells[2] = {&a, &b};
        static void *one(void *arg) { int r = __VERIFIER_nondet_range(0, 1);
            pthread_mutex_lock(&m); int *c = cells[r]; cells[r] = cells[1 - r]; cells[1 - r] = c;
            pthread_mutex_unlock(&m); return arg; }
        static void *two(void *arg) { int r = __VERIFIER_nondet_range(0, 1);
            pthread_mutex_lock(&m); *cells[r] = 3; assert(a == 3 || b == 3); pthread_mutex_unlock(&m); return arg; }
        """,
}


@pytest.mark.parametrize("name", CALLS)
def test_what_pointers_in_memory_point_to(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, ADD + CALLS[name] + MAIN)
    assert ends(path, 40) == ({"steps"} if "endless" in name else {"end"})
    assert outputs(path, schedule_of(path)) == [""] * 3


def test_threads_run_functions_of_a_table(tmp_path: Path) -> None:
    workers = """
        static void *one(void *arg) { pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m); return arg; }
        static void *two(void *arg) { pthread_mutex_lock(&m); x = 2; pthread_mutex_unlock(&m); return arg; }
        static void *(*workers[2])(void *) = {one, two};
        int main(void) { pthread_t t[2];
            for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, workers[i], NULL);
            for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
            assert(x == 1 || x == 2); printf("ends\\n"); return 0; }
        """
    path = written(tmp_path, ADD + workers)
    assert ends(path) == {"end"}
    schedule = schedule_of(path)
    assert [thread.display for thread in schedule.proof.model.threads] == ["main", "one", "two"]
    assert outputs(path, schedule) == ["ends\n"] * 3


@pytest.mark.parametrize(
    "text",
    [
        "static void (*table[2])(int) = {up}; static void *one(void *a) { table[__VERIFIER_nondet_range(0, 1)](1);",
        "static void (*table[2])(int) = {up, up}; static void *one(void *a) { table[__VERIFIER_nondet_range(0, 2)](1);",
        "static long table[2] = {1, 2}; static void *one(void *a) { ((void (*)(int))table[x & 1])(1);",
        "static int *cells[2] = {&x}; static void *one(void *a) { *cells[__VERIFIER_nondet_range(0, 1)] = 1;",
    ],
)
def test_what_goes_wrong_through_a_table_is_found(text: str, tmp_path: Path) -> None:
    path = written(tmp_path, ADD + text + " return a; } static void *two(void *a) { return a; }" + MAIN)
    assert "failed" in ends(path)
    outcome = find_schedules(path, until="complete", timeout=60)
    assert outcome.verdict == "unsafe"
    assert all(isinstance(one, UnsafeIteration) and one.result.trace for one in outcome.iterations)


TABLES = """
static int x, y, i, j;
static void f(int n) { x = n; }
static void g(int n) { y = n & 3; }
static void h(int n) { i = n & 1; }
static void (*t[3])(int) = {f, g, LAST}; static void (*single)(int) = f;
static int *p[2] = {&x, &y}; static int v[3] = {0, 1, 2};
"""
# Each $ is an index.
STATEMENTS = [
    "t[$]($);", "t[$] = t[$];", "t[$] = h;", "*p[$ & 1] = $;", "p[$ & 1] = p[$ & 1];", "p[$ & 1] = &x;",
    "v[$] = v[$];", "v[$] = *p[$ & 1] & 3;", "i = v[$] & 1;", "assert(v[$] < 4);", "if (t[$] == g) x = 2;",
    "if (t[$]) t[$](1);", "single($);", "single = t[$];", "t[v[$] % 3](2);", "assert(x < 4 && y < 4);",
    "{ void (*l)(int) = t[$]; pthread_mutex_unlock(&m); pthread_mutex_lock(&m); l(2); }",
    "switch (v[$]) { case 0: x = 1; break; case 1: y = 1; break; default: j = 1; }",
    "if (p[$ & 1] == &x) assert(*p[$ & 1] == x);",
]  # fmt: skip
INDICES = ["__VERIFIER_nondet_range(0, 2)", "i", "j", "(k % 3)", "2", "0", "(x & 1)"]


def random_program(chance: random.Random) -> str:
    text = TABLES.replace("LAST", chance.choice(["h", "NULL"]))
    for name in ("one", "two"):
        body = "\n".join(chance.choice(STATEMENTS) for _ in range(chance.randint(1, 3)))
        body = "".join(chance.choice(INDICES) if character == "$" else character for character in body)
        rounds = chance.choice(["", "k < 1", "k < 2"])
        text += f"static void *{name}(void *arg) {{ for (int k = 0; {rounds}; k = (k + 1) % 3) {{\n"
        text += f"pthread_mutex_lock(&m);\n{body}\npthread_mutex_unlock(&m); }} return arg; }}\n"
    return text + MAIN


def compare(path: Path, seconds: float) -> str | None:
    """The verdict, after walks through the program and a comparison with what the stateful engine says."""
    assert "beyond" not in ends(path, 10, 100)
    verdict = find_schedules(path, until="complete", timeout=seconds).verdict
    other = mazurka.check(path, engine="stateful", timeout=seconds)
    assert verdict != "safe" or other.bug is None, other.bug
    assert verdict in ("safe", None) or other.verdict is not Verdict.OK
    return verdict


@pytest.mark.parametrize("seed", range(6))
def test_random_programs_with_tables(seed: int, tmp_path: Path) -> None:
    assert compare(written(tmp_path, random_program(random.Random(seed))), 60) is not None


@pytest.mark.slow
def test_many_random_programs_with_tables(tmp_path: Path) -> None:
    found = Counter(compare(written(tmp_path, random_program(random.Random(seed))), 6) for seed in range(6, 106))
    assert found["safe"] > 20 and found["unsafe"] + found["partially safe"] > 5


# ------------------------------------------------------------------------------------ functions of the library

OPERATIONS = {
    "pthread_once": """
        static pthread_once_t once = PTHREAD_ONCE_INIT; static int x, made;
        static void make(void) { pthread_mutex_lock(&m); made++; pthread_mutex_unlock(&m); x = 5; printf("made "); }
        static void *one(void *arg) { for (int i = 0; i < 2; i++) { pthread_once(&once, make); assert(made == 1); }
            return arg; }
        static void *two(void *arg) { pthread_once(&once, make); assert(x == 5); return arg; }
        """,
    "pthread_once for several things": """
        static pthread_once_t a = PTHREAD_ONCE_INIT, b = PTHREAD_ONCE_INIT; static int x, y;
        static void make_b(void) { y++; }
        static void make_a(void) { x++; }
        static void get(pthread_once_t *once, void (*make)(void)) { pthread_once(once, make); }
        static void *one(void *arg) { get(&a, make_a); assert(x == 1); return arg; }
        static void *two(void *arg) { get(&b, make_b); get(&a, make_a); assert(x == 1 && y == 1); return arg; }
        """,
    "call_once": """
        #include <threads.h>
        static once_flag flag = ONCE_FLAG_INIT; static int x;
        static void make(void) { x++; }
        static void *one(void *arg) { call_once(&flag, make); assert(x == 1); return arg; }
        static void *two(void *arg) { call_once(&flag, make); assert(x == 1); return arg; }
        """,
    "freeing what may be null": """
        static int *block;
        static void *one(void *arg) { for (int i = 0; i < 2; i++) { int *new = malloc(sizeof *new), *old; *new = i;
            pthread_mutex_lock(&m); old = block; block = new; pthread_mutex_unlock(&m); free(old); } return arg; }
        static void *two(void *arg) { pthread_mutex_lock(&m); int *old = block; block = NULL; pthread_mutex_unlock(&m);
            free(old); return arg; }
        """,
    "locks through pointers": """
        static int x; static int (*lock)(pthread_mutex_t *) = pthread_mutex_lock;
        static void *one(void *arg) { int (*unlock)(pthread_mutex_t *) = pthread_mutex_unlock;
            for (int i = 0; i < 3; i++) { lock(&m); x++; unlock(&m); } return arg; }
        static void *two(void *arg) { pthread_mutex_lock(&m); x += 2; pthread_mutex_unlock(&m);
            lock(&m); assert(x >= 2); pthread_mutex_unlock(&m); return arg; }
        """,
    "callbacks of a structure": """
        static struct { int (*wait)(pthread_cond_t *, pthread_mutex_t *); int (*wake)(pthread_cond_t *); } c =
            {pthread_cond_wait, pthread_cond_signal};
        static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; static int x;
        static void *one(void *arg) { pthread_mutex_lock(&m); while (!x) c.wait(&changed, &m); x = 2;
            pthread_mutex_unlock(&m); return arg; }
        static void *two(void *arg) { pthread_mutex_lock(&m); x = 1; c.wake(&changed); pthread_mutex_unlock(&m);
            return arg; }
        """,
    "what the scheduler does not know, through a pointer": """
        static int (*draw)(unsigned *) = rand_r; static unsigned seed;
        static void *one(void *arg) { assert(draw(&seed) >= 0); return arg; }
        static void *two(void *arg) { seed = 1; return arg; }
        """,
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_of_the_library_are_scheduled_however_they_are_called(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, OPERATIONS[name] + MAIN)
    assert ends(path) == {"end"}
    schedule = schedule_of(path)
    printed = {follow(schedule, seed=seed).output.decode() for seed in range(5)}
    assert {*outputs(path, schedule)} <= printed


def test_threads_are_created_and_joined_through_pointers(tmp_path: Path) -> None:
    text = """
        static int x; static void *run(void *arg) { x++; return arg; }
        static int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = pthread_create;
        static int (*join)(pthread_t, void **) = pthread_join;
        int main(void) { pthread_t t; create(&t, NULL, run, NULL); join(t, NULL); printf("%d\\n", x); return 0; }
        """
    path = written(tmp_path, text)
    assert outputs(path, schedule_of(path)) == ["1\n"] * 3


def test_what_is_done_once_may_be_done_before_there_are_threads(tmp_path: Path) -> None:
    once = "static pthread_once_t once = PTHREAD_ONCE_INIT; static int x; static void make(void) { x++; }"
    once += " static void *run(void *arg) { pthread_once(&once, make); x++; return arg; }"
    once += " int main(void) { run(NULL); pthread_t t; pthread_create(&t, NULL, run, NULL); pthread_join(t, NULL);"
    path = written(tmp_path, once + ' run(NULL); assert(x == 4); printf("%d\\n", x); return 0; }')
    assert ends(path) == {"end"}
    assert outputs(path, schedule_of(path)) == ["4\n"] * 3


# ------------------------------------------------------------------------------- what a program was proved for

COUNTS = """
static int x; static void *run(void *arg) { x++; return arg; }
int main(int argc, char **argv) {
    pthread_t t[2]; int n = argc > 1 ? argv[1][0] - '0' : 1;
    for (int i = 0; i < n; i++) pthread_create(&t[i], NULL, run, NULL);
    for (int i = 0; i < n; i++) pthread_join(t[i], NULL);
    printf("%d %s\\n", n, argv[0]);
    return 0;
}
"""


def started(program: Path, *arguments: str, **environment: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [program, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("arguments", [[], ["2"], ["2", 'a "b" \\ \u00e9']])
def test_a_program_is_started_with_the_arguments_that_it_was_proved_for(arguments: list[str], tmp_path: Path) -> None:
    path = written(tmp_path, COUNTS)
    program = tmp_path / "started"
    outcome = find_schedules(path, program_arguments=arguments)
    assert outcome.schedule is not None
    build([path], outcome.schedule, program)
    number = arguments[0] if arguments else "1"
    assert started(program, *arguments) == (0, f"{number} program\n", "")
    for others in (["1"], ["2", "b"], ["2", "a", "c"], [*arguments, ""], *([[]] if arguments else [])):
        status, printed, message = started(program, *others)
        assert (status, printed) == (72, "")
        assert message.startswith("mazurka: the schedule is proved for") and "MAZURKA_ANYWAY" in message
    status, _, message = started(program, "2" if not arguments else "1", MAZURKA_ANYWAY="1")
    assert status in (0, 70) and "nothing is guaranteed" in message


def test_a_program_that_does_not_look_at_its_arguments_takes_any(tmp_path: Path) -> None:
    hidden = 'int main(int argc, char **argv) {\n#ifndef __MAZURKA__\nprintf("%s", argv[1]);\n#endif\n return 0; }'
    path = written(tmp_path, hidden)
    schedule = schedule_of(path)
    assert to_json(schedule)["program"]["arguments"] is None
    build([path], schedule, tmp_path / "started")
    assert started(tmp_path / "started", "word") == (0, "word", "")


def test_the_schedule_says_which_arguments_the_program_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, file, program = written(tmp_path, COUNTS), tmp_path / "schedule.json", tmp_path / "started"
    assert main(["schedule", str(path), "-o", str(file), "--", "2"]) == 0
    assert main(["schedule", str(path), "--check", str(file)]) == 0
    assert main(["build", str(path), "--schedule", str(file), "-o", str(program)]) == 0
    assert started(program, "2") == (0, "2 program\n", "")
    capsys.readouterr()
    assert main(["build", str(path), "--schedule", str(file), "-o", str(program), "--", "1"]) == 2
    assert "a schedule for the arguments 2, not for 1" in capsys.readouterr().err
    changed = json.loads(file.read_text())
    changed["program"]["arguments"] = ["1"]
    file.write_text(json.dumps(changed))
    assert main(["build", str(path), "--schedule", str(file), "-o", str(program)]) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('return getenv("MAZURKA_TEST") != NULL;', "without MAZURKA_TEST"),
        ("return __VERIFIER_nondet_range(0, 3) > 3;", "from 0 to 3, not for 4"),
        ("return environment[0] != NULL;", "an empty environment"),
    ],
)
def test_inputs_that_were_not_assumed_stop_the_program(text: str, message: str, tmp_path: Path) -> None:
    own = "\n#ifndef __MAZURKA__\nint __VERIFIER_nondet_range(int low, int high) { return high + 1; }\n#endif\n"
    path = written(tmp_path, f"{own}int main(int argc, char **argv, char **environment) {{ {text} }}")
    program = tmp_path / "started"
    build([path], schedule_of(path), program)
    status, _, told = started(program, MAZURKA_TEST="1")
    assert status == 72 and message in told
    status, _, told = started(program, MAZURKA_TEST="1", MAZURKA_ANYWAY="1")
    assert status == 1 and message in told and "nothing is guaranteed" in told


def test_a_range_without_values_is_an_assumption_that_does_not_hold(tmp_path: Path) -> None:
    path = written(tmp_path, "int main(int argc, char **argv) { return __VERIFIER_nondet_range(1, 0); }")
    build([path], None, tmp_path / "started")
    assert started(tmp_path / "started")[0] == 71
