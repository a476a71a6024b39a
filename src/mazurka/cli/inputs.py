"""What a command is about: the files that were named, a target of a build, or a test case of either."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from mazurka.errors import InputError

if TYPE_CHECKING:
    from mazurka.checking import Files
    from mazurka.frontends.c import Compiled
    from mazurka.testcases import TestProgram


def program(options: Namespace) -> tuple[Files | Compiled, dict[str, Any]]:
    """The program, and how it is compiled and called."""
    if options.test is None:
        return options.sources, options.compiling
    case = test_program(options).case(options.test)
    return case.source, {**options.compiling, "program_arguments": case.arguments}


def test_program(options: Namespace) -> TestProgram:
    """The program, which was written with a test framework."""
    from mazurka.testcases import TestProgram

    if getattr(options, "compat", None) is not None:
        raise InputError("--compat is for programs that were written for other tools, not for test frameworks")
    return TestProgram(options.sources, **options.compiling)
