"""`mazurka fences`: what a person types, and what is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mazurka
from mazurka import cli
from tests.support.interrupting import interrupt_check, until_told
from tests.support.two_threads import main_of_two

HEAD = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n"
MESSAGE = (
    HEAD
    + """\
int message;
atomic_int there;

void *one(void *unused) {
    message = 42;
    atomic_store_explicit(&there, 1, memory_order_relaxed);
    return unused;
}

void *two(void *unused) {
    if (atomic_load_explicit(&there, memory_order_relaxed))
        assert(message == 42);
    return unused;
}
"""
    + main_of_two()
)
BUFFERING = (
    HEAD
    + """\
atomic_int x, y;
int a, b;

void *one(void *unused) {
    if (unused == 0)
        atomic_store_explicit(&x, 1, memory_order_relaxed);
    a = atomic_load_explicit(&y, memory_order_relaxed);
    return unused;
}

void *two(void *unused) {
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    b = atomic_load_explicit(&x, memory_order_relaxed);
    return unused;
}
"""
    + main_of_two("assert(a || b);")
)
STUCK = (
    HEAD
    + """\
int hits, message;
atomic_int there;

void *one(void *unused) {
    hits = 1;
    message = 42;
    atomic_store_explicit(&there, 1, memory_order_relaxed);
    return unused;
}

void *two(void *unused) {
    hits = 2;
    if (atomic_load_explicit(&there, memory_order_acquire))
        assert(message == 42);
    return unused;
}
"""
    + main_of_two()
)
LOST = (
    HEAD
    + """\
atomic_int counter;

void *one(void *unused) {
    int seen = atomic_load_explicit(&counter, memory_order_relaxed);
    atomic_store_explicit(&counter, seen + 1, memory_order_relaxed);
    return unused;
}

void *two(void *unused) { return one(unused); }
"""
    + main_of_two("assert(counter == 2);")
)
CPP = """\
#include <atomic>
#include <cassert>
#include <thread>
static int message;
static std::atomic<int> there;

int main() {
    std::thread sender([] {
        message = 42;
        there.store(1, std::memory_order_relaxed);
    });
    if (there.load(std::memory_order_acquire)) assert(message == 42);
    sender.join();
}
"""
FILES = {"message.c": MESSAGE, "buffering.c": BUFFERING, "stuck.c": STUCK, "lost.c": LOST, "message.cpp": CPP}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str], str]:
    code = cli.main(["fences", *words])
    out, err = capsys.readouterr()
    return code, out.splitlines(), err


def untimed(line: str) -> str:
    return line.rpartition(" (")[0]


def test_orders_are_proposed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "message.c")
    assert code == 0
    assert untimed(out[0]) == "verified under c11 with 2 changes of cost 2, the least"
    assert out[1].startswith("as it is: bug: assertion `message == 42` failed (message.c:")
    assert out[2:] == [
        "",
        "message.c:9: store to `there`: memory_order_relaxed -> memory_order_release",
        "  -     atomic_store_explicit(&there, 1, memory_order_relaxed);",
        "  +     atomic_store_explicit(&there, 1, memory_order_release);",
        "message.c:14: load of `there`: memory_order_relaxed -> memory_order_acquire",
        "  -     if (atomic_load_explicit(&there, memory_order_relaxed))",
        "  +     if (atomic_load_explicit(&there, memory_order_acquire))",
    ]


def test_orders_in_a_line_with_others(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    of_two = "atomic_store_explicit(&there, 1, memory_order_{}); atomic_load_explicit(&there, memory_order_relaxed);"
    before, after = of_two.format("relaxed"), of_two.format("release")
    store = before.partition(" atomic_load")[0]
    Path("line.c").write_text(Path("message.c").read_text().replace(store, before))
    _, out, _ = run(capsys, "line.c")
    assert out[4:6] == [f"  -     {before}", f"  +     {after}"]


def test_fences_are_proposed_where_nothing_else_helps(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "buffering.c", "--memory", "ra", "--all")
    assert code == 0
    assert untimed(out[0]) == "verified under ra with 2 changes of cost 18, the least"
    assert out[3:9] == [
        "buffering.c:9: add atomic_thread_fence(memory_order_seq_cst) after this line",
        "  +     {",
        "            atomic_store_explicit(&x, 1, memory_order_relaxed);",
        "  +         atomic_thread_fence(memory_order_seq_cst);",
        "  +     }",
        "buffering.c:15: add atomic_thread_fence(memory_order_seq_cst) after this line",
    ]
    assert out.count("or:") == 1  # between the store and the load, but for both branches
    assert "buffering.c:10: add atomic_thread_fence(memory_order_seq_cst) before this line" in out


def test_a_program_that_is_right(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "buffering.c", "--memory", "sc")
    assert (code, [untimed(line) for line in out]) == (
        0,
        ["verified as it is under sc: nothing has to be stronger"],
    )


@pytest.mark.parametrize("memory", ["c11", "tso", "sc"])
def test_what_no_order_helps_against(here: Path, capsys: pytest.CaptureFixture[str], memory: str) -> None:
    code, out, _ = run(capsys, "lost.c", "--memory", memory)
    assert code == 1
    assert untimed(out[0]) == "no memory order helps, since an interleaving shows it"
    assert "bug: assertion `counter == 2` failed" in out[2]
    assert out[-1] == "  mazurka check --memory sc lost.c"


def test_races_that_no_order_removes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Are told, but it is the others that count."""
    code, out, _ = run(capsys, "stuck.c")
    assert code == 0
    assert "stuck.c:10: store to `there`: memory_order_relaxed -> memory_order_release" in out
    code, out, _ = run(capsys, "stuck.c", "--races", "error")
    assert code == 1
    assert "data race on `hits`" in out[2]
    text = STUCK.replace("relaxed", "release")
    Path("right.c").write_text(text)
    code, out, _ = run(capsys, "right.c")
    assert code == 0
    assert untimed(out[0]) == "verified as it is under c11: nothing has to be stronger"
    assert out[1].startswith("warning, no memory order removes it: data race on `hits`")


