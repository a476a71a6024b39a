"""What traces of C and C++ programs say."""

from __future__ import annotations

from pathlib import Path

import pytest

from mazurka import Result, Verdict, check
from mazurka.escaping import quoted, visible
from mazurka.positions import spoken


def run(directory: Path, source: str, name: str = "program.c") -> Result:
    path = directory / name
    path.write_text(source)
    return check(path, races="ignore")


def texts(result: Result, thread: str) -> list[str]:
    """What a thread did, in words."""
    assert result.trace is not None
    return [action.text for step in result.trace.steps if step.thread == thread for action in step.actions]


WAITING = """
#include <assert.h>
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int waits, ready;
void *waiter(void *unused) {
    pthread_mutex_lock(&m);
    while (!ready) {
        waits++;
        pthread_cond_wait(&c, &m);
    }
    pthread_mutex_unlock(&m);
    return unused;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, waiter, 0);
    pthread_mutex_lock(&m);
    ready = 1;
    SIGNAL(&c);
    pthread_mutex_unlock(&m);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(waits != WAITS);
}
"""


def waiting(directory: Path, signal: str, waits: int) -> Result:
    return run(directory, f"#define SIGNAL {signal}\n#define WAITS {waits}\n{WAITING}")


def test_who_is_woken(tmp_path: Path) -> None:
    result = waiting(tmp_path, "pthread_cond_broadcast", 2)
    told = ["pthread_mutex_lock(&m)", "writes ready = 1", "pthread_cond_broadcast(&c)", "wakes main.1", "wakes main.2"]
    assert texts(result, "main")[2:7] == told
    for thread in ("main.1", "main.2"):
        assert "wakes up and locks m" in texts(result, thread)


def test_which_one_is_woken(tmp_path: Path) -> None:
    """The choice between those that wait needs no words of its own."""
    result = waiting(tmp_path, "pthread_cond_signal", 2)
    assert result.bug is not None
    assert result.bug.kind == "deadlock"
    told = texts(result, "main")
    assert told[told.index("pthread_cond_signal(&c)") + 1] in ("wakes main.1", "wakes main.2")
    assert not any(text.startswith("chooses") for text in told)


def test_nobody_is_woken(tmp_path: Path) -> None:
    result = waiting(tmp_path, "pthread_cond_signal", 0)
    assert texts(result, "main")[4:6] == ["pthread_cond_signal(&c)", "wakes nobody"]


def test_a_wait_that_times_out(tmp_path: Path) -> None:
    source = """
        #include <assert.h>
        #include <pthread.h>
        pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
        pthread_cond_t c = PTHREAD_COND_INITIALIZER;
        void *work(void *unused) { pthread_cond_signal(&c); return unused; }
        int main(void) {
            pthread_t thread;
            struct timespec deadline = {1, 0};
            pthread_create(&thread, 0, work, 0);
            pthread_mutex_lock(&m);
            assert(pthread_cond_timedwait(&c, &m, &deadline) == 0);
        }
    """
    told = texts(run(tmp_path, source), "main")
    assert any(text.startswith("pthread_cond_timedwait(&c") and text.endswith(" times out") for text in told)


def test_the_last_at_a_barrier_wakes_the_others(tmp_path: Path) -> None:
    source = """
        #include <assert.h>
        #include <pthread.h>
        pthread_barrier_t b;
        void *work(void *unused) { pthread_barrier_wait(&b); return unused; }
        int main(void) {
            pthread_t thread;
            pthread_barrier_init(&b, 0, 2);
            pthread_create(&thread, 0, work, 0);
            int last = pthread_barrier_wait(&b);
            pthread_join(thread, 0);
            assert(!last);
        }
    """
    result = run(tmp_path, source)
    assert texts(result, "main")[1:3] == ["pthread_barrier_wait(&b)", "wakes main.1"]
    assert texts(result, "main.1") == ["pthread_barrier_wait(&b)", "wakes up", "ends"]


