"""Memory models: what a person types, and what is shown."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from mazurka import cli
from tests.support.interrupting import interrupt_check
from tests.support.two_threads import main_of_two

BUFFERING = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef ORDER
#define ORDER memory_order_relaxed
#endif

atomic_int x, y;
int a, b;

void *one(void *unused) {
    atomic_store_explicit(&x, 1, ORDER);
    a = atomic_load_explicit(&y, ORDER);
    return unused;
}

void *two(void *unused) {
    atomic_store_explicit(&y, 1, ORDER);
    b = atomic_load_explicit(&x, ORDER);
    return unused;
}
""" + main_of_two("assert(a || b);")

MESSAGE = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef SEND
#define SEND memory_order_release
#endif

int message;
atomic_int there;

void *one(void *unused) {
    message = 42;
    atomic_store_explicit(&there, 1, SEND);
    return unused;
}

void *two(void *unused) {
    if (atomic_load_explicit(&there, memory_order_acquire))
        assert(message == 42);
    return unused;
}
""" + main_of_two()

ENDLESS = """\
#include <pthread.h>
#include <stdatomic.h>

atomic_int x, y;

void *one(void *unused) {
    for (;;)
        atomic_store_explicit(&x, 1 - atomic_load_explicit(&x, memory_order_relaxed), memory_order_relaxed);
}

void *two(void *unused) {
    for (;;)
        atomic_store_explicit(&y, 1 - atomic_load_explicit(&y, memory_order_relaxed), memory_order_relaxed);
}
""" + main_of_two()

MANY = """\
#include <pthread.h>
#include <stdatomic.h>

atomic_int x;

void *one(void *unused) {
    for (int i = 0; i < 12; i++)
        atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);
    return unused;
}

