"""What programs with one thread do with the C++ library here is what they do natively, with another library."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from mazurka._native import Machine
from mazurka.frontends.c import load_c_program
from mazurka.machine.lowering import lower
from mazurka.transforms import prepare
from tests import ROOT

PROGRAMS = sorted((ROOT / "tests/programs/native").glob("*.cpp"))
STANDARD = "-std=c++20"


def in_machine(source: Path) -> str:
    lowered = lower(prepare(load_c_program([source], compiler_arguments=[STANDARD])))
    machine = Machine(lowered.code, record=True, instruction_limit=1_000_000_000)
    while machine.next(1).enabled and machine.failure() is None:
        machine.step(1)
    assert machine.failure() is None
    return machine.output().decode()


@pytest.mark.slow
@pytest.mark.parametrize("source", PROGRAMS, ids=lambda path: path.name)
def test_a_program_prints_what_it_prints_natively(source: Path, tmp_path: Path) -> None:
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("there is no C++ compiler besides our own")
    program = tmp_path / "program"
    subprocess.run([compiler, STANDARD, "-w", "-o", program, source], check=True)
    expected = subprocess.run([program], capture_output=True, check=True).stdout.decode()
    assert in_machine(source).splitlines() == expected.splitlines()
