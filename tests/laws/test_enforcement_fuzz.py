"""What was proved holds when it runs: random programs, and programs that once did something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle.schedule_generator import generate, with_prelude
from tests.support.fuzz_schedules import LEVELS, Problem, Settings, examine, examine_all

_CHUNK = 10

_JOINED = """
int main(void) {
    BEGIN(0)
    pthread_create(&h1, 0, t1, 0);
    pthread_create(&h2, 0, t2, 0);
    pthread_join(h1, 0);
    pthread_join(h2, 0);
    return 0;
}
"""

_COUNTING = """
static void *t2(void *argument) {
    BEGIN(2)
    for (;;) { ROUND(2) pthread_mutex_lock(&m); w++; pthread_mutex_unlock(&m); }
}
"""

_CRITICAL = "pthread_mutex_lock(&m); x = v; pthread_mutex_unlock(&m);"


def before_critical(local: str) -> str:
    """One thread that computes on its own before each critical section, and one that counts."""
    return f"""
static void *t1(void *argument) {{
    BEGIN(1) int v = 0;
    for (;;) {{ ROUND(1) {local} {_CRITICAL} }}
}}
{_COUNTING}{_JOINED}"""


PROGRAMS = {
    "a round without events lets the other thread have its turn": f"""
static void *t1(void *argument) {{
    BEGIN(1)
    for (unsigned k = 0;; k++) {{
        ROUND(1)
        if (FLIP(1)) {{ pthread_mutex_lock(&m); assert(w == k); pthread_mutex_unlock(&m); }}
    }}
}}
{_COUNTING}{_JOINED}""",
    "a thread whose rounds never come to an event starves nobody": f"""
static void *t1(void *argument) {{
    BEGIN(1) int v = 0;
    for (;;) {{ ROUND(1) if (INPUT(1) == 123456789) {{ {_CRITICAL} }} }}
}}
{_COUNTING}{_JOINED}""",
    "two threads with rounds without events": f"""
static void *t1(void *argument) {{
    BEGIN(1) int v = 0;
    for (;;) {{ ROUND(1) if (FLIP(1)) {{ {_CRITICAL} }} }}
}}
static void *t2(void *argument) {{
    BEGIN(2) int v = 0;
    for (;;) {{ ROUND(2) if (FLIP(2)) {{ {_CRITICAL} }} }}
}}
{_JOINED}""",
    "rounds with inputs but without events beside a thread with events": f"""
static void *t1(void *argument) {{
    BEGIN(1) int v = 0;
    for (;;) {{ ROUND(1) if (FLIP(1)) v++; else v--; }}
}}
{_COUNTING}{_JOINED}""",
    "all rounds of a thread are local": f"""
static void *t1(void *argument) {{
    BEGIN(1)
    x = 1;
    for (;;) {{ ROUND(1) }}
}}
{_COUNTING}{_JOINED}""",
    "a thread has no events at all": f"""
static void *t1(void *argument) {{
    BEGIN(1) unsigned v = 0;
    for (;;) {{ ROUND(1) v = v * 3 + 1; }}
}}
{_COUNTING}{_JOINED}""",
    "nobody signals the condition": """
static void *t1(void *argument) {
    BEGIN(1)
    pthread_mutex_lock(&m);
    while (!stop) { ROUND(1) pthread_cond_wait(&changed, &m); }
    pthread_mutex_unlock(&m);
    return 0;
}
static void *t2(void *argument) {
    BEGIN(2)
    for (;;) { ROUND(2) pthread_mutex_lock(&m); w++; pthread_mutex_unlock(&m); }
}
"""
    + _JOINED,
    "nobody posts the semaphore": f"""
static void *t1(void *argument) {{ BEGIN(1) sem_init(&never, 0, 0); sem_wait(&never); return 0; }}
{_COUNTING}{_JOINED}""",
    "local rounds, as many as an input says, beside a thread that ends the program": """