def test_threads_of_cpp_are_named_as_in_the_source(tmp_path: Path) -> None:
    source = """
        #include <cassert>
        #include <pthread.h>
        volatile int x;
        static void *quiet(void *) { return x = 1, nullptr; }
        namespace { void *hidden(void *) { return x = 2, nullptr; } }
        int main() {
            pthread_t thread;
            pthread_create(&thread, nullptr, quiet, nullptr);
            pthread_create(&thread, nullptr, hidden, nullptr);
            pthread_create(&thread, nullptr, [](void *) -> void * { return x = 3, nullptr; }, nullptr);
            assert(false);
        }
    """
    result = run(tmp_path, source, "program.cpp")
    assert result.trace is not None
    functions = ["main", "quiet", "(anonymous namespace)::hidden", "function in main"]
    assert [thread.function for thread in result.trace.threads] == functions


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("main", "main"),
        ("_Znwm", "_Znwm"),
        ("_Z3runPv", "run"),
        ("_ZL3runPv", "run"),
        ("_ZN2nsL3runEPv", "ns::run"),
        ("_ZNK5Queue3popEv", "Queue::pop"),
        ("_ZN2ns3runIiEEPvS1_", "ns::run"),
        ("_ZSt9terminatev", "std::terminate"),
        ("_ZZN1A1fEiENKUlvE_clEv", "function in A::f"),
        ("odd\x1b", "odd\\x1b"),
    ],
)
def test_functions_are_named_as_in_the_source(symbol: str, name: str) -> None:
    assert spoken(symbol) == name


def test_control_characters_are_not_shown_raw(tmp_path: Path) -> None:
    assert visible("a\tb\x1b[31m\u202eé…") == "a\\tb\\x1b[31m\\u202eé…"
    assert quoted('"\\\n') == '"\\"\\\\\\n"'
    source = "#include <assert.h>\n#include <stdio.h>\nconst char *volatile p;\n"
    source += 'int main(void) { p = "\\x1b]0;\\a";\tputs(p); assert(p == 0); } // \x1b[31m\n'
    result = run(tmp_path, source)
    assert result.trace is not None
    shown = [step.statement or "" for step in result.trace.steps] + texts(result, "main")
    assert all(text.isprintable() for text in shown)
    assert 'prints "\\x1b]0;\\x07\\n"' in shown
    assert 'writes p = "\\x1b]0;\\x07"' in shown


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return nested(5000);", "calls nest more than 4,096 deep, which is a limit of Mazurka; let the recursion end"),
        ("return !malloc(64 << 20);", "object of 67,108,864 bytes: Mazurka's limit is 32 MiB; check the program with"),
        (
            "for (pthread_t t;;) pthread_create(&t, 0, work, 0);",
            "more than 63 threads (those that have ended count), which is a limit of Mazurka; reuse threads",
        ),
        (
            "return __VERIFIER_nondet_range(1, 70000);",
            "a choice among more than 65,536 values, which is a limit of Mazurka; choose among fewer",
        ),
        (
            "for (volatile unsigned i = 0; i + 1; i++) {}",
            "no end within 10,000,000 instructions without a step that others could see",
        ),
    ],
)
def test_a_limit_says_that_it_is_one(tmp_path: Path, body: str, message: str) -> None:
    source = f"""
        #include <pthread.h>
        #include <stdlib.h>
        int __VERIFIER_nondet_range(int low, int high);
        int nested(int n) {{ return n ? nested(n - 1) + 1 : 0; }}
        void *work(void *unused) {{ return unused; }}
        int main(void) {{ {body} }}
    """
    result = run(tmp_path, source)
    if "limit" in message:
        assert (result.verdict, result.bug) == (Verdict.INCOMPLETE, None)
        assert result.trace is not None and result.schedule is not None
    told = result.bug.message if result.bug else result.reason
    assert told is not None
    assert message in told


# ----------------------------------------------------------------------------------------------- livelocks


