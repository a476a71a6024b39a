"""Where the order mattered: the pair of steps without whose order an execution would not have gone wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

import mazurka
from mazurka.executions.trace import Order, Trace

HEAD = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int x, y; atomic_int ready; int *p;
"""
MAIN = """
int main(void) {
    pthread_t a, b;
    p = malloc(sizeof(int));
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    %s
}
"""


def program(one: str, two: str, end: str = "") -> str:
    threads = f"void *one(void *u) {{ {one} return u; }}\nvoid *two(void *u) {{ {two} return u; }}"
    return HEAD + threads + MAIN % end


def trace(directory: Path, source: str) -> Trace:
    path = directory / "program.c"
    path.write_text(source)
    found = mazurka.check(path, races="ignore").trace
    assert found is not None
    return found


def told(order: Order | None) -> tuple[str, str, bool] | None:
    if order is None:
        return None
    first, second = order.first, order.second
    return f"{first.thread} {first.text}", f"{second.thread} {second.text}", order.needed


LOCKED = "pthread_mutex_lock(&m); %s pthread_mutex_unlock(&m);"


@pytest.mark.parametrize(
    ("source", "order"),
    [
        # A lost update: whoever reads before the other one writes.
        (program("x++;", "x++;", "assert(x == 2);"), ("main.2 reads x = 0", "main.1 writes x = 1", True)),
        # What is freed before it is used.
        (program("free(p);", "*p = 1;"), ("main.1 frees int#1", "main.2 uses int#1", True)),
        # What comes too late is not even part of the execution.
        (program("assert(ready);", "ready = 1;"), ("main.1 reads ready = 0", "main.2 writes ready = 1", True)),
        # Nobody waits yet when the signal comes.
        (
            program(LOCKED % "pthread_cond_wait(&c, &m);", LOCKED % "pthread_cond_signal(&c);"),
            ("main.2 calls pthread_cond_signal(&c)", "main.1 calls pthread_cond_wait(&c, &m)", True),
        ),
        # Sections under a lock are told by what they do to each other.
        (
            program(LOCKED % "y = x;" + LOCKED % "x = y + 1;", LOCKED % "x++;", "assert(x == 2);"),
            ("main.2 reads x = 0", "main.1 writes x = 1", True),
        ),
        # Two locks in two orders.
        (
            program(
                "pthread_mutex_lock(&m); pthread_mutex_lock(&n); pthread_mutex_unlock(&n); pthread_mutex_unlock(&m);",
                "pthread_mutex_lock(&n); pthread_mutex_lock(&m); pthread_mutex_unlock(&m); pthread_mutex_unlock(&n);",
            ),
            ("main.1 calls pthread_mutex_lock(&m)", "main.2 gets mutex m", True),
        ),
        # It goes wrong in any order.
        (program("x = 1;", "x = 1;", "assert(x == 2);"), None),
        (program("ready = 1;", "if (ready) y = 1; abort();"), None),
    ],
)
def test_the_pair_without_whose_order_nothing_goes_wrong(
    tmp_path: Path, source: str, order: tuple[str, str, bool] | None
) -> None:
    assert told(trace(tmp_path, source).order) == order


def test_where_there_are_many_chances_the_one_that_made_it_inevitable(tmp_path: Path) -> None:
    count = "for (int i = 0; i < 3; i++) x++;"
    path = tmp_path / "program.c"
    path.write_text(program(count, count, "assert(x == 6);"))
    loaded = mazurka.load(path)
    for seed in range(1, 20):
        found = mazurka.check(loaded, algorithm="random", seed=seed, races="ignore").trace
        if found is not None and found.order is not None and not found.order.needed:
            break
    else:
        pytest.fail("each order that mattered was needed")
    assert "reads x" in found.order.first.text and "writes x" in found.order.second.text


def test_the_moments_are_found_in_the_trace(tmp_path: Path) -> None:
    shown = trace(tmp_path, program("x++;", "x++;", "assert(x == 2);"))
    assert shown.order is not None
    for moment in (shown.order.first, shown.order.second):
        assert moment.at is not None
        step = shown.steps[moment.at[0]]
        assert (step.thread, step.line, step.actions[moment.at[1]].text) == (moment.thread, moment.line, moment.text)


def test_a_replay_finds_the_same(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text(program("x++;", "x++;", "assert(x == 2);"))
    found = mazurka.check(path, races="ignore")
    assert found.schedule is not None and found.trace is not None and found.trace.order is not None
    assert mazurka.replay(path, found.schedule).trace == found.trace


def test_threads_that_never_end_are_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    source = program("for (;;) { y = !y; }", "assert(!ready);")
    path.write_text(source.replace("pthread_join(a, 0);", "ready = 1; pthread_join(a, 0);"))
    found = mazurka.check(path, engine="stateful").trace
    assert found is not None
    assert told(found.order) == ("main writes ready = 1", "main.2 reads ready = 1", True)


def test_a_bug_that_comes_of_a_choice_is_not_put_down_to_the_order(tmp_path: Path) -> None:
    """Whoever takes the lock first, there is no memory then. (There are too many ways to go on to try all of them.)"""
    rounds = "for (int i = 0; i < 100; i++) { pthread_mutex_lock(&m); x += i; pthread_mutex_unlock(&m); }"
    end = "pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); p = malloc(sizeof(int)); *p = 1;"
    source = program(rounds, rounds).replace("p = malloc(sizeof(int));", "").replace("pthread_join(a, 0);", end)
    path = tmp_path / "program.c"
    path.write_text(source)
    found = mazurka.check(path, failing_malloc=True, algorithm="random")
    assert found.bug is not None and "null pointer" in found.bug.message
    assert found.trace is not None and found.trace.order is None