void *two(void *unused) {
    return one(unused);
}
""" + main_of_two()
NOT_EXPLORED = "load buffering (cycles of program order and reads-from) is not explored"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("sb.c", BUFFERING), ("mp.c", MESSAGE), ("endless.c", ENDLESS), ("many.c", MANY)):
        Path(name).write_text(text)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = cli.main([*words])
    out, err = capsys.readouterr()
    return code, out, err


def untimed(line: str) -> str:
    return line.rpartition(" (")[0]


# ----------------------------------------------------------------------------------------------- which executions


@pytest.mark.parametrize(
    ("order", "memory", "answer"),
    [
        ("relaxed", "sc", "verified: all 3 executions"),
        ("relaxed", "tso", "bug: assertion `a || b` failed"),
        ("relaxed", "pso", "bug: assertion `a || b` failed"),
        ("relaxed", "ra", "bug: assertion `a || b` failed"),
        ("relaxed", "c11", "bug: assertion `a || b` failed"),
        ("seq_cst", "tso", "verified: all 3 execution graphs of tso"),
        ("seq_cst", "ra", "bug: assertion `a || b` failed"),
        ("seq_cst", "c11", "verified: all 3 executions"),
    ],
)
def test_store_buffering(here: Path, capsys: pytest.CaptureFixture[str], order: str, memory: str, answer: str) -> None:
    code, out, _ = run(capsys, "check", f"-DORDER=memory_order_{order}", "sb.c", "--memory", memory)
    assert untimed(out.splitlines()[0]) == answer
    assert code == (1 if answer.startswith("bug") else 0)


def test_c11_is_the_default(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "check", "sb.c")[0] == 1
    assert run(capsys, "check", "mp.c")[0] == 0
    code, out, _ = run(capsys, "check", "mp.c", "-DSEND=memory_order_relaxed")
    assert code == 1 and out.startswith("bug: assertion `message == 42` failed (mp.c:20, thread main.2)")
    assert "warning: data race on `message`" in out


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (["mp.c"], ["verified: all 2 execution graphs of c11", NOT_EXPLORED]),
        (["mp.c", "--memory", "ra"], ["verified: all 2 execution graphs of ra"]),
        (["mp.c", "--memory", "sc", "--algorithm", "graphs"], ["verified: all 2 execution graphs of sc"]),
        (["sb.c", "-DORDER=memory_order_seq_cst"], [
            "verified: all 3 executions",
            "no atomic access is weaker than seq_cst: without data races, c11 has only interleavings",
        ]),
    ],
)  # fmt: skip
def test_what_is_said_of_what_was_explored(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str], lines: list[str]
) -> None:
    code, out, _ = run(capsys, "check", *words)
    first, *others = out.splitlines()
    others = [line for line in others if not line.startswith("the effects of")]
    assert code == 0 and [untimed(first), *others] == lines


def test_under_sc_the_report_says_what_was_left_out(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = "mp.c:14, mp.c:19"
    left_out = f"the effects of memory orders weaker than seq_cst were not explored, only interleavings ({where})"
    assert left_out in run(capsys, "check", "mp.c", "--memory", "sc")[1].splitlines()
    for memory in ("tso", "pso", "ra", "c11"):
        assert "not explored, only interleavings" not in run(capsys, "check", "mp.c", "--memory", memory)[1]


def test_a_program_without_atomics_is_as_ever(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("plain.c").write_text("int main(void) { return 0; }\n")
    _, out, _ = run(capsys, "check", "plain.c")
    assert untimed(out.strip()) == "verified: the only execution"


def test_the_only_graph(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("plain.c").write_text("int main(void) { return 0; }\n")
    _, out, _ = run(capsys, "check", "plain.c", "--memory", "pso")
    assert untimed(out.strip()) == "verified: the only execution graph of pso"


# -------------------------------------------------------------------------------------------------- what is shown


def test_the_report_of_a_weak_bug(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "check", "sb.c", "--color", "never")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[1].startswith("2 execution graphs of c11 explored")
    shown = " ".join(lines)
    assert "reads x = 0, written at the start; does not see x = 1 of step" in shown
    (why,) = [line for line in lines if line.startswith("this execution cannot happen")]
    _, _, steps = why.partition(": ")
    reading, writing = (word for word in steps.split() if word.isdigit())
    what = f"step {reading} reads what step {writing} has overwritten"
    assert why == f"this execution cannot happen under sequential consistency: {what}"
    assert f"does not see x = 1 of step {writing}" in shown
    assert any(line.startswith(f"{reading} sb.c:20 ") for line in lines)
    assert any(line.startswith(f"{writing} sb.c:13 ") for line in lines)
    assert "the order mattered" not in out


def test_a_weak_bug_is_replayed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "sb.c", "--save-schedule", "bug.json", "--memory", "tso")
    assert code == 1 and "mazurka replay sb.c bug.json" in out and "--memory" not in out
    code, again, _ = run(capsys, "replay", "sb.c", "bug.json")
    assert code == 1
    trace = out[out.index("\n\n") : out.index("\n\nto see it again")]
    assert trace in again
    # The schedule carries the model, and what was done to the program.
    schedule = json.loads(Path("bug.json").read_text())
    assert (schedule["memory"], schedule["transforms"]["memory"]) == ("tso", "weak")
    code, out, _ = run(capsys, "replay", "--json", "sb.c", "bug.json")
    assert code == 1 and json.loads(out)["memory_model"] == "tso"


def test_the_command_that_finds_it_again_names_the_model(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "check", "sb.c", "--memory", "tso")
    assert "  mazurka check --memory tso sb.c --save-schedule bug.json" in out.splitlines()


def test_a_weak_schedule_that_does_not_fit(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "check", "sb.c", "--save-schedule", "bug.json")
    schedule = json.loads(Path("bug.json").read_text())
    (step,) = [step for step in schedule["steps"] if isinstance(step, dict)]
    step["reads"][0][0] = 12345
    Path("bug.json").write_text(json.dumps(schedule))
    code, out, err = run(capsys, "replay", "sb.c", "bug.json")
    assert (code, out) == (2, "")
    assert "which reads from memory that is not there" in err


def test_json(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "check", "--json", "sb.c")
    result = json.loads(out)
    assert (result["memory_model"], result["algorithm"], result["why_interleavings"]) == ("c11", "graphs", None)
    assert [order["line"] for order in result["weak_orders"]] == [13, 14, 19, 20]
    assert result["trace"]["weak"].startswith("this execution cannot happen under sequential consistency")
    actions = [action for step in result["trace"]["steps"] for action in step["actions"] if action["overwritten"]]
    assert [(action["object"], action["read"]) for action in actions] == [("x", "0")]
    (write,) = actions[0]["overwritten"]["unseen"]
    assert actions[0]["overwritten"]["source"] is None
    assert (write["thread"], write["file"], write["line"], write["written"]) == ("main.1", "sb.c", 13, "x = 1")
    assert sum(isinstance(step, dict) for step in result["schedule"]["steps"]) == 1
    _, out, _ = run(capsys, "check", "--json", "sb.c", "-DORDER=memory_order_seq_cst")
    result = json.loads(out)
    assert (result["memory_model"], result["algorithm"]) == ("c11", "pop")
    assert result["why_interleavings"] == "no atomic access is weaker than seq_cst"


# ------------------------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--engine", "stateful"], "--engine stateful is for interleavings, but the program asks for weaker orders "
         "than seq_cst (at sb.c:13): use --memory sc, or leave --engine out"),
        (["--algorithm", "pop"], "--algorithm pop is for interleavings, but the program asks for weaker orders"),
        (["--algorithm", "random"], "--algorithm random is for interleavings, but the program asks for weaker orders"),
        (["--seed", "3"], "--seed is for interleavings, but the program asks for weaker orders"),
        (["--max-states", "3"], "--max-states is for interleavings, but the program asks for weaker orders"),
        (["--memory", "tso", "--engine", "stateful"], "--engine stateful is for interleavings, but --memory tso has "
         "more executions than these: use --memory sc, or leave --engine out"),
        (["--memory", "ra", "--reduction", "none"], "--reduction none is for interleavings, but --memory ra has more"),
        (["--memory", "pso", "--algorithm", "optimal"], "--algorithm optimal is for interleavings, but --memory pso"),
        (["--algorithm", "graphs", "--seed", "3"], "--seed is for interleavings, but --algorithm graphs explores "
         "execution graphs"),
        (["--algorithm", "graphs", "--engine", "stateful"], "--algorithm is for --engine stateless"),
    ],
)  # fmt: skip
def test_options_that_ask_for_interleavings(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    code, out, err = run(capsys, "check", "sb.c", *words)
    assert (code, out) == (2, "") and err.startswith(f"mazurka: {message}")


@pytest.mark.parametrize(
    "words",
    [["--engine", "stateful"], ["--algorithm", "optimal"], ["--seed", "3"], ["--max-states", "1000"], ["--exact"]],
)
def test_they_are_welcome_where_there_is_nothing_else(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert run(capsys, "check", "sb.c", "--memory", "sc", *words)[0] == 0
    assert run(capsys, "check", "sb.c", "-DORDER=memory_order_seq_cst", *words)[0] == 0


def test_fences_alone_are_no_reason(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where all accesses are seq_cst, a fence adds nothing."""
    Path("fence.c").write_text(BUFFERING.replace("    a =", "    __sync_synchronize();\n    a ="))
    code, out, _ = run(capsys, "check", "fence.c", "-DORDER=memory_order_seq_cst", "--engine", "stateful")
    assert code == 0 and "not explored" not in out


