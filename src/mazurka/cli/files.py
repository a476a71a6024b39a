"""Files that commands write: never over what is needed, and complained of before a search that may take hours."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from mazurka.errors import InputError
from mazurka.result import Result


def keep(inputs: Sequence[str], *outputs: str | None) -> None:
    """Nobody means to overwrite a source file."""
    needed = {os.path.realpath(file) for file in inputs}
    for file in outputs:
        if file is not None and os.path.realpath(file) in needed:
            raise InputError(f"{file}: is needed, and would be overwritten; choose another name for what is written")


def try_to_save(file: str | None, what: str = "the schedule") -> None:
    """Better to fail before a search that may take hours than after it. No file is left behind: there may be no bug."""
    if file is None:
        return
    new = not os.path.exists(file)
    if not new and not os.path.isfile(file) and not os.path.isdir(file):
        return  # whoever reads a pipe would take this for all there is
    try:
        with open(file, "a"):
            pass
        if new:
            os.unlink(os.path.realpath(file))
    except OSError as error:
        raise _cannot_save(file, error, what) from None


def save_schedule(result: Result, file: str) -> None:
    assert result.schedule is not None
    try:
        with open(file, "w") as stream:
            json.dump(result.schedule.to_json(), stream)
            stream.write("\n")
    except OSError as error:
        raise _cannot_save(file, error) from None


def replace_file(file: str, text: str) -> None:
    """Write a plain file as a whole, if possible: whoever reads it meanwhile sees the old content or the new one."""
    special = os.path.exists(file) and not os.path.isfile(file)  # such as a pipe
    place = os.path.realpath(file)
    whole = not special and os.access(os.path.dirname(place), os.W_OK)
    written = f"{place}.{os.getpid()}.tmp" if whole else file
    try:
        with open(written, "w") as stream:
            stream.write(text)
        if whole:
            os.replace(written, place)
    except OSError as error:
        raise _cannot_save(file, error) from None


def _cannot_save(file: str, error: OSError, what: str = "the schedule") -> InputError:
    return InputError(f"{file}: {what} cannot be saved: {error.strerror}")
