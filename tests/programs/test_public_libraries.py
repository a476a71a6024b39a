"""Public libraries as their packages have them: small programs that use them, rightly and wrongly.

Nothing is installed here. On Debian, the packages are libconcurrentqueue-dev, libreaderwriterqueue-dev,
libatomic-queue-dev, libboost-dev, libthread-pool-dev, libxenium-dev, libspdlog-dev, libasio-dev, libcds-dev, libck-dev
and liburcu-dev. What was found is told in docs/c-support.md."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests import ROOT
from tests.command_line.test_cli import run

pytestmark = pytest.mark.slow

PROGRAMS = sorted((ROOT / "tests/programs/libraries").glob("*.c*"))
STANDARD = re.compile(r"<(array|cassert|memory|stdbool\.h|stdexcept|thread)>")
HEADERS = [Path("/usr/include"), Path("/usr/include/x86_64-linux-gnu")]


def said(source: str, what: str) -> list[str]:
    """The words of a line like `// expect: bug assertion` at the beginning of a program."""
    line = re.search(rf"^// {what}: (.*)$", source, re.MULTILINE)
    return line[1].split() if line else []


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_public_library(capsys: pytest.CaptureFixture[str], program: Path) -> None:
    source = program.read_text()
    for header in re.findall(r"^#include (<.*>)$", source, re.MULTILINE):
        if not STANDARD.fullmatch(header) and not any((folder / header[1:-1]).exists() for folder in HEADERS):
            pytest.skip(f"there is no {HEADERS[0]}/{header[1:-1]}")
    options = [*said(source, "options"), "-idirafter", str(HEADERS[0])]
    code, out, err = run(capsys, "check", "--json", "--memory", "sc", *options, str(program))
    expected, *details = said(source, "expect")
    if expected == "refused":
        assert code == 2 and " ".join(details) in err
    else:
        result = json.loads(out)
        assert err == "" and [result["verdict"], *([result["bug"]["kind"]] if result["bug"] else [])] == [
            expected,
            *details,
        ]


def test_every_program_is_in_the_table() -> None:
    table = (ROOT / "docs/c-support.md").read_text().partition("## Libraries that were tried")[2].partition("\n## ")[0]
    named = set(re.findall(r"`([a-z_]+)`", table))
    assert PROGRAMS and {program.stem for program in PROGRAMS} <= named