static void *t1(void *argument) {
    BEGIN(1)
    for (;;) { ROUND(1) for (int j = 0, n = RANGE(1, 0, 4); j < n; j++) { ROUND(1) } }
}
int main(void) {
    BEGIN(0)
    pthread_create(&h1, 0, t1, 0);
    for (int i = 0; i < 2; i++) { ROUND(0) counter++; }
    exit(3);
}
""",
    "a thread ends the program while another goes round": """
static void *t1(void *argument) {
    BEGIN(1)
    for (;;) { ROUND(1) guarded(&x, 1); }
}
int main(void) {
    BEGIN(0)
    pthread_create(&h1, 0, t1, 0);
    for (int i = 0; i < 3; i++) { ROUND(0) z = z * 3 + 1; }
    exit(3);
}
""",
    "an input says which mutex, beside local rounds": """
static void *t1(void *argument) {
    BEGIN(1)
    for (;;) {
        ROUND(1)
        pthread_mutex_t *lock = FLIP(1) ? &a : &b;
        pthread_mutex_lock(lock); pthread_mutex_unlock(lock);
    }
}
static void *t2(void *argument) {
    BEGIN(2)
    for (;;) { ROUND(2) for (int j = INPUT(2) & 7; j > 0; j--) { ROUND(2) } }
}
static void *t3(void *argument) {
    BEGIN(3)
    pthread_mutex_lock(&m);
    while (!stop) { ROUND(3) pthread_cond_wait(&other, &m); }
    pthread_mutex_unlock(&m);
    return 0;
}
int main(void) {
    BEGIN(0)
    pthread_create(&h1, 0, t1, 0);
    pthread_create(&h2, 0, t2, 0);
    pthread_create(&h3, 0, t3, 0);
    pthread_join(h1, 0);
    pthread_join(h2, 0);
    pthread_join(h3, 0);
    return 0;
}
""",
    "as many local rounds as an input says": before_critical(
        "for (unsigned i = 0, n = (unsigned)INPUT(1) % 1000; i < n; i++) { ROUND(1) v++; }"
    ),
    "the decimal digits of an input": before_critical(
        "for (unsigned n = (unsigned)INPUT(1); n != 0; n /= 10) { ROUND(1) v += (int)(n % 10); }"
    ),
    "300 local rounds": before_critical("for (int i = 0; i < 300; i++) { ROUND(1) v += i; }"),
    "two accounts and one input bit": """
static void *t1(void *argument) {
    BEGIN(1)
    for (;;) {
        ROUND(1)
        int from = FLIP(1);
        pthread_mutex_lock(&m); account[from]--; account[1 - from]++; pthread_mutex_unlock(&m);
    }
}
static void *t2(void *argument) {
    BEGIN(2)
    for (;;) {
        ROUND(2)
        pthread_mutex_lock(&m); assert(account[0] + account[1] == 10); pthread_mutex_unlock(&m);
    }
}
"""
    + _JOINED,
}


def told(problems: list[Problem]) -> list[tuple[str, str, int | None]]:
    return [(problem.kind, problem.message, problem.level) for problem in problems]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_keeps_the_promises_of_its_schedule(name: str, tmp_path: Path) -> None:
    report = examine(with_prelude(PROGRAMS[name], threads=3), tmp_path, Settings(search_seconds=20))
    assert told(report.problems) == []
    assert report.runs == 3 * len(LEVELS)


def check_chunk(first: int, settings: Settings) -> None:
    texts = {seed: generate(seed).text for seed in range(first, first + _CHUNK)}
    reports = dict(examine_all(texts, settings))
    assert {seed: told(report.failures) for seed, report in reports.items() if report.failures} == {}
    assert any(report.runs for report in reports.values())


@pytest.mark.parametrize("first", range(0, 100, _CHUNK))
def test_random_programs_keep_the_promises_of_their_schedules(first: int) -> None:
    check_chunk(first, Settings(search_seconds=2, runs=2))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 1000, _CHUNK))
def test_more_programs_and_later_schedules(first: int) -> None:
    check_chunk(first, Settings(until=(1, 3), runs=4))
