"""That programs are well-formed after each transformation, and that a program which is not is refused."""

from __future__ import annotations

import copy
import dataclasses
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import mazurka
from mazurka import checking, transforms
from mazurka.errors import InputError
from mazurka.program.instructions import (
    Constant,
    FunctionAddress,
    GlobalAddress,
    Instruction,
    Location,
    Phi,
    Register,
    Value,
)
from mazurka.program.program import Function, Program, Relocation
from mazurka.program.types import I32, Float, Int, Type
from mazurka.program.validate import InvalidProgram, validate
from tests.oracle import generator, loop_generator, state_generator
from tests.programs.test_programs import CORPUS, Expectation

# ------------------------------------------------------------------------------------------- after each transformation

PASSES = ["inline_wrappers", "eliminate_pure_iterations", "make_awaits", "bound_loops", "find_private_objects"]


def prepare_with_care(program: Program, monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
    """Prepare a program, and look at it before and after each transformation."""

    def careful(name: str, transform: Callable[..., object]) -> Callable[..., object]:
        def apply(*arguments: Any, **keywords: Any) -> object:
            result = transform(*arguments, **keywords)
            try:
                validate(program)
            except InvalidProgram as problem:
                raise AssertionError(f"after {name}") from problem
            return result

        return apply

    validate(program)
    with monkeypatch.context() as patch:
        for name in ["promote", *PASSES]:
            patch.setattr(transforms, name, careful(name, getattr(transforms, name)))
        transforms.prepare(program, **options)


OPTIONS: list[dict[str, Any]] = [{}, {"awaits": False}, {"purity": False, "unroll": 2}, {"unroll": 1}]


def programs(numbers: range) -> Iterator[tuple[int, Program]]:
    for number in numbers:
        source = random.Random(number)
        match number % 4:
            case 0 | 1:
                yield number, loop_generator.build(loop_generator.random_loop_shape(source))
            case 2:
                yield number, generator.build(generator.random_shape(source))
            case _:
                yield number, state_generator.build(state_generator.random_state_shape(source))


def prepare_random_programs(numbers: range, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, program in programs(numbers):
        for options in OPTIONS:
            try:
                prepare_with_care(copy.deepcopy(program), monkeypatch, **options)
            except AssertionError as error:
                raise AssertionError(f"program {number}, {options}") from error


def test_transformed_programs_are_well_formed(monkeypatch: pytest.MonkeyPatch) -> None:
    prepare_random_programs(range(80), monkeypatch)


def check_c_program(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = Expectation.read(path)
    program = checking._compile([path, *expected.files], expected.options, expected.arguments, None, expected.leeway)
    for options in OPTIONS:
        prepare_with_care(copy.deepcopy(program), monkeypatch, **options)


@pytest.mark.parametrize("path", CORPUS[::25], ids=lambda path: path.name)
def test_transformed_c_programs_are_well_formed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_c_program(path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_all_transformed_c_programs_are_well_formed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_c_program(path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_many_transformed_programs_are_well_formed(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare_random_programs(range(500 * chunk, 500 * (chunk + 1)), monkeypatch)


# ---------------------------------------------------------------------------------------------- what is not well-formed

# What may stand nowhere, though its Python type is right.
WRONG_VALUES: list[Value] = [
    Register("stranger", I32),
    GlobalAddress("nonsense"),
    FunctionAddress("nonsense"),
    Constant(I32, 1 << 40),
    Constant(I32, -1),
    Constant(Int(128), 0),
    Constant(Float(16), 0.0),
]
WRONG_TYPES: list[Type] = [Int(0), Int(65), Int(128), Float(16)]
FREE_TEXT = {"what", "message", "variable", "debug_type"}  # may be anything


def spoil(program: Program, source: random.Random) -> str:
    """Break one rule somewhere in a valid program, and say what was done."""
    function = source.choice(list(program.functions.values()))
    block = source.choice(list(function.blocks.values()))
    others: list[Callable[[], str]] = [
        lambda: spoil_function(program, function, source),
        lambda: spoil_global(program, source),
    ]
    items: list[Instruction | Phi] = [*block.phis, *block.instructions]
    ways = [(item, field.name) for item in items for field in dataclasses.fields(item) if spoilable(item, field.name)]
    if not ways or source.random() < 0.2:
        return source.choice(others)()
    item, name = source.choice(ways)
    old = getattr(item, name)
    defined = name in ("result", "success")
    new = Register("wide", source.choice(WRONG_TYPES)) if defined else wrong_for(old, source)
    setattr(item, name, new)
    return f"{name} of {item}: {new} for {old}"


def spoilable(item: Instruction | Phi, name: str) -> bool:
    old = getattr(item, name)
    return name not in FREE_TEXT and not isinstance(old, bool | Location | None)


def wrong_for(old: Any, source: random.Random) -> Any:
    match old:
        case str():
            return source.choice(["nonsense", ""])
        case int():
            return source.choice([1 << 80, -1 << 80])
        case [*parts] if parts and isinstance(parts[0], tuple):  # of a phi or a switch
            position = source.randrange(len(parts))
            wrong = source.choice(WRONG_VALUES) if isinstance(parts[position][0], str) else "nonsense"
            return [*parts[:position], (parts[position][0], wrong), *parts[position + 1 :]]
        case [*parts]:
            return [*parts, source.choice(WRONG_VALUES)]
        case _:
            return source.choice(WRONG_VALUES)


def spoil_function(program: Program, function: Function, source: random.Random) -> str:
    block = source.choice(list(function.blocks.values()))
    match source.randrange(8):
        case 0:
            block.instructions.pop()
        case 1:
            block.instructions.append(block.instructions[-1])
        case 2:
            function.name += "s"
        case 3:
            function.blocks[f"{block.name} again"] = block
        case 4:
            function.blocks.clear()
        case 5:
            program.entry = "nonsense"
        case 6:
            function.parameters.append(Register("wide", Int(128)))
        case _:
            function.returns = Int(128)
    return f"function {function.name}, block {block.name}"


def spoil_global(program: Program, source: random.Random) -> str:
    variable = source.choice(list(program.globals.values()))
    match source.randrange(5):
        case 0:
            variable.name += "s"
        case 1:
            variable.debug_type = "nonsense"
        case 2:
            variable.private, variable.thread_local = True, False
        case 3:
            variable.relocations.append(Relocation(source.choice([-1, len(variable.data) - 7]), "main"))
        case _:
            variable.relocations.append(Relocation(0, "nonsense"))
    return f"global {variable.name}"


def refuse_random_programs(numbers: range) -> None:
    for number, program in programs(numbers):
        spoilt = copy.deepcopy(program)
        done = spoil(spoilt, random.Random(number))
        for engine in ("stateless", "stateful"):
            try:
                result = mazurka.check(spoilt, engine=engine, timeout=1)
            except InputError:
                continue
            pytest.fail(f"program {number}, {done}: {result.verdict}")


def test_programs_that_are_not_well_formed_are_refused() -> None:
    refuse_random_programs(range(200))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_many_programs_that_are_not_well_formed_are_refused(chunk: int) -> None:
    refuse_random_programs(range(2000 * chunk, 2000 * (chunk + 1)))
