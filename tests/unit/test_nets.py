"""Loops that take from a counter and put it back: which of them wait, and why others do not."""

from __future__ import annotations

from pathlib import Path

import pytest

import mazurka
from mazurka.frontends.c import load_c_program
from mazurka.transforms.loops.report import LoopFate, explain_loops

HEAD = """
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
enum { ALL = 100 };
static atomic_int left = ALL, other;
static void read_lock(void) {
    while (atomic_fetch_sub(&left, 1) <= 0) {
        atomic_fetch_add(&left, 1);
        while (atomic_load(&left) <= 0) sched_yield();
    }
}
static void read_unlock(void) { atomic_fetch_add(&left, 1); }
"""
WRITE = """
static void write_lock(void) {
    while (atomic_fetch_sub(&left, ALL) != ALL) {
        atomic_fetch_add(&left, ALL);
        while (atomic_load(&left) != ALL);
    }
}
static void write_unlock(void) { atomic_fetch_add(&left, ALL); }
"""
MAIN = """
static int shared;
static void *reader(void *unused) {
    read_lock();
    int seen = shared;
    read_unlock();
    return seen == 7 ? unused : NULL;
}
static void *writer(void *unused) { WRITER; return unused; }
int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, reader, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_create(&threads[2], NULL, writer, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    return 0;
}
"""
WRITER = "write_lock(); shared = 1; write_unlock()"


def written(folder: Path, more: str = WRITE, writer: str = WRITER, head: str = HEAD) -> Path:
    file = folder / "lock.c"
    file.write_text(head + more + MAIN.replace("WRITER", writer))
    return file


def fate(file: Path, function: str = "read_lock") -> LoopFate:
    """What becomes of the outermost loop of a function."""
    return next(each for each in explain_loops(load_c_program([str(file)])) if each.function == function)


def test_what_fails_waits(tmp_path: Path) -> None:
    file = written(tmp_path)
    for function, condition in ("read_lock", "left <= 0"), ("write_lock", "left != 100"):
        (idle,) = fate(file, function).idle
        assert (idle.condition, idle.awaited) == (condition, True)
    result = mazurka.check(file, races="error")
    assert result.verdict == mazurka.Verdict.OK
    assert result.executions.blocked == 0


def test_the_wait_may_come_first(tmp_path: Path) -> None:
    first = """
static void write_lock(void) {
    for (;;) {
        while (atomic_load(&left) != ALL);
        if (atomic_fetch_sub(&left, ALL) == ALL) return;
        atomic_fetch_add(&left, ALL);
    }
}
static void write_unlock(void) { atomic_fetch_add(&left, ALL); }
"""
    assert fate(written(tmp_path, first), "write_lock").idle


def test_the_counter_may_be_set_at_the_beginning(tmp_path: Path) -> None:
    file = written(tmp_path)
    text = file.read_text().replace("left = ALL", "left")
    file.write_text(text.replace("    pthread_t threads", "    atomic_init(&left, ALL); pthread_t threads"))
    assert fate(file).idle
    assert mazurka.check(file, races="error").verdict is mazurka.Verdict.OK
    file.write_text(text.replace("    for (int i", "    atomic_store(&left, ALL); for (int i"))
    assert not fate(file).idle


def test_a_lock_that_is_never_given_back_is_a_livelock(tmp_path: Path) -> None:
    """A thread may only keep something if it never ends."""
    forgetful = "write_lock(); shared = 1; while (!atomic_load(&other)); write_unlock()"
    file = written(tmp_path, writer=forgetful)
    assert fate(file).idle
    result = mazurka.check(file)
    assert result.bug is not None
    assert result.bug.kind == "livelock"


