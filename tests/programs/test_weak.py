"""Programs that use the memory orders of C11, in `weak`: each is right as it is, and says which weaker orders break it.
What they rely on are macros, so that a variant is a few options of the compiler.

// expect: ok                                      the program as it is, under c11
// weakened: OPTIONS -> KIND; sc: KIND; tso: KIND  what is found with these options, and what is left of it under
                                                   stronger memory models: tso is said if it differs from sc
// unbroken: OPTIONS                               still right under c11

KIND is that of a bug; or "race": there is a data race, whatever comes of it; or "ok": neither. So "sc: ok" is a bug
that no interleaving shows, and "sc: ok; tso: livelock" one that x86 has, too. A data race is one of C11, whatever the
memory model is: with "sc: race", interleavings show which orders are too weak, but perhaps not what goes wrong because
of that.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

import mazurka
from mazurka import Verdict

PROGRAMS = sorted(path for path in (Path(__file__).parent / "weak").iterdir() if path.suffix in {".c", ".cpp"})
MODELS = {"c11", "tso", "sc"}


@dataclass(frozen=True)
class Variant:
    """A program with some options, and the kind of what is found under memory models."""

    program: Path
    options: tuple[str, ...]
    kinds: dict[str, str]

    def __str__(self) -> str:
        named = [option.removeprefix("-D").replace("std::", "").replace("memory_order_", "") for option in self.options]
        return "-".join([self.program.name, *named])

    def find(self, memory: str, keep_going: bool = False) -> set[str]:
        result = mazurka.check(
            self.program, compiler_arguments=self.options, memory=memory, keep_going=keep_going, timeout=60
        )
        assert result.verdict is not Verdict.INCOMPLETE, f"{memory}: {result.reason}"
        return {finding.bug.kind for finding in result.bugs} | ({"race"} if result.races else set())


def variants(program: Path) -> list[Variant]:
    found = []
    for text in program.read_text().splitlines():
        if not text.startswith("//"):
            break
        key, _, value = text.removeprefix("//").strip().partition(": ")
        if key == "expect":
            found.append(Variant(program, (), {"c11": value}))
        elif key == "unbroken":
            found.append(Variant(program, tuple(shlex.split(value)), {"c11": "ok"}))
        elif key == "weakened":
            options, arrow, kinds = value.partition(" -> ")
            assert arrow, f"{program}: weakened: OPTIONS -> KIND"
            kind, *others = kinds.split("; ")
            stated = {"c11": kind}
            for other in others:
                memory, _, stated[memory] = other.partition(": ")
            assert kind != "ok" and {"c11", "sc"} <= stated.keys() <= MODELS, f"{program}: {value}"
            found.append(Variant(program, tuple(shlex.split(options)), stated))
    assert any(not variant.options for variant in found), f"{program}: expect: ok"
    return found


VARIANTS = [variant for program in PROGRAMS for variant in variants(program)]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_what_orders_are_for(variant: Variant) -> None:
    for memory, kind in variant.kinds.items():
        found = variant.find(memory)
        if kind == "ok":
            assert found == set(), memory
        elif kind not in found:  # (it depends on the order of a search which bug is the first)
            assert kind in variant.find(memory, keep_going=True), memory


def test_there_are_enough_of_them() -> None:
    weakened = [variant for variant in VARIANTS if variant.kinds["c11"] != "ok"]
    hidden = [variant for variant in weakened if variant.kinds.get("sc") == "ok"]
    assert len(weakened) >= 250 and len(hidden) >= 90


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_each_order_is_tried(program: Path) -> None:
    """A program has no macro that no variant sets, so that there is none of which nobody knows what it is for."""
    text = program.read_text()
    macros = {line.split()[1] for line in text.splitlines() if line.startswith(("#ifndef ", "#ifdef "))}
    tried = {option.removeprefix("-D").partition("=")[0] for v in variants(program) for option in v.options}
    assert macros == tried
