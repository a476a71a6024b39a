"""C programs behave in the machine as they do natively: the judge of the front end, the library models, the
transformations and the machine's arithmetic.

Generated programs are compiled once for the machine and once for the processor, by the same compiler, and print what
they compute; both must print the same. The native side is a shared object that borrows the C library of the running
Python, so that nothing but the wheel's compiler is needed.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mazurka._native import Machine
from mazurka.frontends.c import load_c_program
from mazurka.frontends.c.compiler import bundled_compiler
from mazurka.machine.lowering import lower
from mazurka.transforms import prepare
from tests.support.c_programs import SUBJECTS, Piece, program

ZIG = bundled_compiler().command[0]
# The oldest C library that the compiler knows, so that the functions have the same names everywhere.
FLAGS = ("-target", "x86_64-linux-gnu.2.17", "-fno-sanitize=all", "-fno-stack-protector", "-fno-math-errno", "-w")
NATIVE = ("-O0", "-fPIC", "-c")
# Vectors are not supported; functions of <ctype.h> are to be called, as without optimisation.
OPTIMISED = ("-O2", "-fno-vectorize", "-fno-slp-vectorize", "-D__NO_CTYPE", "-g", "-S", "-emit-llvm")
# (Division of 128 bits is a function of the compiler's own library.)
RUN = (
    "import ctypes, sys; [ctypes.CDLL(name, ctypes.RTLD_GLOBAL) for name in ('libm.so.6', 'libgcc_s.so.1')]; "
    "sys.exit(ctypes.CDLL(sys.argv[1]).main())"
)


def run_natively(*sources: Path) -> str:
    """What a program prints; that it runs to its end is seen from what `main` returns."""
    compiled = [source.with_suffix(f"{source.suffix}.o") for source in sources]
    linked = sources[0].with_suffix(".so").absolute()
    for source, target in zip(sources, compiled, strict=True):
        subprocess.run([ZIG, "cc", *FLAGS, *NATIVE, "-o", target, source], check=True)
    subprocess.run([ZIG, "ld.lld", "-shared", "-o", linked, *compiled], check=True)
    done = subprocess.run([sys.executable, "-c", RUN, linked], capture_output=True, check=False, timeout=60)
    assert done.returncode == 7, f"{sources[0]} does not run natively"
    return done.stdout.decode("latin-1")


def run_in_machine(*sources: Path) -> str:
    """What a program prints in one execution. Where several threads could go on, the youngest does."""
    lowered = lower(prepare(load_c_program(sources)))
    machine = Machine(lowered.code, record=True, any_status=True, instruction_limit=1_000_000_000)
    while True:
        ready = [thread for thread in reversed(machine.threads()) if machine.next(thread).enabled]
        if not ready or machine.failure() is not None:
            break
        machine.step(ready[0])
    failure = machine.failure()
    if failure is not None:
        places = [str(lowered.origin[position][1].location) for position in failure.frames]
        pytest.fail(f"the machine reports {failure.fault}, at {', '.join(places)}")
    assert all(machine.status(thread) in ("ended", "returned") for thread in machine.threads())
    return machine.output().decode("latin-1")


def compare(pieces: Sequence[Piece], way: str, folder: Path) -> None:
    """Run a program both ways, and fail with the first statement whose output differs. The ways to run it in the
    machine: as it is, in a second thread, or as the optimiser leaves it."""
    source = folder / "program.c"
    source.write_text(program(pieces, threaded=way == "threaded"))
    native, given_to_machine = run_natively(source), source
    if way == "optimised":
        given_to_machine = source.with_suffix(".ll")
        subprocess.run([ZIG, "cc", *FLAGS, *OPTIMISED, "-o", given_to_machine, source], check=True)
    machine = run_in_machine(given_to_machine)
    lines = source.read_text().splitlines()
    for expected, actual in zip(native.splitlines(), machine.splitlines(), strict=False):
        if expected != actual:
            number = int(expected[:5]) if expected[:5].isdigit() else len(lines)
            piece = next((line for line in reversed(lines[:number]) if line.startswith("/* Piece")), "")
            pytest.fail(
                f"natively {expected!r}, in the machine {actual!r}, from {lines[number - 1].strip()} of {piece}"
            )
    assert native == machine


PIECES = st.builds(
    Piece, subject=st.sampled_from(sorted(SUBJECTS)), seed=st.integers(0, 2**32 - 1), size=st.integers(1, 5)
)
PROGRAMS = st.integers(1, 24).flatmap(lambda count: st.lists(PIECES, min_size=count, max_size=count))
WAYS = st.sampled_from(["as it is", "threaded", "optimised"])


@settings(max_examples=12, derandomize=True)
@given(PROGRAMS, WAYS)
def test_programs_do_what_they_do_natively(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[Piece], way: str
) -> None:
    compare(pieces, way, tmp_path_factory.mktemp("program"))


@pytest.mark.parametrize("subject", sorted(SUBJECTS))
def test_every_subject_does_what_it_does_natively(subject: str, tmp_path: Path) -> None:
    compare([Piece(subject, seed, size) for size in (1, 4) for seed in range(5)], "as it is", tmp_path)


# ------------------------------------------------------------------------------------- addresses in LLVM


@dataclass(frozen=True, slots=True)
class LLVMType:
    """A type as text, and the types of its elements."""

    text: str
    elements: tuple[LLVMType, ...] = ()

    @staticmethod
    def random(r: random.Random, depth: int) -> LLVMType:
        if depth == 0 or r.random() < 0.2:
            return LLVMType(r.choice(["i1", "i8", "i16", "i24", "i32", "i48", "i64", "float", "double", "ptr"]))
        if r.random() < 0.4:
            element, count = LLVMType.random(r, depth - 1), r.randint(1, 5)
            return LLVMType(f"[{count} x {element.text}]", (element,) * count)
        elements = tuple(LLVMType.random(r, depth - 1) for _ in range(r.randint(1, 4)))
        members = ", ".join(element.text for element in elements)
        return LLVMType(f"<{{ {members} }}>" if r.random() < 0.3 else f"{{ {members} }}", elements)


def address_computation(r: random.Random) -> tuple[str, list[int]]:
    """A `getelementptr` instruction, and the values of its variable indices %x0, %x1, ..."""
    source = LLVMType.random(r, 3)
    first = r.randint(-3, 3)
    indices, values = [f"{r.choice(['i8', 'i32', 'i64'])} {first}"], list[int]()
    if r.random() < 0.5:
        indices, values = ["i64 %x0"], [first]
    type_ = source
    while type_.elements and r.random() < 0.9:
        number = r.randrange(len(type_.elements))
        if type_.text[0] == "[" and r.random() < 0.5:
            indices.append(f"i64 %x{len(values)}")
            values.append(number)
        else:
            indices.append(f"i32 {number}")
        type_ = type_.elements[number]
    return f"getelementptr {source.text}, ptr %base, {', '.join(indices)}", values


def test_addresses_are_computed_as_natively(tmp_path: Path) -> None:
    r = random.Random(1)
    functions, calls = [], []
    for number in range(200):
        instruction, values = address_computation(r)
        parameters = "".join(f", i64 %x{index}" for index in range(len(values)))
        functions.append(
            f"define i64 @f{number}(ptr %base{parameters}) {{\n  %p = {instruction}\n  %to = ptrtoint ptr %p to i64\n"
            f"  %from = ptrtoint ptr %base to i64\n  %distance = sub i64 %to, %from\n  ret i64 %distance\n}}\n"
        )
        arguments = "".join(f", (long){value}" for value in values)
        calls.append(f'    long f{number}(); puts("{instruction}"); printf("%ld\\n", f{number}(base{arguments}));\n')
    main, llvm = tmp_path / "main.c", tmp_path / "functions.ll"
    body = "".join(calls)
    main.write_text(f"#include <stdio.h>\nstatic char base[9];\nint main(void) {{\n{body}    return 7;\n}}\n")
    llvm.write_text('target triple = "x86_64-unknown-linux-gnu"\n' + "".join(functions))
    assert run_in_machine(main, llvm).splitlines() == run_natively(main, llvm).splitlines()


@pytest.mark.slow
@settings(max_examples=400)
@given(PROGRAMS, WAYS)
def test_many_programs_do_what_they_do_natively(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[Piece], way: str
) -> None:
    compare(pieces, way, tmp_path_factory.mktemp("program"))