DIFFERENCES = {
    "could tell what is taken for a while": {"writer": "if (atomic_load(&left) > 0) other = 1"},
    "does something else, too": {
        "head": HEAD.replace(
            "atomic_fetch_add(&left, 1);\n        w", "atomic_fetch_add(&left, 1); other = 1;\n        w"
        )
    },
    "threads could make each other fail for ever": {
        "more": WRITE.replace("        while (atomic_load(&left) != ALL);\n", "")
    },
    "waits for something else than what it needs": {
        "more": WRITE.replace("while (atomic_load(&left) != ALL)", "while (atomic_load(&left) <= 0)")
    },
    "waits for the counter before it has put back what it took": {
        "more": WRITE.replace("!= ALL) {\n", "!= ALL) {\n        while (atomic_load(&left) != ALL);\n")
    },
    "waits for the counter changes it, too": {
        "more": WRITE.replace(
            "(atomic_load(&left) != ALL);",
            "(atomic_load(&left) != ALL) { atomic_fetch_sub(&left, 1); atomic_fetch_add(&left, 1); }",
        )
    },
    "could go on because of what is taken": {
        "writer": WRITER + "; atomic_fetch_add(&left, 1); atomic_fetch_sub(&left, 1)"
    },
    "some take from the counter for a while and others add": {
        "more": WRITE.replace("fetch_sub", "fetch_SUB")
        .replace("fetch_add", "fetch_sub")
        .replace("fetch_SUB", "fetch_add")
    },
    "not clear how much": {"writer": "write_lock(); shared = 1"},
    "is used after it": {
        "more": """
static int write_lock(void) {
    int found;
    while ((found = atomic_fetch_sub(&left, ALL)) != ALL) {
        atomic_fetch_add(&left, ALL);
        while (atomic_load(&left) != ALL);
    }
    return found;
}
static void write_unlock(void) { atomic_fetch_add(&left, ALL); }
"""
    },
}


@pytest.mark.parametrize("reason", DIFFERENCES)
def test_what_could_be_told_stays_as_it_is(tmp_path: Path, reason: str) -> None:
    found = fate(written(tmp_path, **{"more": WRITE, **DIFFERENCES[reason]}))
    assert not found.idle
    assert found.obstacle is not None
    assert reason in found.obstacle


def test_a_counter_that_others_can_reach_is_none(tmp_path: Path) -> None:
    assert not fate(written(tmp_path, writer="atomic_store(&left, ALL)")).idle
    assert not fate(written(tmp_path, writer="static atomic_int *it = &left; atomic_fetch_add(it, 0)")).idle


# ------------------------------------------------------------------------------------------------------- back-offs


@pytest.mark.parametrize(
    ("before", "pause"),
    [
        ("int tries = 0;", "if (++tries > 10) sched_yield();"),
        ("int tries = 0;", "if (tries++ > 10) sched_yield(); else { sched_yield(); sched_yield(); }"),
        ("unsigned tries = 0;", "if (++tries % 16 == 0) sched_yield();"),
        ("", "for (int i = 0; i < 100; i++) sched_yield();"),
        ("int tries = 0;", "tries++; switch (tries & 3) { case 0: sched_yield(); break; case 1: break; default: ; }"),
    ],
)
def test_it_does_not_matter_how_a_thread_backs_off(tmp_path: Path, before: str, pause: str) -> None:
    loop = f"{before} while (!atomic_load(&other)) {{ {pause} }}"
    found = fate(written(tmp_path, writer=loop), "writer")
    assert [(each.condition, each.awaited) for each in found.idle] == [("other == 0", True)]


@pytest.mark.parametrize(
    ("before", "pause"),
    [
        ("int tries = 0;", "if (++tries > 10) shared = 1;"),
        ("int tries = 0;", "if (++tries > 10) break;"),
        ("int tries;", "if (tries > 10) sched_yield();"),
        ("int tries = 0;", "for (int i = 0; i < 10; i++) tries = i; if (tries > 3) shared = tries;"),
    ],
)
def test_what_else_it_does_may_matter(tmp_path: Path, before: str, pause: str) -> None:
    loop = f"{before} while (!atomic_load(&other)) {{ {pause} }}"
    assert ("other == 0", True) not in [
        (each.condition, each.awaited) for each in fate(written(tmp_path, writer=loop), "writer").idle
    ]
