"""Native programs that follow a schedule: the program's own text with the scheduler woven in, optimised, and linked."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files as resources
from itertools import product
from pathlib import Path

from mazurka.constrained.enforce.code import Code, Line, read_code, same_instructions
from mazurka.constrained.enforce.contexts import find_contexts
from mazurka.constrained.enforce.points import FIRST_POINT, Points, Spot, event_lines, find_passed, find_points
from mazurka.constrained.enforce.tables import ScheduleTables, make_tables
from mazurka.constrained.enforce.units import Unfollowable
from mazurka.constrained.enforce.validation import validate
from mazurka.constrained.enforce.weaving import ASSUMED, Woven, optimisable, weave
from mazurka.constrained.model import Location, Model
from mazurka.constrained.plan import ProgramSchedule
from mazurka.constrained.proof import Proof
from mazurka.errors import InputError
from mazurka.frontends.c.compiler import (
    CPP_SUFFIXES,
    Compiler,
    bundled_compiler,
    cache_directory,
    load_text,
    named_compiler,
)
from mazurka.frontends.c.llvm.module import Module

_TARGET = ("-target", "x86_64-linux-gnu")
# What is not defined in C, and is in the virtual machine, should not depend on the optimiser.
_NATIVE = ("-U__MAZURKA__", "-fwrapv", "-fno-finite-loops")
_OPTIONS = ("-O2", "-fPIC", "-w", "-fno-math-errno")


LEVELS = (0, 1, 2)  # of optimisation


def build(
    files: Sequence[str | Path],
    schedule: ProgramSchedule | None,
    output: Path,
    *,
    optimise: int = 2,
    compiler_arguments: Sequence[str] = (),
    cc: str | None = None,
) -> int:
    """Write a native program that follows the schedule or, without one, runs as threads happen to run. Gives the level
    of optimisation: a lower one than was asked for, if only that can be shown to keep to the schedule.

    optimise: 0 orders all events, and executes all operations of the library. 1 orders only events that depend on each
    other, and leaves out operations on mutexes and the like that the schedule makes redundant. 2 repeats sections,
    tells the elements of arrays apart, and redirects accesses so that they need to wait less (`ordering`)."""
    if schedule is None:
        compiler = named_compiler(cc) if cc else bundled_compiler()
        modules = [optimisable(_module(file, compiler, [*compiler_arguments, *_NATIVE])) for file in files]
        _compile(modules, ["inputs.c", "free.c"], None, output, compiler, _is_cpp(files))
        return optimise
    builder = Builder(files, schedule.proof.model, compiler_arguments=compiler_arguments, cc=cc)
    return builder.build(schedule, output, optimise)


@dataclass(frozen=True, slots=True)
class _Design:
    """All of a native program that a schedule decides: the modules with the scheduler woven in, and the tables."""

    modules: tuple[str, ...]
    tables: str
    level: int


class Builder:
    """Makes native programs of one program, for its schedules."""

    def __init__(
        self,
        files: Sequence[str | Path],
        model: Model,
        *,
        compiler_arguments: Sequence[str] = (),
        cc: str | None = None,
    ) -> None:
        self._model = model
        self._is_cpp = _is_cpp(files)
        self._compiler = named_compiler(cc) if cc else bundled_compiler()
        native = [*compiler_arguments, *_NATIVE]
        self._built = {str(file): _module(file, self._compiler, native) for file in files}
        checked = {str(file): _module(file, self._compiler, compiler_arguments) for file in files}
        self._same = {name: same_instructions(checked[name], module) for name, module in self._built.items()}
        self._code = read_code(checked, self._same, model)

    def build(self, schedule: ProgramSchedule, output: Path, optimise: int) -> int:
        design = self._design(schedule, optimise)
        runtime = ["arguments.c", "inputs.c", "operations.c", "scheduler.c"]
        _compile(design.modules, runtime, design.tables, output, self._compiler, self._is_cpp)
        return design.level

    def obstacle(self, schedule: ProgramSchedule) -> str | None:
        """Why no program can be built that keeps to a schedule; None: it can."""
        try:
            self._design(schedule, LEVELS[-1])
        except InputError as error:
            return str(error)
        return None

    def _design(self, schedule: ProgramSchedule, optimise: int) -> _Design:
        """With as little to do at run time as can be shown to keep to the schedule. If that fails, with threads that
        are seen more often or everywhere, and then at lower levels."""
        if self._model.telling is not None:
            raise InputError(
                f"{self._model.telling}: the program computes with an address as with a number here, and objects lie "
                "elsewhere in a native build"
            )
        if self._code.has_destructors:
            raise InputError(
                "pthread_key_create, tss_create: what is to happen at the end of a thread happens after its last "
                "event in a native build; let the thread do it before it ends"
            )
        refused: InputError | None = None
        for level in range(optimise, -1, -1):
            for closely, drops in product((False, True), (True, False) if level >= 2 else (False,)):
                try:
                    points, tables = self._followed(schedule, level, closely=closely, drops=drops)
                    modules = tuple(self._woven(points, tables))
                    return _Design(modules, tables.text + _argument_table(self._model), level)
                except InputError as error:
                    refused = refused or error
        assert refused is not None
        raise refused

    def _followed(
        self, schedule: ProgramSchedule, level: int, *, closely: bool, drops: bool
    ) -> tuple[Points, ScheduleTables]:
        """Tables that are proved to keep to the schedule."""
        model, code = self._model, self._code
        passed = find_passed(model, code, closely=closely)
        contexts = find_contexts(code, [*event_lines(model, code, passed, closely=closely), *code.watched])
        points = find_points(model, code, contexts, passed, closely=closely)
        tables = make_tables(schedule.proof, points, level, drops=drops)
        _validate(schedule.proof, points, tables, level)
        return points, tables

    def _woven(self, points: Points, tables: ScheduleTables) -> Iterator[str]:
        woven = list(_events(points, tables))
        assumed = dict(_assumed(self._model, self._code))
        for name, module in self._built.items():
            same = self._same[name]
            here: tuple[dict[int, Woven], dict[int, Woven]] = ({}, {})  # events, and what is only passed
            for spot, each in woven:
                if spot.line[0] == name:
                    here[spot.passing][same[spot.line[1]]] = each
            calls = {
                same[line]: call
                for (file, line), call in points.contexts.calls.items()
                if file == name and line in same
            }
            guarded = {same[line]: callee for (file, line), callee in assumed.items() if file == name}
            yield weave(module, *here, calls, guarded)


def _module(file: str | Path, compiler: Compiler, arguments: Sequence[str]) -> Module:
    return Module(load_text(file, compiler, arguments), str(file))


def _is_cpp(files: Sequence[str | Path]) -> bool:
    return any(Path(file).suffix in CPP_SUFFIXES for file in files)


def _validate(proof: Proof, points: Points, tables: ScheduleTables, optimise: int) -> None:
    """The tables are proved to keep to the schedule by a program that has nothing in common with what made them."""
    code = points.code
    calls = {line for line, kind in code.kinds.items() if kind.startswith("call")}
    seen: dict[Location, int] = {}
    dropped: dict[Location, int | None] = {}
    for location in points.visible - points.inner:
        line = location.point.line if location.point is not None and location not in points.passed else None
        if line is not None and line in tables.dropped:
            dropped[location] = None if line in calls else tables.dropped[line]
        else:
            seen[location] = points.of(location)
    problems = validate(proof, tables.text, seen, dropped, optimise, calls=calls, unused=code.unused)
    if problems:
        raise Unfollowable(f"{problems[0]}; so a native build cannot be shown to keep to this schedule")


def _assumed(model: Model, code: Code) -> Iterator[tuple[Line, str]]:
    """Calls of functions of which something is known that what the native program calls need not keep to."""
    assert model.program is not None
    for line in code.kinds:
        callee = code.callee(line)
        if callee in ASSUMED and callee in model.program.functions and model.program.functions[callee].library:
            yield line, callee


def _argument_table(model: Model) -> str:
    """What runtime/arguments.c wants to know, in C."""
    texts = [] if model.arguments is None else [_literal(os.fsencode(argument)) for argument in model.arguments]
    return (
        f"const int mazurka_argument_count = {-1 if model.arguments is None else len(texts)};\n"
        f"const char *const mazurka_argument[] = {{{', '.join([*texts, '0'])}}};\n"
        f"const int mazurka_reads_environment = {int(model.reads_environment)};\n"
    )


def _literal(text: bytes) -> str:
    return '"' + "".join(f"\\{byte:03o}" for byte in text) + '"'


def _events(points: Points, tables: ScheduleTables) -> Iterator[tuple[Spot, Woven]]:
    always = {spot for (spot, _), point in points.numbers.items() if points.about[point - FIRST_POINT].always}
    for (spot, _), point in points.numbers.items():
        yield (
            spot,
            Woven(
                point,
                points.about[point - FIRST_POINT].place,
                points.code.callee(spot.line),
                tables.contexts.get(spot),
                None if spot.passing else tables.dropped.get(spot.line),
                inline=spot not in always,
                awaited=spot.line in tables.awaited,
            ),
        )


def _compile(
    modules: Sequence[str], runtime: Sequence[str], tables: str | None, output: Path, compiler: Compiler, is_cpp: bool
) -> None:
    folder = Path(str(resources("mazurka.constrained.enforce") / "runtime"))
    headers = ["-I", str(folder), *compiler.header_options(False)]
    with tempfile.TemporaryDirectory(prefix="mazurka-") as name:
        scratch = Path(name)
        objects = [_runtime_object(compiler, folder / file, headers, scratch) for file in runtime]
        for number, module in enumerate(modules):
            source = scratch / f"module{number}.ll"
            source.write_text(module, errors="surrogateescape")
            objects.append(_object(compiler, source, scratch / f"module{number}.o"))
        if tables is not None:
            (scratch / "tables.c").write_text(tables)
            objects.append(_object(compiler, scratch / "tables.c", scratch / "tables.o", headers))
        rest = [*_TARGET, *map(str, objects), "-pthread", "-lm", "-o", str(output)]
        if compiler.headers is None:
            _run([*compiler.command, *rest])
            return
        try:
            _run([compiler.command[0], "cc", *rest])
        except InputError:
            if not is_cpp:
                raise
            _run([compiler.command[0], "c++", *rest])  # which takes long, since it makes the library of C++ first


def _runtime_object(compiler: Compiler, source: Path, headers: Sequence[str], scratch: Path) -> Path:
    """A part of the runtime; compiled once and kept in the user's cache, if there is one."""
    digest = hashlib.sha256(repr((compiler.version(), _TARGET, _OPTIONS)).encode())
    for part in [source, *sorted(source.parent.glob("*.h"))]:
        digest.update(part.read_bytes() + b"\0")
    cache = cache_directory()
    if cache is None:
        return _object(compiler, source, scratch / f"{source.stem}.o", headers)
    kept = cache / f"{source.stem}-{digest.hexdigest()[:32]}.o"
    if not kept.exists():
        made = _object(compiler, source, scratch / f"{source.stem}.o", headers)
        try:
            kept.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=kept.parent, suffix=".tmp", delete=False) as file:
                file.write(made.read_bytes())
            os.replace(file.name, kept)
        except OSError:
            return made
    return kept


def _object(compiler: Compiler, source: Path, target: Path, options: Sequence[str] = ()) -> Path:
    _run([*compiler.command, *_TARGET, *_OPTIONS, *options, "-c", str(source), "-o", str(target)])
    return target


def _run(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    except OSError as error:
        raise InputError(f"cannot run {command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        message = done.stderr.decode(errors="replace").strip()
        raise InputError(f"the native build fails: {message or 'the compiler gives no reason'}")
