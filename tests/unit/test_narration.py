"""What traces of C and C++ programs say."""

from __future__ import annotations

import io
import itertools
from pathlib import Path

import pytest

from mazurka import Result, Verdict, check
from mazurka.escaping import quoted, visible
from mazurka.program.names import demangle, shortened, type_name
from mazurka.reports import text


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
    functions = ["main", "quiet", "(anonymous namespace)::hidden", "lambda at program.cpp:11"]
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
    assert demangle(symbol) == name


@pytest.mark.parametrize("width", [60, 72, 80, 100, 140])
def test_no_line_of_a_trace_is_wider_than_the_terminal(tmp_path: Path, width: int) -> None:
    source = """
        #include <cassert>
        #include <pthread.h>
        namespace company::product::implementation_details {
        template <typename A, typename B> struct ExtremelyLongNameOfATemplateForWorkers {
            static void *run_for_as_long_as_it_takes(void *p) { ++*(volatile int *)p; return nullptr; }
        };
        }
        using Worker = company::product::implementation_details::ExtremelyLongNameOfATemplateForWorkers<int, long>;
        int counter;
        int main() {
            pthread_t one, other;
            pthread_create(&one, nullptr, Worker::run_for_as_long_as_it_takes, &counter);
            pthread_create(&other, nullptr, Worker::run_for_as_long_as_it_takes, &counter);
            pthread_join(one, nullptr);
            pthread_join(other, nullptr);
            assert(counter == 2);
        }
    """
    trace = run(tmp_path, source, "program.cpp").trace
    assert trace is not None
    out = io.StringIO()
    text.write_trace(trace, text.open_console(out, "never", width))
    lines = out.getvalue().splitlines()
    assert lines and max(map(len, lines)) <= width
    heads = " ".join(itertools.takewhile(lambda line: not line.startswith("─"), lines))
    if width >= 100:  # in columns
        assert "main.1" in heads and "main.2" in heads and "company" not in heads


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("std::__1::mutex", "std::mutex"),
        ("std::__cxx11::string", "std::string"),
        ("Queue<int>::Node", "Queue<int>::Node"),
        ("Queue<std::__1::vector<int>, 4U>::push", "Queue<…>::push"),
        ("Map<long long, Pair<int, int>>::Entry<short>::find", "Map<…>::Entry<…>::find"),
        ("Matrix<double, 100, 100>::operator<<", "Matrix<…>::operator<<"),
        ("a_function_with_a_name_that_goes_on", "a_function_with_a_name_that_goes_on"),
    ],
)
def test_names_of_cpp_are_shortened(name: str, short: str) -> None:
    assert shortened(name) == short


def test_functions_of_cpp_are_named_with_their_class(tmp_path: Path) -> None:
    source = """
        #include <pthread.h>
        #include <stdlib.h>
        namespace ring {
        template <typename T, int N> struct Buffer {
            struct Slot { T value; Slot *next; };
            Slot slots[N];
            void push(T value) { slots[0].value = value; abort(); }
        };
        }
        template <typename F> void *call(void *f) { (*(F *)f)(); return nullptr; }
        struct Configuration { long one, two; };
        int three() { return 3; }
        int global = three();
        int main() {
            auto body = [] { (new ring::Buffer<Configuration, 1000>)->push({}); };
            pthread_t thread;
            pthread_create(&thread, nullptr, call<decltype(body)>, &body);
        }
    """
    trace = run(tmp_path, source, "program.cpp").trace
    assert trace is not None
    assert [step.function for step in trace.steps if step.failed] == ["ring::Buffer<…>::push"]
    assert [thread.function for thread in trace.threads] == ["main", "call<…>"]
    assert any(step.function == "lambda at program.cpp:16" for step in trace.steps)
    assert any(action.object == "Buffer<…>#1" for step in trace.steps for action in step.actions)


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
            "more than 63 threads (but for those that were joined), which is a limit of Mazurka; reuse threads",
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
    assert (result.verdict, result.bug) == (Verdict.INCOMPLETE, None), "nothing was checked to its end"
    assert (result.executions.complete, result.executions.blocked) == (0, 1)


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


def blocks(result: Result) -> list[str]:
    """What was allocated, as the trace calls it."""
    assert result.trace is not None
    actions = [action for step in result.trace.steps for action in step.actions]
    return [action.object or "" for action in actions if action.kind == "allocate"]


