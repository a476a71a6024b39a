"""The table of options, and what has to agree with it: signatures, engines, the command line and what it is told."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest

import mazurka
from mazurka.cli.parser import make_parser, parse
from mazurka.engines import stateful, stateless
from mazurka.executions.schedule import Transformations
from mazurka.leeway import Leeway
from mazurka.options import COMMANDS, SEARCH, TEXT, UNTIL, Again, Kind, Option, repeated
from mazurka.program.builder import ProgramBuilder
from mazurka.program.program import Program
from tests import ROOT

COMPILING = {"compiler_arguments", "program_arguments", "cc"}
READERS = {"stateless": stateless.Options, "stateful": stateful.Options}
BY_FLAG = {f"{name} {option.flag}": (name, option) for name, command in COMMANDS.items() for option in command.options}


def keywords(function: Any, *but: str) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(function).parameters.values()
    named = [parameter for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
    return {parameter.name: parameter for parameter in named if parameter.name not in COMPILING.union(but)}


def some_value(option: Option) -> Any:
    """One that is not the default."""
    if option.values is None:
        return not option.default
    if isinstance(option.values, tuple):
        return next(value for value in option.values if value != option.default)
    if option.repeatable:
        return ["object:x", "file:src/*.c"]
    return {
        "text": "a file", "time": 2.5, "first, number or complete": "complete", "range": "-1..0",
    }.get(option.values.noun, 7)  # fmt: skip


def tiny() -> Program:
    p = ProgramBuilder()
    with p.function("main"):
        pass
    return p.build()


def test_check_takes_the_options_of_the_table() -> None:
    taken = keywords(mazurka.check, "progress")
    assert {name: parameter.default for name, parameter in taken.items()} == {
        option.keyword: option.unsaid for option in SEARCH
    }


@pytest.mark.parametrize("option", SEARCH, ids=lambda option: option.keyword)
def test_the_types_of_a_signature_are_those_of_the_table(option: Option) -> None:
    noun = option.values.noun if isinstance(option.values, Kind) else "choice" if option.values else "switch"
    plain = {"switch": "bool", "choice": "str", "number": "int", "size": "int", "time": "float"}.get(noun)
    others = {"suppression": "Sequence[str]", "text": "str", "range": "str", "auto or number": "int | str"}
    plain = plain or others[noun]
    annotation = inspect.signature(mazurka.check).parameters[option.keyword].annotation
    assert annotation == (f"{plain} | None" if option.unsaid is None else plain)


def test_what_a_replay_and_a_search_for_schedules_take() -> None:
    judging = [option.keyword for option in COMMANDS["replay"].options if option.again == "judging"]
    assert set(keywords(mazurka.replay)) == set(judging)
    assert set(keywords(mazurka.load)) == {option.keyword for option in COMMANDS["print"].options}
    found = {option.keyword for option in COMMANDS["schedule"].options} - {"check", "output", "picture", "save_bug"}
    assert set(keywords(mazurka.find_schedules, "found", "last_first")) == found - {"json", "color"}


@pytest.mark.parametrize("option", SEARCH, ids=lambda option: option.keyword)
def test_each_option_is_read_by_the_engines_that_have_a_use_for_it(option: Option) -> None:
    readers = {engine for engine, kind in READERS.items() if option.keyword in {field.name for field in fields(kind)}}
    elsewhere = {"engine", "timeout", *(field.name for kind in (Transformations, Leeway) for field in fields(kind))}
    if option.keyword not in elsewhere:
        assert readers and (option.only is None or readers == {option.only[0]})


def test_the_options_of_an_engine_are_in_the_table_with_the_same_defaults() -> None:
    table = {option.keyword: option.default for option in SEARCH}
    for kind in READERS.values():
        for field in fields(kind):
            assert field.default == table[field.name]


@pytest.mark.parametrize(
    "option",
    [option for option in SEARCH if option.only and some_value(option) != option.harmless],
    ids=lambda option: option.keyword,
)
def test_an_engine_refuses_what_it_has_no_use_for(option: Option) -> None:
    assert option.only is not None
    engine, why = option.only
    other = "stateless" if engine == "stateful" else "stateful"
    with pytest.raises(mazurka.InputError) as error:
        mazurka.check(tiny(), engine=other, **{option.keyword: some_value(option)})
    assert str(error.value) == f"{option.flag} is for --engine {engine}; the engine {other} {why}"


@pytest.mark.parametrize("option", SEARCH, ids=lambda option: option.keyword)
def test_a_value_of_another_type_is_refused(option: Option) -> None:
    texts = () if option.values is TEXT else ("a lot",)
    for value in (b"", -1.5, *texts):
        with pytest.raises(mazurka.InputError, match=rf"^{option.keyword} (must be|can be) .*, not "):
            mazurka.check(tiny(), **{option.keyword: value})


@pytest.mark.parametrize("flag", BY_FLAG)
def test_what_is_written_on_a_command_line_is_read_from_it(flag: str) -> None:
    command, option = BY_FLAG[flag]
    needed = [word for other in COMMANDS[command].options if other.required for word in (other.flag, "x")]
    plain = parse(make_parser(), [command, *needed, "file.c"])
    if not option.required:
        assert getattr(plain, option.keyword) == option.unsaid
        assert option.words(option.default) == []
    value = some_value(option)
    written = parse(make_parser(), [command, *needed, *option.words(value), "file.c"])
    assert getattr(written, option.keyword) == value
    assert written.files == ["file.c"]


def test_first_is_a_number() -> None:
    assert isinstance(UNTIL.values, Kind)
    assert [UNTIL.values.parse(text) for text in ("first", "4", "complete")] == [1, 4, "complete"]


def test_commands_that_reports_print_carry_whatever_the_same_answer_takes() -> None:
    given = {option.keyword: some_value(option) for option in SEARCH}
    carried = {sort: repeated(SEARCH, given, [sort]) for sort in get_args(Again)}
    assert carried["judging"] == [
        *("--no-uninitialised", "--any-status", "--allow-livelock", "--leaks", "--max-steps", "7")
    ]
    assert carried["walking"] == ["--timeout", "2.5", "--max-executions", "7"]
    # These make no difference to the first bug: they only end a search, or let it go on.
    assert carried["never"] == ["--keep-going", "--jobs", "7", "--max-states", "7"]
    replayed = {option.keyword for option in COMMANDS["replay"].options}
    assert all(option.keyword in replayed for option in SEARCH if option.again == "judging")


def test_the_guide_knows_all_options() -> None:
    guide = (Path(ROOT) / "docs/guide.md").read_text()
    assert [flag for flag, (_, option) in BY_FLAG.items() if option.flag not in guide] == []
