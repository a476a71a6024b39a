"""`mazurka.toml`: defaults of options, a table for each command, for all programs in a folder and below it.

It is looked for in the folder of the first file and in those above it, so that a program has the same options from
wherever the command is run. The keys are the names of options without dashes before them (and without "no"): what is on
the command line comes first, and where an option may be repeated, adds to what is in the file.
"""

from __future__ import annotations

import os
import tomllib
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mazurka.errors import InputError
from mazurka.options import COMMANDS, CONFIG, NO_CONFIG, TEXT, Option

NAME = "mazurka.toml"


def find(files: Sequence[str | os.PathLike[str]]) -> Path | None:
    """The one that is for these files, if there is any."""
    if not files:
        return None
    folder = Path(os.path.abspath(files[0])).parent
    for place in (folder, *folder.parents):
        file = place / NAME
        if file.is_file():
            return Path(os.path.relpath(file)) if file.is_relative_to(Path.cwd()) else file
    return None


def defaults(options: Namespace) -> tuple[str | None, dict[str, Any]]:
    """The file that holds for a command line, if there is any, and what it says of the options of the command."""
    if options.config_file is not None and not options.config:
        raise InputError(f"{CONFIG.flag} and {NO_CONFIG.flag} contradict each other; leave one of them out")
    if not options.config:
        return None, {}
    file = Path(options.config_file) if options.config_file is not None else find(options.sources)
    if file is None:
        return None, {}
    tables = _read(file)
    for command, table in tables.items():
        if command not in COMMANDS:
            raise InputError(f"{file}: there is no command '{command}'; tables are {_listed(COMMANDS)}")
        if not isinstance(table, dict):
            raise InputError(f"{file}: '{command}' must be a table: write [{command}], and its options below it")
    # All of it is read, so that a mistake shows whatever command is run.
    read = {command: _table(file, command, table) for command, table in tables.items()}
    return str(file), read.get(options.command, {})


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeError) as error:
        raise InputError(f"{file}: not a TOML file: {error}") from None


def _table(file: Path, command: str, table: dict[str, Any]) -> dict[str, Any]:
    """What the table of a command says, by the keywords of its options."""
    # Files that a run reads or writes are its own.
    options = {option.key: option for option in COMMANDS[command].options if option.values is not TEXT}
    values = {}
    for key, value in table.items():
        where = f"{file}: [{command}] {key}"
        if key not in options:
            raise InputError(f"{where}: there is no such option; those of this command are {_listed(options)}")
        values[options[key].keyword] = _value(where, options[key], value)
    return values


def _value(where: str, option: Option, value: Any) -> Any:
    try:
        return option.configured(value)
    except InputError as error:
        raise InputError(f"{where} {error}") from None


def _listed(names: Sequence[str] | dict[str, Any]) -> str:
    return ", ".join(sorted(names))