BLOCKS = """
#include <pthread.h>
#include <stdlib.h>
struct link { struct link *next; };
struct node { struct link link; int value; };
typedef struct { long a, b, c; } triple;
void *xmalloc(size_t size) { void *p = malloc(size); if (!p) abort(); return p; }
void set(void *p) { ((triple *)p)->b = 1; }
void *worker(void *unused) {
    %s
    abort();
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
}
"""


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("struct node *n = malloc(sizeof *n); n->value = 1;", ["node#1"]),
        ("struct node *n = malloc(sizeof *n); free(n); n->value = 1;", ["node#1"]),  # never accessed
        ("struct node *n = xmalloc(sizeof *n);", ["node#1"]),
        ("int *p = malloc(sizeof(int)); *p = 1;", ["int#1"]),
        ("int *p = malloc(4 * sizeof(int)); p[2] = 1;", ["int#1"]),
        ("void *p = malloc(sizeof(triple)); set(p);", ["triple#1"]),
        ("struct link *l = malloc(sizeof(struct node)); ((struct node *)l)->value = 1;", ["node#1"]),
        ("struct link *l = malloc(8); l->next = malloc(8);", ["link#1", "link#2"]),
        ("struct node *n = malloc(sizeof *n); triple *t = malloc(sizeof *t);", ["node#1", "triple#1"]),
        ("void *p = malloc(8); free(p);", ["block#1"]),
    ],
)
def test_blocks_are_named_by_the_pointers_to_them(tmp_path: Path, body: str, names: list[str]) -> None:
    assert blocks(run(tmp_path, BLOCKS % body)) == names


def test_a_member_of_a_block_that_only_locals_point_to(tmp_path: Path) -> None:
    result = run(
        tmp_path, BLOCKS % "struct node *n = malloc(sizeof *n); triple t[2], *p = t; n->value = 5; set(p + 1);"
    )
    assert "writes node#1.value = 5" in texts(result, "main.1")


def test_blocks_of_new_are_named_by_their_class(tmp_path: Path) -> None:
    source = """
    #include <pthread.h>
    #include <stdlib.h>
    template <typename T> struct Stack {
        struct Node { T value; Node *next; };
        Node *top = nullptr;
        void push(T value) { top = new Node{value, top}; }
    };
    void *worker(void *) {
        auto *stack = new Stack<int>;
        stack->push(1);
        stack->push(2);
        abort();
    }
    int main() { pthread_t thread; pthread_create(&thread, 0, worker, 0); }
    """
    assert blocks(run(tmp_path, source, "program.cpp")) == ["Stack<int>#1", "Node#1", "Node#2"]


# ------------------------------------------------------------------------------------------ exceptions


def test_an_exception_is_told_from_throw_to_throw(tmp_path: Path) -> None:
    source = """
        #include <stdexcept>
        static void work(int number) {
            try {
                if (number) throw std::length_error("too long");
            } catch (const std::logic_error &) {
                throw;
            }
        }
        int main() { work(1); }"""
    result = run(tmp_path, source, "program.cpp")
    assert result.bug is not None
    assert (result.bug.kind, result.bug.line) == ("abort", 5)
    assert result.bug.message == "uncaught exception of type std::length_error: too long"
    said = texts(result, "main")
    told = [text for text in said if "exception" in text and "writes" not in text]
    assert told == [
        "throws an exception",
        "catches the exception",
        "throws the exception again",
        result.bug.message,
    ]
    assert not any("__cxa" in text or "__mazurka" in text for text in said)


def test_what_leaves_a_noexcept_function_is_said(tmp_path: Path) -> None:
    source = "static void work() { throw 1; }\nstatic void quiet() noexcept { work(); }\nint main() { quiet(); }"
    result = run(tmp_path, source, "program.cpp")
    assert result.bug is not None
    assert (result.bug.message, result.bug.line) == ("uncaught exception of type int", 1)
    assert "lets an exception out of a noexcept function" in texts(result, "main")


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("i", "int"),
        ("PKc", "const char*"),
        ("3Own", "Own"),
        ("St13runtime_error", "std::runtime_error"),
        ("NSt3__112system_errorE", "std::system_error"),
        ("N12_GLOBAL__N_14FullE", "(anonymous namespace)::Full"),
        ("?", "?"),
    ],
)
def test_types_are_named_as_in_the_source(encoding: str, name: str) -> None:
    assert type_name(encoding) == name


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_RNvNtCsgEmfK2I1SDS_4core9panicking18panic_bounds_check", "core::panicking::panic_bounds_check"),
        ("_RNvCsfLfy6EI15iL_7___rustc12___rust_alloc", "__rustc::__rust_alloc"),
        ("_RNvXs_foo", "_RNvXs_foo"),
        ("_RINvNtC3std3mem8align_ofdE", "_RINvNtC3std3mem8align_ofdE"),
    ],
)
def test_functions_of_rust_are_named_as_in_the_source(symbol: str, name: str) -> None:
    assert demangle(symbol) == name
