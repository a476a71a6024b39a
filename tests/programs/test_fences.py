"""What `mazurka fences` proposes for the programs in `weak`, each of whose orders is weakened: no more than to undo
that; and in the text of the program, it is enough."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import mazurka
from mazurka import Verdict
from tests.programs.test_weak import VARIANTS, Variant
from tests.support.applying import applied_to_text

COSTS = {"relaxed": 0, "acquire": 1, "consume": 1, "release": 1, "acq_rel": 2, "seq_cst": 4}
NEW_FENCE = 5
SHORT = ("message_flag.c", "message_fences.c", "spin_ttas.c", "store_buffering_fences.c")
WEAKENED = [
    variant
    for variant in VARIANTS
    if variant.kinds["c11"] != "ok" and all("memory_order_" in option for option in variant.options)
]


def written_out(variant: Variant) -> tuple[str, int]:
    """The program with the orders of a variant instead of macros, and what it costs to undo what they weaken."""
    text, cost = variant.program.read_text(), 0
    given = dict(option.removeprefix("-D").split("=") for option in variant.options)
    lines = text.split("\n")
    for name, default in re.findall(r"#define (\w+) ((?:std::)?memory_order_\w+)", text):
        weak, strong = (each.rpartition("memory_order_")[2] for each in (given.get(name, default), default))
        for number, line in enumerate(lines):
            if line.lstrip().startswith(("#", "//")):
                continue
            used = len(re.findall(rf"\b{name}\b", line))
            lines[number] = re.sub(rf"\b{name}\b", given.get(name, default), line)
            if {weak, strong} == {"acquire", "release"}:
                cost += used
            elif weak == "relaxed" and "fence" in line:
                cost += used * (NEW_FENCE + COSTS[strong])
            else:
                cost += used * (COSTS[strong] - COSTS[weak])
    return "\n".join(lines), cost


def compare(variant: Variant, tmp_path: Path) -> None:
    text, cost = written_out(variant)
    file = tmp_path / variant.program.name
    file.write_text(text)
    found = mazurka.fences(file)
    assert found.verdict == "proposals", found.reason
    (proposal,) = found.proposals
    assert proposal.cost <= cost
    file.write_text(applied_to_text(text, proposal.changes, cpp=file.suffix == ".cpp"))
    result = mazurka.check(file)
    assert result.verdict is Verdict.OK
    assert not result.races


@pytest.mark.parametrize("variant", [each for each in WEAKENED if each.program.name in SHORT], ids=str)
def test_no_more_than_to_undo_it(variant: Variant, tmp_path: Path) -> None:
    compare(variant, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("variant", [each for each in WEAKENED if each.program.name not in SHORT], ids=str)
def test_no_more_than_to_undo_it_in_all_of_them(variant: Variant, tmp_path: Path) -> None:
    compare(variant, tmp_path)


def test_there_are_enough_of_them() -> None:
    assert len(WEAKENED) >= 240
