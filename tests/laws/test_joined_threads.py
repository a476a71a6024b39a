"""Threads that have ended and were joined make room for others. So programs that first create and join as many threads
as there can be have the executions that they have without this."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import mazurka
from mazurka import Executions, Verdict
from mazurka.machine.layout import MAX_THREADS

HEAD = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y;
static int plain;
static _Thread_local int own = 7, other;
static void *idle(void *unused) { assert(own == 7); own = other = 1; return &other; }
"""
MAIN = """
int main(void) {
    for (int i = 0; i < IDLE; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, idle, 0);
        pthread_join(thread, 0);
    }
    f0(0);
    pthread_exit(0);
}
"""
OPERATIONS = ("x = %d;", "y = %d;", "own += x;", "own += y;", "x++;", "plain = %d;", "assert(x != 3 || y != 2);")


def random_program(random: random.Random) -> str:
    """Some threads that create others and join them, or not."""
    functions: list[str] = []
    count = random.randint(3, 5)
    children: dict[int, list[int]] = {i: [] for i in range(count)}
    for i in range(1, count):
        children[random.choice((0, 0, random.randrange(i)))].append(i)
    for i in reversed(range(count)):
        body = [] if i == 0 else ["assert(own == 7 && other == 0);", "other = 1;"]
        running: list[int] = []
        for child in children[i]:
            body.append(f"pthread_create(&t[{child}], 0, f{child}, 0);")
            running.append(child)
            if random.random() < 0.4:
                operation = random.choice(OPERATIONS)
                body.append(operation % random.randint(1, 3) if "%d" in operation else operation)
            if random.random() < 0.6:
                body.append(f"pthread_join(t[{running.pop(random.randrange(len(running)))}], 0);")
        for _ in range(random.randint(0 if children[i] else 1, 2)):
            operation = random.choice(OPERATIONS)
            body.append(operation % random.randint(1, 3) if "%d" in operation else operation)
        body += [f"pthread_join(t[{child}], 0);" for child in running if random.random() < 0.8]
        functions.append(f"static void *f{i}(void *unused) {{ {' '.join(body)} return 0; }}")
    return HEAD + f"static pthread_t t[{count}];\n" + "\n".join(functions) + MAIN


def executions(path: Path, idle: int, algorithm: str) -> tuple[object, ...]:
    result = mazurka.check(
        path, algorithm=algorithm, compiler_arguments=(f"-DIDLE={idle}",), keep_going=True, seed=idle % 3
    )
    assert isinstance(result.coverage, Executions)
    coverage = result.coverage
    return result.verdict, coverage.complete, coverage.blocked, len(result.races), result.bug and result.bug.kind


def compare_random_programs(numbers: range, directory: Path) -> set[object]:
    verdicts: set[object] = set()
    for number in numbers:
        random_ = random.Random(number)
        path = directory / f"program{number}.c"
        path.write_text(random_program(random_))
        algorithm = random_.choice(("pop", "optimal"))
        expected = executions(path, 0, algorithm)
        found = executions(path, random_.randint(MAX_THREADS - 5, MAX_THREADS + 5), algorithm)
        assert found == expected, path.read_text()
        verdicts.add(expected[0])
    return verdicts


def test_joined_threads_make_room(tmp_path: Path) -> None:
    assert len(compare_random_programs(range(40), tmp_path)) > 1


@pytest.mark.slow
def test_joined_threads_make_room_in_many_programs(tmp_path: Path) -> None:
    compare_random_programs(range(40, 1500), tmp_path)


@pytest.mark.parametrize("algorithm", ["pop", "optimal"])
def test_a_hundred_threads_one_after_the_other_beside_another(tmp_path: Path, algorithm: str) -> None:
    path = tmp_path / "hundred.c"
    path.write_text(
        HEAD
        + "static void *write(void *unused) { x = 1; return 0; }\n"
        + "static void *read(void *unused) { assert(own == 7); own = x; return 0; }\n"
        + "static void *f0(void *unused) { pthread_t w, r; pthread_create(&w, 0, write, 0);"
        + "for (int i = 0; i < 100; i++) { pthread_create(&r, 0, read, 0); pthread_join(r, 0); } return 0; }"
        + MAIN
    )
    verdict, complete, *_ = executions(path, 0, algorithm)
    assert (verdict, complete) == (Verdict.OK, 101)  # the writer comes before one of the readers, or after all


@pytest.mark.parametrize("engine", ["stateless", "stateful"])
def test_threads_joined_by_one_that_was_joined_make_room(tmp_path: Path, engine: str) -> None:
    # That a thread ends is a step that others may see: there are as many states as there are sets of those that have.
    size, groups = (20, 10) if engine == "stateless" else (5, 15)
    path = tmp_path / "groups.c"
    path.write_text(
        HEAD
        + f"static void *group(void *unused) {{ pthread_t t[{size}]; for (int i = 0; i < {size}; i++)"
        + f" pthread_create(&t[i], 0, idle, 0); for (int i = 0; i < {size}; i++) pthread_join(t[i], 0); return 0; }}\n"
        + f"static void *f0(void *unused) {{ for (int i = 0; i < {groups}; i++) {{ pthread_t t;"
        + " pthread_create(&t, 0, group, 0); pthread_join(t, 0); } return 0; }"
        + MAIN
    )
    result = mazurka.check(path, engine=engine, compiler_arguments=("-DIDLE=0",))
    assert result.verdict is Verdict.OK
    assert engine == "stateful" or result.executions.complete == 1


def test_threads_that_nobody_joined_make_no_room(tmp_path: Path) -> None:
    path = tmp_path / "left.c"
    path.write_text(
        HEAD
        + "static void *f0(void *unused) { for (int i = 0; i < 70; i++) { pthread_t t;"
        + " pthread_create(&t, 0, idle, 0); } return 0; }"
        + MAIN
    )
    result = mazurka.check(path, compiler_arguments=("-DIDLE=0",))
    assert result.verdict is Verdict.INCOMPLETE and "joined" in (result.reason or "")


def test_whoever_still_knows_a_joined_thread_is_told_so_whatever_comes_first(tmp_path: Path) -> None:
    """The old thread's handle is used beside the creation that takes its place."""
    path = tmp_path / "stale.c"
    path.write_text(
        HEAD
        + "static pthread_t first;\nstatic void *again(void *unused) { pthread_join(first, 0); return 0; }\n"
        + "static void *f0(void *unused) { pthread_t t; pthread_create(&first, 0, idle, 0); pthread_join(first, 0);"
        + " pthread_create(&t, 0, again, 0); for (int i = 0; i < 70; i++) { pthread_t r;"
        + " pthread_create(&r, 0, idle, 0); pthread_join(r, 0); } return 0; }"
        + MAIN
    )
    result = mazurka.check(path, compiler_arguments=("-DIDLE=0",))
    assert result.bug is not None and result.bug.kind == "sync"
