"""Traces: what an execution did, in the words of the source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import mazurka
from mazurka import Verdict
from mazurka.executions.schedule import Schedule, Step
from mazurka.executions.trace import Trace
from mazurka.program.builder import FunctionBuilder, ProgramBuilder
from mazurka.program.instructions import AssumeOrigin, GlobalAddress
from mazurka.program.names import demangle
from mazurka.program.program import DebugType, Member, Program, Relocation
from mazurka.program.types import F64, I8, I16, I32, I64, PTR
from mazurka.result import Loop

TYPES = {
    "int": DebugType("int", "int", 4),
    "unsigned": DebugType("unsigned int", "uint", 4),
    "char": DebugType("char", "char", 1),
    "bool": DebugType("_Bool", "bool", 1),
    "double": DebugType("double", "float", 8),
    "color": DebugType("enum color", "enum", 4, enumerators=(("RED", 0), ("GREEN", 1), ("NONE", -1))),
    "node": DebugType("struct node", "struct", 16, (Member("value", 0, "int"), Member("next", 8, "node *"))),
    "node *": DebugType("struct node *", "pointer", 8, element="node"),
    "function *": DebugType("void (*)(void)", "pointer", 8, element="function"),
    "function": DebugType("void (void)", "function", 0),
    "void *": DebugType("void *", "pointer", 8),
    "char *": DebugType("char *", "pointer", 8, element="char"),
    "int *": DebugType("int *", "pointer", 8, element="int"),
    "int[4]": DebugType("int[4]", "array", 16, element="int", count=4),
    "queue": DebugType(
        "struct queue",
        "struct",
        40,
        (Member("head", 0, "node *"), Member("lock", 8, "mutex"), Member("a", 24, "int[4]")),
    ),
    "mutex": DebugType("pthread_mutex_t", "union", 16, (Member("__data", 0, None), Member("__align", 0, "int"))),
    "flags": DebugType(
        "struct flags", "struct", 4, (Member("ready", 0, "unsigned", 1, 0), Member("mode", 0, "int", 3, 1))
    ),
    "pair": DebugType("struct pair", "struct", 8, (Member("x", 0, "int"), Member("y", 4, "int"))),
    "number": DebugType("union number", "union", 8, (Member("whole", 0, "int"), Member("real", 0, "double"))),
    "pthread_t": DebugType("pthread_t", "uint", 8),
}


def build(p: ProgramBuilder, **types: str | None) -> Program:
    """The program, with the debug types of its globals."""
    program = p.build()
    program.debug_types = TYPES
    for name, key in types.items():
        program.globals[name].debug_type = key
    return program


def failing(
    body: Callable[[FunctionBuilder, GlobalAddress], None],
    size: int = 64,
    *,
    type: str | None = "int",
    **types: str | None,
) -> Trace:
    """The trace of a program whose second thread does `body` with the global `x`, and then fails."""
    p = ProgramBuilder()
    x = p.data("x", bytes(size))
    for name in types:
        p.data(name, bytes(64))
    with p.function("worker") as f:
        body(f, x)
        f.fail("abort", "the end")
    with p.function("main") as f:
        f.spawn("worker")
    result = mazurka.check(build(p, x=type, **types))
    assert result.trace is not None
    return result.trace


def texts(trace: Trace) -> list[str]:
    return [
        action.text for step in trace.steps for action in step.actions if action.kind not in ("start", "end", "fail")
    ]


# --------------------------------------------------------------------------------------------------- values


@pytest.mark.parametrize(
    ("type", "width", "value", "shown"),
    [
        ("int", I32, -3, "x = -3"),
        ("unsigned", I32, -3, "x = 4294967293"),
        ("char", I8, 65, "x = 'A'"),
        ("char", I8, 0, "x = 0"),
        ("char", I8, 200, "x = -56"),
        ("bool", I8, 1, "x = true"),
        ("bool", I8, 0, "x = false"),
        ("double", F64, 2.5, "x = 2.5"),
        ("color", I32, 1, "x = GREEN"),
        ("color", I32, -1, "x = NONE"),
        ("color", I32, 7, "x = 7"),
        ("node *", PTR, 0, "x = null"),
        ("number", I32, 7, "x.whole = 7"),
        ("number", F64, 1.5, "x.real = 1.5"),
        ("pair", I32, 7, "x.x = 7"),
        ("pair", I64, (5 << 32) + 7, "x = {x = 7, y = 5}"),
        ("flags", I32, 0b1101, "x = {ready = 1, mode = -2}"),
        ("int", I16, 7, "x (byte 0) = 7"),
        (None, I32, -7, "x = -7"),
    ],
)
def test_values_are_written_as_their_type_says(
    type: str | None, width: mazurka.program.types.Type, value: int, shown: str
) -> None:
    trace = failing(lambda f, x: f.store(x, value, type=width), type=type)
    assert texts(trace) == [f"writes {shown}"]


def test_paths_lead_into_structures_and_arrays() -> None:
    def body(f: FunctionBuilder, x: GlobalAddress) -> None:
        f.store(f.offset(x, displacement=24 + 12), 3, type=I32)
        f.store(x, f.offset(x, displacement=24), type=PTR)

    assert texts(failing(body, type="queue")) == ["writes x.a[3] = 3", "writes x.head = &x.a"]


def test_pointers_are_named_by_what_they_point_to() -> None:
    p = ProgramBuilder()
    array = p.array("array", I32, [1, 2, 3, 4])
    text = p.data(".str", b'say "hi"\n\0', constant=True)
    node, chars, numbers = (p.variable(name, PTR) for name in ("node", "chars", "numbers"))
    with p.function("worker") as f:
        f.store(node, f.malloc(16))
        f.store(f.offset(f.load(node), displacement=8), f.load(node), type=PTR)
        f.store(chars, text)
        f.store(numbers, f.offset(array, displacement=8))
        f.fail("abort", "the end")
    with p.function("main") as f:
        f.spawn("worker")
    program = build(p, array="int[4]", node="node *", chars="char *", numbers="int *")
    trace = mazurka.check(program).trace
    assert trace is not None
    shown = texts(trace)
    assert "allocates node#1 (16 bytes)" in shown
    assert "writes node = node#1" in shown
    assert "writes node#1.next = node#1" in shown
    assert 'writes chars = "say \\"hi\\"\\n"' in shown
    assert "writes numbers = &array[2]" in shown


def test_pointers_to_functions_are_named_by_the_function() -> None:
    p = ProgramBuilder()
    table = p.data("table", bytes(8), [Relocation(0, "worker")])
    with p.function("worker") as f:
        f.load(table, type=PTR)
        f.fail("abort", "the end")
    with p.function("main") as f:
        f.spawn("worker")
    trace = mazurka.check(build(p, table="function *")).trace
    assert trace is not None
    assert texts(trace) == ["reads table = worker"]


def test_blocks_of_unknown_type_are_blocks() -> None:
    assert texts(failing(lambda f, x: f.store(x, f.malloc(8), type=PTR), type="void *")) == [
        "allocates block#1 (8 bytes)",
        "writes x = block#1",
    ]


def test_a_block_of_several_is_an_array() -> None:
    def body(f: FunctionBuilder, x: GlobalAddress) -> None:
        block = f.malloc(16)
        f.store(x, block, type=PTR)
        f.store(f.offset(block, displacement=8), 5, type=I32)

    assert texts(failing(body, type="int *"))[1:] == ["writes x = int#1", "writes int#1[2] = 5"]


def test_locals_of_other_threads_are_named_with_the_thread() -> None:
    p = ProgramBuilder()
    with p.function("worker", PTR) as f:
        f.store(f.parameters[0], 1, type=I32)
        f.fail("abort", "the end")
    with p.function("main") as f:
        done = f.local("done", I32, 0)
        thread = f.spawn("worker", done)
        f.load(done)
        f.join(thread)
    trace = mazurka.check(build(p)).trace
    assert trace is not None
    assert "writes main:done = 1" in texts(trace)
    assert "reads done = 0" in texts(trace)


def test_updates_and_exchanges_show_both_values() -> None:
    def body(f: FunctionBuilder, x: GlobalAddress) -> None:
        f.update("add", x, 2, type=I32)
        f.compare_exchange(x, 2, 5, type=I32)
        f.compare_exchange(x, 2, 6, type=I32)

    assert texts(failing(body)) == [
        "updates x: 0 → 2",
        "compare-exchange x: 2 → 5",
        "compare-exchange x: fails, it is 5",
    ]


def test_choices_and_output_are_told() -> None:
    def body(f: FunctionBuilder, x: GlobalAddress) -> None:
        f.store(x, f.choose(3))
        f.print("x is\n0")

    trace = failing(body)
    assert texts(trace) == ["chooses 0 (of 0 to 2)", "writes x = 0", 'prints "x is\\n0"']
    assert trace.output == "x is\n0"


# ------------------------------------------------------------------------------------------ lines and calls


def test_a_line_is_one_step_until_another_thread_interrupts() -> None:
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("worker") as f:
        f.at("no such file.c", 7)
        f.store(x, f.add(f.load(x), 1))
    with p.function("main") as f:
        f.at("no such file.c", 20)
        thread = f.spawn("worker")
        f.at("no such file.c", 21)
        f.store(x, f.add(f.load(x), 1))
        f.at("no such file.c", 22)
        f.join(thread)
        f.at("no such file.c", 23)
        f.check(f.eq(f.load(x), 2), "lost")
    result = mazurka.check(build(p))
    assert result.bug is not None and result.trace is not None
    assert (result.bug.file, result.bug.line, result.bug.thread) == ("no such file.c", 23, "main")
    lines = [(step.thread, step.line) for step in result.trace.steps if step.line in (7, 21)]
    assert sorted(lines[:2]) == [("main", 21), ("main.1", 7)]
    assert len(lines) >= 3
    last = result.trace.steps[-1]
    assert last.failed and [action.text for action in last.actions] == ["reads x = 1", "lost"]


def test_another_round_of_a_loop_is_another_step() -> None:
    def body(f: FunctionBuilder, x: GlobalAddress) -> None:
        f.at("file.c", 3)
        with f.repeat(2):
            f.update("add", x, 1, type=I32)

    trace = failing(body)
    updates = [step for step in trace.steps if any(action.kind == "update" for action in step.actions)]
    assert [action.text for step in updates for action in step.actions if action.kind == "update"] == [
        "updates x: 0 → 1",
        "updates x: 1 → 2",
    ]
    assert len(updates) == 2


def library_lock() -> ProgramBuilder:
    p = ProgramBuilder()
    with p.function("pthread_mutex_lock", PTR) as f, f.atomic():
        owner = f.load(f.parameters[0], type=I64)
        f.await_(f.eq(owner, 0), "mutex", f.parameters[0], f.load(f.parameters[0], type=PTR))
        f.store(f.parameters[0], f.self(), type=PTR)
    return p


def test_library_calls_are_shown_as_calls() -> None:
    p = library_lock()
    queue = p.data("queue", bytes(40))
    with p.function("worker") as f:
        f.at("file.c", 5)
        f.call("pthread_mutex_lock", f.offset(queue, displacement=8))
        f.fail("abort", "the end")
    with p.function("main") as f:
        f.spawn("worker")
    program = build(p, queue="queue")
    program.functions["pthread_mutex_lock"].library = True
    trace = mazurka.check(program).trace
    assert trace is not None
    assert texts(trace) == ["pthread_mutex_lock(&queue.lock)"]
    assert [(step.function, step.line) for step in trace.steps if step.thread == "main.1"] == [("worker", 5)]


def test_what_main_sets_up_is_marked() -> None:
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("worker") as f:
        f.check(f.eq(f.load(x), 0), "not zero")
    with p.function("main") as f:
        f.store(x, 4)
        f.load(x)
        f.spawn("worker")
    trace = mazurka.check(build(p, x="int")).trace
    assert trace is not None
    assert [action.text for step in trace.steps if step.setup for action in step.actions] == ["writes x = 4"]


# ------------------------------------------------------------------------------------------------- the ends


def test_a_deadlock_names_waiters_and_holders() -> None:
    p = library_lock()
    a, b = p.data("a", bytes(16)), p.data("b", bytes(16))
    for name, first, second, line in (("left", a, b, 10), ("right", b, a, 20)):
        with p.function(name) as f:
            f.at("file.c", line)
            f.call("pthread_mutex_lock", first)
            f.at("file.c", line + 1)
            f.call("pthread_mutex_lock", second)
            f.store(second, 0, type=I64)
            f.store(first, 0, type=I64)
    with p.function("main") as f:
        f.at("file.c", 30)
        one, two = f.spawn("left"), f.spawn("right")
        f.at("file.c", 31)
        f.join(one)
        f.join(two)
    program = build(p, a="mutex", b="mutex")
    program.functions["pthread_mutex_lock"].library = True
    result = mazurka.check(program)
    assert result.bug is not None and result.trace is not None
    waiting = {wait.thread: wait for wait in result.trace.waiting}
    assert set(waiting) == {"main", "main.1", "main.2"}
    assert (waiting["main.1"].what, waiting["main.1"].holder, waiting["main.2"].holder) == ("mutex", "main.2", "main.1")
    assert set(result.trace.cycle) == {"main.1", "main.2"}
    assert result.bug.kind == "deadlock"
    assert result.bug.message == (
        "deadlock: main.1 waits for mutex b, held by main.2; main.2 waits for mutex a, held by main.1"
    )
    assert (result.bug.line, result.bug.thread) == (11, "main.1")
    assert [(thread.name, thread.function) for thread in result.trace.threads] == [
        ("main", "main"),
        ("main.1", "left"),
        ("main.2", "right"),
    ]


def message(body: Callable[[FunctionBuilder, GlobalAddress], None], **types: str) -> str:
    p = ProgramBuilder()
    x = p.data("x", bytes(16))
    with p.function("main") as f:
        f.at("file.c", 3)
        body(f, x)
    result = mazurka.check(build(p, **types))
    assert result.bug is not None
    assert (result.bug.file, result.bug.line, result.bug.thread) == ("file.c", 3, "main")
    return result.bug.message


def use_after_free(f: FunctionBuilder, x: GlobalAddress) -> None:
    block = f.malloc(16)
    f.store(x, block, type=PTR)
    f.free(block)
    f.load(f.offset(block, displacement=8), type=PTR)


def double_free(f: FunctionBuilder, x: GlobalAddress) -> None:
    block = f.malloc(16)
    f.free(block)
    f.free(block)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            use_after_free,
            "use after free of node#1.next: "
            "node#1 (16 bytes, allocated at file.c:3 by main) was freed at file.c:3 by main",
        ),
        (
            double_free,
            "double free: block#1 (16 bytes, allocated at file.c:3 by main) was freed already at file.c:3 by main",
        ),
        (
            lambda f, x: f.load(f.offset(x, displacement=16), type=I32),
            "out of bounds: access to 4 bytes at offset 16 of x (16 bytes)",
        ),
        (
            lambda f, x: f.load(f.offset(x, displacement=-1), type=I8),
            "out of bounds: access to 1 byte at 1 before the begin of x (16 bytes)",
        ),
        (lambda f, x: f.load(f.load(x, type=PTR), type=I32), "null pointer: access to 4 bytes"),
        (lambda f, x: f.free(x), "invalid free: &x is not the begin of a block from malloc"),
        (lambda f, x: f.binary("sdiv", f.load(x, type=I32), f.load(x, type=I32)), "division by zero"),
        (lambda f, x: f.fail("sync", "unlocks what it does not hold"), "unlocks what it does not hold"),
    ],
)
def test_failures_are_explained(body: Callable[[FunctionBuilder, GlobalAddress], None], words: str) -> None:
    assert message(body, x="node *") == words


def test_an_execution_without_end_names_its_loop() -> None:
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("worker") as f:
        f.at("file.c", 9)
        with f.loop():
            f.at("file.c", 10)
            f.update("add", x, 1)
    with p.function("main") as f:
        f.spawn("worker")
    result = mazurka.check(build(p), max_steps=3000)
    assert result.verdict is Verdict.INCOMPLETE and result.limit is not None and result.trace is not None
    assert (result.limit.kind, result.limit.thread) == ("too_many_steps", "main.1")
    assert result.limit.loop == Loop("worker", "file.c", 10)
    assert result.limit.message.startswith(
        "no end within 3,000 steps, in the loop at file.c:10 in worker; allow more with --max-steps"
    )
    assert result.trace.omitted == 2000
    assert [number for number, step in enumerate(result.trace.steps) if step.omitted] == [1]
    assert len(result.trace.steps) == 1000


# ------------------------------------------------------------------------------------------------- replaying


def racing() -> Program:
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("worker") as f:
        f.store(x, f.choose(2))
    with p.function("main") as f:
        thread = f.spawn("worker")
        f.check(f.eq(f.load(x), 0), "x is not 0")
        f.join(thread)
    return build(p, x="int")


def test_a_replay_gives_the_same_trace() -> None:
    result = mazurka.check(racing())
    assert result.schedule is not None
    again = mazurka.replay(racing(), result.schedule)
    assert (again.trace, again.bug, again.verdict) == (result.trace, result.bug, result.verdict)
    assert Schedule.from_json(result.to_json()) == result.schedule


def test_a_replay_without_a_bug_and_one_that_stops_early() -> None:
    steps = (Step("main.1", (0,)), Step("main.1"), Step("main.1"), Step("main"), Step("main"), Step("main"))
    schedule = Schedule(("main", "main.1"), steps)
    whole = mazurka.replay(racing(), schedule)
    assert (whole.verdict, whole.executions.complete) == (mazurka.Verdict.OK, 1)
    early = mazurka.replay(racing(), replace(schedule, steps=steps[:2]))
    assert (early.verdict, early.reason) == (mazurka.Verdict.INCOMPLETE, "the schedule ends before the program does")


@pytest.mark.parametrize(
    ("origin", "told", "verdict"),
    [
        ("program", "stops here: an assumption is false", mazurka.Verdict.OK),
        ("loop", "stops here: the loop would only go round again", mazurka.Verdict.OK),
        ("bound", "stops here: the loop has gone round as often as it may", mazurka.Verdict.INCOMPLETE),
    ],
)
def test_a_thread_says_why_it_stops(origin: AssumeOrigin, told: str, verdict: mazurka.Verdict) -> None:
    p = ProgramBuilder()
    x = p.variable("x")
    with p.function("worker") as f:
        seen = f.load(x)
        f.assume(f.ne(seen, 0), origin)
    with p.function("main") as f:
        f.spawn("worker")
    result = mazurka.replay(build(p, x="int"), Schedule(("main", "main.1"), (Step("main"), Step("main.1"))))
    assert result.trace is not None
    assert texts(result.trace) == ["reads x = 0", told]
    assert result.verdict is verdict
    assert (result.executions.blocked, result.executions.bounded) == (1, int(origin == "bound"))


@pytest.mark.parametrize(
    ("threads", "steps", "words"),
    [
        ((), [Step("main.2")], "step 1 of 1 is of thread main.2, which does not exist then"),
        ((), [Step("main"), Step("main")], "step 2 of 2 is of thread main, which cannot go on then: it waits"),
        ((), [Step("main.1", (2,))], "step 1 of 1 is of thread main.1, with the choice 2 where there are 2"),
        ((), [Step("main.1", (-1,))], "step 1 of 1 is of thread main.1, with a choice below 0"),
        ((), [Step("main.1", (0, 0))], "step 1 of 1 is of thread main.1, with 2 choices, where it makes 1"),
        ((), [Step("main.1")] * 4, "step 4 of 4 is of thread main.1, which has ended before it"),
        (
            (),
            [Step("main.1", (1,)), Step("main.1"), Step("main"), Step("main")],
            "step 4 of 4 is of thread main, which has failed before it",
        ),
        (("main", "nobody"), [], "'nobody' is not the name of a thread that an earlier one creates"),
    ],
)
def test_a_schedule_that_does_not_fit_is_refused(threads: tuple[str, ...], steps: list[Step], words: str) -> None:
    with pytest.raises(mazurka.InputError) as error:
        mazurka.replay(racing(), Schedule(threads, tuple(steps)))
    assert str(error.value) == f"the schedule does not fit the program: {words}"


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("main", "main"),
        ("_Z6workerPv", "worker"),
        ("_ZN5Stack4pushEP4Node", "Stack::push"),
        ("_ZNK5Stack3topEv", "Stack::top"),
        ("_ZNSt3__16atomicIiE5storeEi", "std::__1::atomic::store"),
        ("_ZNSt3__112basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEEpLEPKc", "std::__1::basic_string::operator+="),
        ("_ZNSt3__111unique_lockINS_5mutexEEC2B9nin220108ERS1_", "std::__1::unique_lock::unique_lock"),
        ("_ZNSt3__1lsB9nin220108INS_11char_traitsIcEEEERNS_13basic_ostreamIcT_EES6_c", "std::__1::operator<<"),
        ("_Z", "_Z"),
    ],
)
def test_functions_of_cpp_are_named_as_in_the_source(symbol: str, name: str) -> None:
    assert demangle(symbol) == name


LONG = """\
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
struct node { int value; } *_Atomic head;
atomic_int x;
void *worker(void *unused) {
    for (int i = 0; i < ROUNDS; i++) x++;
    putchar('A');
    struct node *made = malloc(sizeof *made);
    head = made;
    for (int i = 0; i < ROUNDS; i++) x++;
    free(made);
    made->value = 1;
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, worker, 0);
    pthread_join(a, 0);
}
"""


@pytest.mark.parametrize("rounds", [5_000, 40_000])
def test_what_is_recorded_of_a_long_execution_is_bounded(rounds: int, tmp_path: Path) -> None:
    """Its first and last steps are told. What it printed, and what its blocks are, is known from all of it."""
    (tmp_path / "long.c").write_text(LONG.replace("ROUNDS", str(rounds)))
    schedule = Schedule(("main", "main.1"), (Step("main.1"),) * (2 * rounds + 3))
    result = mazurka.replay(tmp_path / "long.c", schedule)
    assert result.bug is not None and result.trace is not None
    assert result.bug.message == (
        f"use after free of node#1.value: node#1 (4 bytes, allocated at {tmp_path}/long.c:10 by main.1) was freed at "
        f"{tmp_path}/long.c:13 by main.1"
    )
    assert (result.trace.output, len(result.trace.steps)) == ("A", 1000)
    assert result.trace.omitted == pytest.approx(2 * rounds - 1000, abs=10)


def test_of_what_is_not_recorded_the_last_writes_are(tmp_path: Path) -> None:
    """Whatever comes between, and however much, is no reason to lose what a failure depends on."""
    (tmp_path / "program.c").write_text("""
    #include <assert.h>
    #include <pthread.h>
    #include <stdatomic.h>
    atomic_int noise; int shared;
    void *worker(void *unused) {
        for (int i = 0; i < 20000; i++) atomic_fetch_add(&noise, 1);
        shared = 5;
        for (int i = 0; i < 40000; i++) atomic_fetch_add(&noise, 1);
        return unused;
    }
    int main(void) {
        pthread_t thread;
        pthread_create(&thread, 0, worker, 0);
        pthread_join(thread, 0);
        assert(shared == 6);
    }
    """)
    result = mazurka.check(tmp_path / "program.c", races="ignore")
    assert result.bug is not None and result.trace is not None
    assert len(result.trace.steps) <= 1000 and "writes shared = 5" in texts(result.trace)
    assert result.trace.omitted == pytest.approx(60_000 - 1000, abs=10)
