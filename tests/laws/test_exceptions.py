"""C++ programs throw, catch and unwind in the machine as they do natively.

Generated programs are compiled once for the machine and once for the processor, by the same compiler and with the same
runtime library (libc++abi), but natively with its real personality routine above the unwinder of the system. Both must
print the same, and end in the same way."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mazurka._native import Machine
from mazurka.frontends.c import load_c_program
from mazurka.frontends.c.compiler import bundled_compiler
from mazurka.machine.lowering import lower
from mazurka.transforms import prepare
from tests.support.exception_programs import exception_program

COMPILER = bundled_compiler()
FLAGS = (
    "-target", "x86_64-linux-gnu", "-std=c++23", "-w", "-O0", "-fPIC", "-fno-stack-protector", "-c",
    "-D_LIBCPP_BUILDING_LIBRARY", "-D_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_NONE",
    "-D_LIBCXXABI_BUILDING_LIBRARY", "-DLIBCXX_BUILDING_LIBCXXABI", "-DLIBCXXABI_NON_DEMANGLING_TERMINATE",
    "-D_LIBCPP_ENABLE_CXX17_REMOVED_UNEXPECTED_FUNCTIONS",
)  # fmt: skip
# (Vectors are not supported.)
OPTIMISED = (
    "-target", "x86_64-linux-gnu", "-std=c++23", "-w", "-O2", "-fno-vectorize", "-fno-slp-vectorize", "-g", "-S",
    "-emit-llvm", "-D_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_NONE",
)  # fmt: skip
RUNTIME = (
    "libcxx/src/exception.cpp", "libcxxabi/src/abort_message.cpp", "libcxxabi/src/cxa_aux_runtime.cpp",
    "libcxxabi/src/cxa_default_handlers.cpp", "libcxxabi/src/cxa_exception.cpp",
    "libcxxabi/src/cxa_exception_storage.cpp", "libcxxabi/src/cxa_handlers.cpp", "libcxxabi/src/cxa_personality.cpp",
    "libcxxabi/src/cxa_virtual.cpp", "libcxxabi/src/fallback_malloc.cpp", "libcxxabi/src/private_typeinfo.cpp",
    "libcxxabi/src/stdlib_exception.cpp", "libcxxabi/src/stdlib_new_delete.cpp", "libcxxabi/src/stdlib_typeinfo.cpp",
)  # fmt: skip
RUN = "import ctypes, sys; ctypes.CDLL('libgcc_s.so.1', ctypes.RTLD_GLOBAL); sys.exit(ctypes.CDLL(sys.argv[1]).main())"
TERMINATED, RETURNED = 3, 7

Native = Callable[[Path], tuple[str, int]]


def compile_natively(source: Path, target: Path) -> None:
    assert COMPILER.headers is not None
    folders = [f"-I{COMPILER.headers / folder}" for folder in ("libcxx/src", "libcxxabi/src", "libcxx/libc")]
    options = [*FLAGS, *folders, *COMPILER.header_options(is_cpp=True), "-o", str(target), str(source)]
    subprocess.run([*COMPILER.command, *options], check=True)


@pytest.fixture(scope="session")
def natively(tmp_path_factory: pytest.TempPathFactory) -> Native:
    """Runs a program on the processor: what it prints, and its status."""
    assert COMPILER.headers is not None
    folder = tmp_path_factory.mktemp("runtime")
    objects = [folder / f"{Path(name).stem}.o" for name in RUNTIME]
    for name, target in zip(RUNTIME, objects, strict=True):
        compile_natively(COMPILER.headers / name, target)

    def run(source: Path) -> tuple[str, int]:
        compiled, linked = source.with_suffix(".o"), source.with_suffix(".so").absolute()
        compile_natively(source, compiled)
        linker = [COMPILER.command[0], "ld.lld", "--eh-frame-hdr", "-shared", "-o"]
        subprocess.run([*linker, linked, compiled, *objects], check=True)
        done = subprocess.run([sys.executable, "-c", RUN, linked], capture_output=True, check=False, timeout=60)
        return done.stdout.decode(), done.returncode

    return run


def in_machine(source: Path) -> tuple[str, int]:
    lowered = lower(prepare(load_c_program([source])))
    machine = Machine(lowered.code, record=True, instruction_limit=1_000_000_000)
    while machine.next(1).enabled and machine.failure() is None:
        machine.step(1)
    failure = machine.failure()
    assert failure is not None and failure.fault == "exit_status", failure and failure.fault
    return machine.output().decode(), failure.size


def compare(seed: int, optimised: bool, natively: Native, folder: Path) -> None:
    """Run a program both ways; in the machine as it is, or as the optimiser leaves it."""
    source = folder / f"program{seed}.cpp"
    source.write_text(exception_program(seed))
    expected, status = natively(source)
    assert status in (TERMINATED, RETURNED), f"{source} does not run natively"
    if optimised:
        text = source.with_suffix(".ll")
        options = [*OPTIMISED, *COMPILER.header_options(is_cpp=True), "-o", str(text), str(source)]
        subprocess.run([*COMPILER.command, *options], check=True)
        source = text
    output, ending = in_machine(source)
    assert output.splitlines() == expected.splitlines()
    assert ending == status


@pytest.mark.parametrize("seed", range(6))
def test_exceptions_go_where_they_go_natively(seed: int, natively: Native, tmp_path: Path) -> None:
    compare(seed, seed % 3 == 2, natively, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("optimised", [False, True])
@pytest.mark.parametrize("seed", range(100, 400))
def test_many_exceptions_go_where_they_go_natively(
    seed: int, optimised: bool, natively: Native, tmp_path: Path
) -> None:
    compare(seed, optimised, natively, tmp_path)
