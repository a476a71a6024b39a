"""Test frameworks: how a program that is written with one is recognised, lists its test cases and runs one of them.

Those of C++ do both themselves, by options of the program. Unity has no such options in general, but all of its test
cases go through one function, which is wrapped: by one that prints their names, or calls the function for one of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

_SKIPPED = "DISABLED_"  # of GoogleTest: before the name of a test or a suite that is not to be run


@dataclass(frozen=True, slots=True)
class Framework:
    """`symbol` is how the name of a function begins that all of its programs have. `listing` are the arguments that
    make a program list its test cases, `read` finds their names in what it prints, and `select` gives the arguments
    that make it run only one: as many, so that programs differ only in what they say. With a function that is
    `wrapped`, a file in C with the framework's name does all that. `failure` is what it prints when an assertion of its
    own fails."""

    name: str
    symbol: str
    failure: str
    read: Callable[[str], list[str]]
    listing: tuple[str, ...] = ()
    select: Callable[[str], list[str]] = lambda name: []
    wrapped: str | None = None

    @property
    def wrapper(self) -> str:
        return f"{self.name.lower()}.c"

    def complaint(self, output: str) -> str | None:
        """The first assertion that failed, in a line, if there is one in what a program has printed."""
        found = re.search(self.failure, output, re.MULTILINE)
        return " ".join(found[0].split()) if found else None


def _read_doctest(output: str) -> list[str]:
    begin = output.find("<?xml")
    try:
        listed = ElementTree.fromstring(output[begin:]).iter("TestCase") if begin >= 0 else []
        return [case.attrib["name"] for case in listed if case.get("skipped") != "true"]
    except (ElementTree.ParseError, KeyError):
        return []


def _read_catch2(output: str) -> list[str]:
    return [] if "Error(s) in input" in output else output.splitlines()


def _read_googletest(output: str) -> list[str]:
    names = []
    suite = ""
    for line in output.splitlines():
        name = line.partition("  # ")[0].strip()
        if not line.startswith(" "):
            suite = name if name.endswith(".") else ""
        elif suite and not any(part.startswith(_SKIPPED) for part in (*suite.split("/"), name)):
            names.append(suite + name)
    return names


def _read_marked(output: str) -> list[str]:
    return re.findall(r"^mazurka: test case (.*)$", output, re.MULTILINE)


def _escaped(name: str, special: str) -> str:
    return re.sub(rf"([{re.escape(special)}])", r"\\\1", name)


FRAMEWORKS = (
    Framework(
        "doctest",
        "_ZN7doctest6detail",
        r"^.+: (FATAL )?ERROR: .+$",
        _read_doctest,
        ("--list-test-cases", "--reporters=xml", "--no-colors"),
        lambda name: [f"--test-case={_escaped(name, ',')}", "--reporters=console", "--no-colors"],
    ),
    Framework(
        "Catch2",
        "_ZN5Catch",
        r"^.+: FAILED:\n.+$",
        _read_catch2,
        ("--list-test-names-only",),
        lambda name: [_escaped(name, '\\,"[]*')],
    ),
    Framework(
        "GoogleTest",
        "_ZN7testing",
        r"^.+: Failure\n(?:[^\[\n].*\n?){1,4}",
        _read_googletest,
        ("--gtest_list_tests", "--gtest_color=no"),
        lambda name: [f"--gtest_filter={name}", "--gtest_color=no"],
    ),
    Framework("Unity", "UnityBegin", r"^.+:FAIL.*$", _read_marked, wrapped="UnityDefaultTestRun"),
)


def recognised(symbols: Sequence[str]) -> Framework | None:
    """The one that a program is written with, by the names of its functions."""
    return next((each for each in FRAMEWORKS if any(symbol.startswith(each.symbol) for symbol in symbols)), None)
