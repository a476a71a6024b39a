"""Blocks of memory that are made in endless loops and used again by the abstract engine: it agrees with the virtual
machine, which never uses one again, step by step, and with the stateful engine in its verdicts."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import mazurka
from mazurka import Verdict, find_schedules
from mazurka.constrained import load_model
from mazurka.constrained.checker import check
from mazurka.constrained.enforce import build
from mazurka.constrained.follow import follow
from mazurka.constrained.plan import section_order
from mazurka.constraining import UnsafeIteration
from mazurka.errors import InputError
from tests.oracle.model_walk import Walker
from tests.support.two_threads import main_of_two

HEADER = """\
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
int __VERIFIER_nondet_range(int low, int high);
struct node { int value; struct node *next; };
static struct node *a, *b;
static int x, count, rounds;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void end_of_round(void) {
#ifndef __MAZURKA__
    if (++rounds == 300) exit(0);
#endif
}
"""

MAIN = main_of_two()

PROGRAMS = {
    "a queue with condition variables": """
        static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
        static void *one(void *arg) { for (;;) {
            struct node *n = malloc(sizeof *n);
            if (!n) abort();
            n->value = __VERIFIER_nondet_range(1, 9);
            n->next = NULL;
            pthread_mutex_lock(&m);
            while (count == 2) pthread_cond_wait(&emptied, &m);
            if (b) b->next = n; else a = n;
            b = n; count++;
            pthread_cond_signal(&filled);
            pthread_mutex_unlock(&m); } return arg; }
        static void *two(void *arg) { for (;;) {
            pthread_mutex_lock(&m);
            while (!a) pthread_cond_wait(&filled, &m);
            struct node *n = a;
            a = n->next; count--;
            if (!a) b = NULL;
            pthread_cond_signal(&emptied);
            pthread_mutex_unlock(&m);
            assert(n->value >= 1 && n->value <= 9);
            free(n);
            end_of_round(); } return arg; }
        """,
    "a free list": """
        static struct node *take(void) {
            pthread_mutex_lock(&m);
            struct node *n = a;
            if (n) { a = n->next; count--; }
            pthread_mutex_unlock(&m);
            if (!n) { n = malloc(sizeof *n); n->value = 0; }
            assert(!n->value);
            n->value = 1;
            return n; }
        static void give(struct node *n) {
            n->value = 0;
            pthread_mutex_lock(&m);
            if (count < 1) { n->next = a; a = n; count++; n = NULL; }
            pthread_mutex_unlock(&m);
            free(n); }
        static void *one(void *arg) { for (;;) give(take()); return arg; }
        static void *two(void *arg) { for (;;) { give(take()); end_of_round(); } return arg; }
        """,
    "requests and answers": """
        struct request { int number, answer; };
        static struct request *mailbox;
        static sem_t asked, answered;
        __attribute__((constructor)) static void begin(void) { sem_init(&asked, 0, 0); sem_init(&answered, 0, 0); }
        static void *one(void *arg) { for (;;) {
            sem_wait(&asked);
            struct request *r = mailbox;
            assert(r->answer == 0);
            r->answer = r->number + 1;
            sem_post(&answered); } return arg; }
        static void *two(void *arg) { for (;;) {
            struct request *r = calloc(1, sizeof *r);
            assert(r->answer == 0);
            r->number = __VERIFIER_nondet_range(1, 5);
            mailbox = r;
            sem_post(&asked);
            sem_wait(&answered);
            assert(r->answer == r->number + 1);
            free(r);
            end_of_round(); } return arg; }
        """,
    "a stack of nodes": """
        static void *one(void *arg) { for (;;) {
            struct node *n = malloc(sizeof *n); n->value = __VERIFIER_nondet_range(1, 9);
            pthread_mutex_lock(&m);
            if (count < 2) { n->next = a; a = n; count++; n = NULL; }
            pthread_mutex_unlock(&m);
            free(n); } return arg; }
        static void *two(void *arg) { for (;;) {
            struct node *n = NULL;
            pthread_mutex_lock(&m);
            if (count > 0) { n = a; a = n->next; count--; }
            pthread_mutex_unlock(&m);
            if (n) { assert(n->value > 0 && n->value < 10); free(n); }
            end_of_round(); } return arg; }
        """,
    "a queue of nodes": """
        static void *one(void *arg) { for (;;) {
            struct node *n = calloc(1, sizeof *n);
            pthread_mutex_lock(&m);
            if (!a) { assert(!b); a = b = n; } else { b->next = n; b = n; }
            pthread_mutex_unlock(&m); } return arg; }
        static void *two(void *arg) { for (;;) {
            pthread_mutex_lock(&m);
            struct node *n = a;
            if (n) { a = n->next; if (!a) b = NULL; }
            pthread_mutex_unlock(&m);
            if (n) { assert(n->value == 0); free(n); }
            end_of_round(); } return arg; }
        """,
    "a table of blocks": """
        static int *cells[2];
        static void *one(void *arg) { for (;;) {
            int *n = malloc(sizeof *n); *n = 7; int at = __VERIFIER_nondet_range(0, 1);
            pthread_mutex_lock(&m); int *old = cells[at]; cells[at] = n; pthread_mutex_unlock(&m);
            free(old); } return arg; }
        static void *two(void *arg) { for (;;) {
            int at = __VERIFIER_nondet_range(0, 1);
            pthread_mutex_lock(&m); if (cells[at]) assert(*cells[at] == 7); pthread_mutex_unlock(&m);
            end_of_round(); } return arg; }
        """,
    "local variables of others": """
        struct request { int value, *answer; }; static struct request *pending;
        static void *one(void *arg) { for (;;) {
            int answer = 0; struct request r = {3, &answer};
            pthread_mutex_lock(&m); pending = &r; pthread_mutex_unlock(&m);
            for (int done = 0; !done;) { pthread_mutex_lock(&m); done = !pending; pthread_mutex_unlock(&m); }
            assert(answer == 4); } return arg; }
        static void *two(void *arg) { for (;;) {
            pthread_mutex_lock(&m);
            if (pending) { *pending->answer = pending->value + 1; pending = NULL; }
            pthread_mutex_unlock(&m);
            end_of_round(); } return arg; }
        """,
}


def written(folder: Path, text: str) -> Path:
    path = folder / "program.c"
    path.write_text(HEADER + text + MAIN)
    return path


def ends(path: Path, seeds: int, steps: int = 300) -> Counter[str]:
    model = load_model([path])
    return Counter(Walker(model, seed).run(steps).end for seed in range(seeds))


SLOW = {"a free list", "a stack of nodes", "a table of blocks", "local variables of others"}


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in PROGRAMS])
def test_endless_programs_that_make_blocks(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, PROGRAMS[name])
    assert ends(path, 10).keys() <= {"steps", "beyond"}  # a queue can become too long
    schedule = find_schedules(path, timeout=60).schedule
    assert schedule is not None
    assert check(schedule.proof.model, schedule) == []
    for seed in range(3):
        follow(schedule, seed=seed, steps=100)
    for level in (0, 1, 2):
        build([path], schedule, tmp_path / "program", optimise=level)
        for environment in ({}, {"MAZURKA_DAWDLE": "1"}) if level else ({},):
            done = subprocess.run(
                [tmp_path / "program"], capture_output=True, timeout=60, env={**os.environ, **environment}, check=False
            )
            assert (done.returncode, done.stderr) == (0, b"")


def test_the_order_in_which_blocks_are_freed_and_made_is_part_of_a_schedule(tmp_path: Path) -> None:
    schedule = find_schedules(written(tmp_path, PROGRAMS["a queue of nodes"]), timeout=60).schedule
    assert schedule is not None
    model = schedule.proof.model
    less = []
    for section in schedule.sections:
        events = [replace(event, transition=replace(event.transition, ghosts=())) for event in section.events]
        less.append(replace(section, order=section_order(events, elements=False)))
    problems = check(model, replace(schedule, sections=tuple(less)))
    assert any("depend on each other" in problem for problem in problems)


def test_a_schedule_is_of_the_same_program_another_time(tmp_path: Path) -> None:
    path = written(tmp_path, PROGRAMS["a queue of nodes"])
    script = "import sys; from pathlib import Path; from mazurka.constrained import load_model\n"
    script += "from mazurka.constrained.files import digest; print(digest(load_model([Path(sys.argv[1])])))"
    runs = [
        subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert runs[0].stdout == runs[1].stdout


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("free(n); x = n->value;", "memory"),
        ("free(n); free(n);", "memory"),
        ("free(n); b = n; if (b == n) x = 1; b->value = 1;", "memory"),
        ("if (b) x = b->value; free(n); b = n;", "memory"),  # of the round before: nobody has used it again since
        ("x = 1; free(n); n = malloc(sizeof *n); x = n->value; free(n);", "memory"),
    ],
)
def test_what_is_done_with_freed_blocks_is_found(text: str, kind: str, tmp_path: Path) -> None:
    maker = "static void *one(void *arg) { for (;;) { struct node *n = malloc(sizeof *n); n->value = 1;\n"
    maker += (
        "  pthread_mutex_lock(&m); if (!a) { a = n; n = NULL; } pthread_mutex_unlock(&m); free(n); } return arg; }\n"
    )
    taker = "static void *two(void *arg) { for (;;) { pthread_mutex_lock(&m); struct node *n = a; a = NULL;\n"
    taker += f"  pthread_mutex_unlock(&m); if (n) {{ {text} }} }} return arg; }}"
    path = written(tmp_path, maker + taker)
    try:
        outcome = find_schedules(path, until="complete", timeout=60)
    except InputError as error:
        assert "never have been written" in str(error)  # which this engine does not tell from a failure
        return
    assert outcome.verdict != "safe"
    bugs = [one.result.bug for one in outcome.iterations if isinstance(one, UnsafeIteration)]
    assert {bug.kind for bug in bugs if bug} == {kind}


@pytest.mark.parametrize(("makes", "takes"), [("one", "two"), ("two", "one")])
def test_a_block_is_not_used_again_while_a_register_of_another_thread_refers_to_it(
    makes: str, takes: str, tmp_path: Path
) -> None:
    """Whichever thread is looked at first."""
    maker = f"static void *{makes}(void *arg) {{ for (;;) {{ struct node *n = malloc(sizeof *n); n->value = 1;\n"
    maker += "  pthread_mutex_lock(&m); if (a) free(a); a = n; pthread_mutex_unlock(&m); } return arg; }\n"
    taker = f"static void *{takes}(void *arg) {{ for (;;) {{ pthread_mutex_lock(&m); struct node *n = a;\n"
    taker += "  pthread_mutex_unlock(&m); if (n) x = n->value; } return arg; }"
    outcome = find_schedules(written(tmp_path, maker + taker), until="complete", timeout=60)
    assert outcome.verdict == "partially safe"
    bugs = [one.result.bug for one in outcome.iterations if isinstance(one, UnsafeIteration)]
    assert {bug.kind for bug in bugs if bug} == {"memory"}


@pytest.mark.parametrize(
    "use",
    [
        "(unsigned long)n % 7",
        "n < a",
        "(char)(unsigned long)n",
        "(unsigned long)n == 0x1234567890",
        "__atomic_fetch_or((unsigned long *)&a, 1, 5) == 0",
    ],
)
def test_an_address_that_is_taken_for_a_number_cannot_be_followed(use: str, tmp_path: Path) -> None:
    maker = f"static void *one(void *arg) {{ for (;;) {{ struct node *n = malloc(sizeof *n); x = {use}; a = n;"
    path = written(tmp_path, maker + " free(n); a = NULL; } } static void *two(void *arg) { a = NULL; return arg; }")
    model = load_model([path])
    failures = {one.failure.message for one in model.transitions if one.failure is not None}
    assert any("taken for a number" in message for message in failures)
    assert ends(path, 5).keys() == {"beyond"}


STATEMENTS = [
    "if (!n) { n = malloc(sizeof *n); n->value = 1; n->next = NULL; }",
    "if (!n) { n = calloc(1, sizeof *n); }",
    "pthread_mutex_lock(&m); { struct node *t = G; G = n; n = t; } pthread_mutex_unlock(&m);",
    "pthread_mutex_lock(&m); if (!G) { G = n; n = NULL; } pthread_mutex_unlock(&m);",
    "pthread_mutex_lock(&m); if (!n) { n = G; G = NULL; } pthread_mutex_unlock(&m);",
    "free(n); n = NULL;",
    "free(n); n = NULL;",
    "if (n) x = n->value;",
    "if (n) n->value = 2;",
    "pthread_mutex_lock(&m); if (n && !n->next) { n->next = G; G = NULL; } pthread_mutex_unlock(&m);",
    "if (n && n->next) { free(n->next); n->next = NULL; }",
    "if (n && n->next) { struct node *t = n->next; n->next = NULL; free(n); n = t; }",
    "pthread_mutex_lock(&m); if (n && G == n) x = 3; pthread_mutex_unlock(&m);",
    "if (n) assert(n->value != 2);",
]
# These keep addresses of what was freed, or that others have.
RISKS = [
    "free(n);",
    "pthread_mutex_lock(&m); n = G; pthread_mutex_unlock(&m);",
    "pthread_mutex_lock(&m); if (G) G->value = 1; pthread_mutex_unlock(&m);",
    "q = n;",
    "if (q) x = q->value;",
    "if (q == n) x = 4;",
]


def random_program(chance: random.Random) -> str:
    text = ""
    for name in ("one", "two"):
        lines = [chance.choice(STATEMENTS) for _ in range(chance.randint(2, 5))]
        if chance.random() < 0.35:
            lines.insert(chance.randrange(len(lines) + 1), chance.choice(RISKS))
        if name == "one":
            lines.insert(0, STATEMENTS[0])
        body = "\n".join(line.replace("G", chance.choice("ab")) for line in lines)
        text += f"static void *{name}(void *arg) {{ struct node *n = NULL, *q = NULL; for (;;) {{\n{body} }} }}\n"
    return text


def compare(path: Path, seconds: float) -> str:
    """The verdict of the abstract engine, after it has been compared with others."""
    try:
        ends(path, 8, 150)
        verdict = find_schedules(path, until="complete", timeout=seconds).verdict
    except InputError:
        return "refused"
    if verdict is None:
        return "slow"
    other = mazurka.check(path, engine="stateful", timeout=seconds)
    assert verdict != "safe" or other.bug is None, other.bug
    assert verdict == "safe" or other.verdict is not Verdict.OK
    return verdict


@pytest.mark.parametrize("seed", [1, 2, 4, 6])
def test_random_programs_have_the_verdict_that_the_stateful_engine_gives(seed: int, tmp_path: Path) -> None:
    assert compare(written(tmp_path, random_program(random.Random(seed))), 60) != "slow"


@pytest.mark.slow
def test_many_random_programs(tmp_path: Path) -> None:
    found = Counter(compare(written(tmp_path, random_program(random.Random(seed))), 10) for seed in range(10, 110))
    assert found["safe"] > 20 and found["unsafe"] + found["partially safe"] > 20