WAITERS = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
void __VERIFIER_assume(int);
struct lock { int owner; atomic_int held; };
struct lock *lock;
atomic_int flag[2], turn;
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
void *one(void *unused) {
    ONE;
    return unused;
}
void *other(void *unused) {
    OTHER;
    return unused;
}
int main(void) {
    pthread_t threads[2];
    lock = calloc(1, sizeof *lock);
    flag[1] = turn = 1;
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, other, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
}
"""


def waiters(directory: Path, one: str, other: str = "", **options: bool) -> Result:
    path = directory / "program.c"
    path.write_text(WAITERS)
    return check(path, compiler_arguments=[f"-DONE={one}", f"-DOTHER={other}"], races="ignore", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("awaits", [True, False])
@pytest.mark.parametrize(
    ("loop", "watched"),
    [
        ("while (!flag[0]) {}", {"flag[0]": "0"}),
        ("while (flag[1] && turn == 1) {}", {"flag[1]": "1", "turn": "1"}),
        ("while (!atomic_load(&lock->held)) {}", {"lock": "lock#1", "lock#1.held": "0"}),
        ("while (!atomic_compare_exchange_strong(&flag[1], &(int){0}, 1)) {}", {"flag[1]": "1"}),
        ("for (;;) {}", {}),
    ],
)
def test_which_loop_goes_round_for_ever_and_what_would_end_it(
    tmp_path: Path, loop: str, watched: dict[str, str], awaits: bool
) -> None:
    result = waiters(tmp_path, loop, awaits=awaits)
    assert result.bug is not None and result.trace is not None
    assert (result.bug.kind, result.bug.line, result.bug.thread) == ("livelock", 11, "main.1")
    main, spins = result.trace.waiting
    assert (main.what, spins.what, spins.line) == ("end of thread", "loop", 11)
    assert {reading.object: reading.value for reading in spins.watches} == watched
    told = f"livelock: main.1 goes round the loop at {tmp_path / 'program.c'}:11 for ever"
    if watched:
        told += f", waiting for {' or '.join(map(str, spins.watches))} to change"
    assert result.bug.message == f"{told}; main waits for end of thread main.1"


def test_all_loops_must_go_round_for_ever(tmp_path: Path) -> None:
    """The first loop is left as soon as it looks at `flag[0]` again, which is another execution."""
    result = waiters(tmp_path, "while (!flag[0] && turn == 1) {}", "flag[0] = 1", awaits=False)
    assert result.verdict is Verdict.OK
    assert result.executions.blocked


def test_an_assumption_excuses_those_who_wait(tmp_path: Path) -> None:
    result = waiters(tmp_path, "while (!flag[0]) {}", "__VERIFIER_assume(turn == 0)")
    assert (result.verdict, result.executions.complete, result.executions.blocked) == (Verdict.OK, 0, 1)


@pytest.mark.parametrize("allow_livelock", [False, True])
def test_who_waits_for_each_other_does_so_whatever_loops_do(tmp_path: Path, allow_livelock: bool) -> None:
    path = tmp_path / "program.c"
    path.write_text(WAITERS.replace("pthread_join(threads[0], 0);", "while (!flag[0]) {}"))
    one = "pthread_mutex_lock(&a); pthread_mutex_lock(&b); flag[0] = 1; pthread_mutex_unlock(&b)"
    other = "pthread_mutex_lock(&b); pthread_mutex_lock(&a); pthread_mutex_unlock(&a); pthread_mutex_unlock(&b)"
    arguments = [f"-DONE={one}; pthread_mutex_unlock(&a)", f"-DOTHER={other}"]
    result = check(path, compiler_arguments=arguments, allow_livelock=allow_livelock)
    assert result.bug is not None and result.trace is not None
    assert result.bug.message == (
        "deadlock: main.1 waits for mutex b, held by main.2; main.2 waits for mutex a, held by main.1"
    )
    assert [wait.what for wait in result.trace.waiting] == ["loop", "mutex", "mutex"]


def test_peterson(tmp_path: Path) -> None:
    source = """
        #include <assert.h>
        #include <pthread.h>
        #include <stdatomic.h>
        atomic_int flag[2], turn;
        int owner;
        void *enter(void *argument) {
            long me = (long)argument, other = 1 - me;
            flag[me] = 1;
            turn = other;
            while (flag[other] && turn == other) {}
            owner = me;
            assert(owner == me);
            flag[me] = 0;
            return 0;
        }
        int main(void) {
            pthread_t threads[2];
            for (long i = 0; i < 2; i++)
                pthread_create(&threads[i], 0, enter, (void *)i);
            for (int i = 0; i < 2; i++)
                pthread_join(threads[i], 0);
        }
    """
    result = run(tmp_path, source)
    assert (result.verdict, result.executions.complete) == (Verdict.OK, 4)


def test_a_thread_that_has_waited_just_reads(tmp_path: Path) -> None:
    result = waiters(tmp_path, "while (!flag[0]) {} abort()", "flag[0] = 1")
    assert texts(result, "main.1")[:1] == ["reads flag[0] = 1"]
