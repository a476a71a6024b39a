"""What the documentation says of the C++ library is what the programs of the corpus show."""

from __future__ import annotations

import re

from tests import ROOT

PROGRAMS = ROOT / "tests/programs/cpp"


def table() -> str:
    """For each facility, the programs that use it rightly and those that do not."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    for program in sorted(PROGRAMS.glob("*.cpp")):
        text = program.read_text()
        facility = re.search(r"^// facility: (.*)$", text, re.MULTILINE)
        assert facility is not None, f"{program}: of which facility is this an example?"
        # A program with a data race is wrong, although the verdict may be that nothing else went wrong.
        right = text.startswith("// expect: ok") and "\n// races:" not in text
        found.setdefault(facility[1], ([], []))[not right].append(f"`{program.stem}`")
    lines = ["| facility | right | wrong |", "|---|---|---|"]
    lines += [f"| {facility} | {', '.join(right)} | {', '.join(wrong)} |" for facility, (right, wrong) in found.items()]
    return "\n".join(lines)


def test_the_table_of_facilities_is_that_of_the_programs() -> None:
    assert table() in (ROOT / "docs/c-support.md").read_text()


def test_each_facility_has_a_right_and_a_wrong_program() -> None:
    for line in table().splitlines()[2:]:
        _, _, right, wrong, _ = line.split("|")
        assert right.strip() and wrong.strip(), line