# ---------------------------------------------------------------------------------------------- searches that end


def test_a_program_that_never_ends_is_not_handed_over(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "endless.c", "--max-steps", "50", "--timeout", "60")
    assert code == 3 and out.startswith("incomplete: no end within 50 steps, in the loop at endless.c:")
    assert "or try --memory sc --engine stateful if it is not meant to end; 1 execution graph of c11, which" in out
    assert "by the engine stateful" not in out
    code, out, _ = run(capsys, "check", "endless.c", "--memory", "sc")
    assert code == 0 and out.startswith("verified for unbounded executions")


def test_a_limit_on_executions(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "many.c", "--max-executions", "100")
    stopped = "stopped after 100 of about 720 execution graphs of c11, no bug so far ("
    assert code == 3 and out.startswith(f"incomplete: the limit of 100 executions was reached; {stopped}")


def test_a_limit_on_time(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "many.c", "--timeout", "0.5")
    assert code == 3 and " execution graphs of c11, no bug so far (" in out


def test_an_interrupt(here: Path) -> None:
    code, out, seen = interrupt_check(["many.c"], b"executions", how=signal.SIGINT)
    assert code == 3 and out.startswith("incomplete: interrupted; stopped after ")
    assert " execution graphs of c11, no bug so far (" in out and "Traceback" not in seen


# ------------------------------------------------------------------------------------------------------ data races


def test_data_races(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("races.c").write_text(MESSAGE.replace("assert(message == 42)", "message++").replace("release", "relaxed"))
    code, out, _ = run(capsys, "check", "races.c")
    assert code == 0 and "warning: data race on `message`: races.c:13 (main.1 writes) and races.c:20 (main.2 " in out
    code, out, _ = run(capsys, "check", "races.c", "--suppress-race", "object:message")
    assert code == 0 and "warning" not in out and "suppressed" in out
    code, out, _ = run(capsys, "check", "races.c", "--races", "ignore")
    assert code == 0 and "race" not in out
    assert run(capsys, "check", "races.c", "--races", "error", "--save-schedule", "bug.json")[0] == 1
    code, out, _ = run(capsys, "replay", "races.c", "bug.json")
    assert code == 1 and out.startswith("bug: data race on `message`: races.c:13 ")


# -------------------------------------------------------------------------------------------------- other commands


def test_print_and_loops_know_the_model(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("print", "loops"):
        for memory in ("sc", "tso", "c11"):
            code, out, _ = run(capsys, command, "endless.c", "--memory", memory)
            assert code == 0 and out


def test_safe_schedules_take_weak_orders_for_seq_cst(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    note = "memory orders weaker than seq_cst are taken for seq_cst (mp.c:14, mp.c:19)"
    code, out, _ = run(capsys, "schedule", "mp.c")
    assert code == 0 and note in out.splitlines()
    code, out, _ = run(capsys, "schedule", "mp.c", "--json")
    assert [order["line"] for order in json.loads(out)["weak_orders"]] == [14, 19]
    code, _, err = run(capsys, "build", "mp.c", "--schedule", "mp.schedule.json", "-o", "mp")
    assert code == 0 and f"mazurka: {note}, as schedules are about interleavings" in err.splitlines()