def test_cpp(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "message.cpp")
    assert code == 0
    assert out[3:] == [
        "message.cpp:10: store to `there`: memory_order_relaxed -> memory_order_release",
        "  -         there.store(1, std::memory_order_relaxed);",
        "  +         there.store(1, std::memory_order_release);",
    ]


def test_json(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "message.c", "--json")
    told = json.loads("\n".join(out))
    assert (code, told["verdict"], told["proposals"][0]["cost"]) == (0, "proposals", 2)
    assert told["proposals"][0]["changes"][0] == {
        "file": "message.c", "line": 9, "column": 5, "operation": "store", "object": "there", "before": "relaxed",
        "after": "release", "where": None, "braces": False, "cost": 1,
    }  # fmt: skip
    assert told["result"]["bug"]["kind"] == "assertion"
    assert told["config"] is None


def test_what_is_not_covered_is_not_claimed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "message.c", "--max-steps", "3")
    assert code == 3
    assert out[0].startswith("incomplete: the check of the program as it is was not complete: ")
    assert len(out) == 1


def test_orders_that_are_computed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = MESSAGE.replace("there, 1, memory_order_relaxed", "there, 1, unused ? 0 : memory_order_relaxed")
    Path("computed.c").write_text(text)
    code, out, _ = run(capsys, "computed.c")
    assert code == 0
    assert out[2] == "orders that are computed at run time are left as they are (computed.c:9)"
    assert "computed.c:8: add atomic_thread_fence(memory_order_release) after this line" in out


@pytest.mark.parametrize("times", [1, 2, 4, 8, 16])
def test_an_interrupt(here: Path, times: int) -> None:
    """What is told of a search that was interrupted anywhere holds."""
    found = mazurka.fences("buffering.c", progress=until_told(times, []))
    assert (found.verdict, found.reason, found.exit_code) == ("incomplete", "interrupted", 3)
    assert 0 <= found.at_least <= 16
    for proposal in found.proposals:
        assert proposal.cost >= 16


def test_an_interrupt_at_the_terminal(here: Path) -> None:
    code, out, _ = interrupt_check(["buffering.c"], once=b"checks; ", command="fences")
    assert code == 3
    assert out.startswith("incomplete: ")


def test_several_of_them(here: Path) -> None:
    """Each of the proposals is enough, and they differ."""
    found = mazurka.fences("buffering.c", memory="ra", every=True)
    assert not found.more
    assert len(set(found.proposals)) == len(found.proposals) == 2
    assert {proposal.cost for proposal in found.proposals} == {18}


def test_a_program_without_a_source() -> None:
    program = mazurka.load("examples/queue.c")
    with pytest.raises(mazurka.InputError, match="give the files"):
        mazurka.fences(program)  # type: ignore[arg-type]
