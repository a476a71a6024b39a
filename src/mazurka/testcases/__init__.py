"""Programs of test cases: which ones there are, and a program for each of them alone.

frameworks.py   what is known of each test framework

A test case is the same program as the others, with other arguments, so that everything else that a check can do is
about it as well: verdict, trace, replay. To list them, the program is executed once, in the virtual machine. What one
of them uses that is not supported does not keep others from being checked: it is told when an execution gets there.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files as resources
from pathlib import Path
from typing import TYPE_CHECKING

from mazurka.errors import InputError
from mazurka.escaping import quoted
from mazurka.testcases.frameworks import FRAMEWORKS, Framework, recognised

if TYPE_CHECKING:
    from mazurka.checking import Files
    from mazurka.frontends.c import Compiled

# What a name must not have for it to be sure that selecting it selects nothing else.
_PLAIN = re.compile(r"[\w .:/()<>=+&!-]*")


@dataclass(frozen=True, slots=True)
class Case:
    """A test case as a program of its own: what is checked, and with which arguments."""

    name: str
    source: Compiled
    arguments: tuple[str, ...]


class TestProgram:
    """A program that was written with a test framework, compiled once for all of its test cases."""

    __test__ = False  # (pytest)

    def __init__(
        self,
        files: Files,
        *,
        compiler_arguments: Sequence[str] = (),
        program_arguments: Sequence[str] = (),
        cc: str | None = None,
    ) -> None:
        from mazurka.checking import file_list
        from mazurka.frontends.c import compile_c

        self._compiled = compile_c(file_list(files), compiler_arguments=compiler_arguments, cc=cc, lenient=True)
        self._arguments = tuple(program_arguments)
        found = recognised([symbol for module in self._compiled.modules for symbol in module.symbols])
        if found is None:
            known = ", ".join(framework.name for framework in FRAMEWORKS)
            raise InputError(
                f"{self._compiled.files[0]}: not a program with a test framework that is known ({known}); check it as "
                "it is, without --tests"
            )
        self.framework: Framework = found

    @cached_property
    def names(self) -> list[str]:
        """Those of its test cases, in their order. Raises `InputError` if it does not list any."""
        names = self._listed(self._with_wrapper(), [*self._arguments, *self.framework.listing])
        if not names:
            raise InputError(f"{self._compiled.files[0]}: {self.framework.name} lists no test cases in this program")
        return names

    def case(self, name: str) -> Case:
        """One of them alone. Raises `InputError` if there is none of this name, or if it cannot be selected: that a
        program runs no test case at all would not be noticed."""
        if name not in self.names:
            near = ", ".join(self.names[:20]) + (f" and {len(self.names) - 20} more" if len(self.names) > 20 else "")
            raise InputError(f"there is no test case '{name}'; those of this program are: {near}")
        source = self._with_wrapper(name)
        arguments = (*self._arguments, *self.framework.select(name))
        alike = sum(other.casefold() == name.casefold() for other in self.names)
        if self.framework.wrapped is None and (alike > 1 or not _PLAIN.fullmatch(name)):
            selected = self._listed(source, [*arguments, *self.framework.listing])
            if selected != [name]:
                told = f"selects {', '.join(selected)}" if selected else "selects none"
                raise InputError(
                    f"the test case '{name}' cannot be checked by itself: {' '.join(arguments)} {told}; give it a name "
                    "of its own, of letters and digits"
                )
        return Case(name, source, arguments)

    def _with_wrapper(self, name: str | None = None) -> Compiled:
        framework = self.framework
        if framework.wrapped is None:
            return self._compiled
        wrapper = Path(str(resources("mazurka.testcases") / framework.wrapper))
        chosen = [f"-DMAZURKA_TEST_CASE={quoted(name)}"] if name is not None else []
        text = self._compiled.compiler.compile(wrapper, chosen)
        return self._compiled.wrapping(framework.wrapped, text, framework.wrapper)

    def _listed(self, source: Compiled, arguments: Sequence[str]) -> list[str]:
        """What the program lists, in one execution."""
        from mazurka.checking import printed

        try:
            return self.framework.read(printed(source, program_arguments=arguments))
        except InputError as error:
            called = f" with {shlex.join(arguments)}" if arguments else ""
            raise InputError(f"{source.files[0]}: the test cases cannot be listed{called}: {error}") from None
