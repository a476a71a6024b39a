"""Command lines, taken apart as the table of options says."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from mazurka.cli import config
from mazurka.errors import InputError
from mazurka.options import COMMANDS, CONFIGURATION, Command, Kind, Option

_COMPILER_OPTIONS = (
    ("-D", "NAME[=VALUE]", "define a macro"),
    ("-U", "NAME", "undefine a macro"),
    ("-I", "DIR", "search DIR for headers"),
    ("-isystem", "DIR", "search DIR for system headers"),
    ("-idirafter", "DIR", "search DIR for headers last: /usr/include has those of other libraries"),
    ("-include", "FILE", "include FILE first"),
    ("-std", "STANDARD", "the language standard: -std=c11"),
)

_EXIT_CODES = """\
exit codes:
  0  verified: everything was covered and no bug found; of schedule and build: what was asked for is there
  1  a bug was found; of schedule: one that the schedule does not avoid, or with --until complete any
  2  the input or the usage is at fault
  3  incomplete: a limit, an interrupt (Ctrl-C, SIGTERM) or the bound on loops ended the search, or it was one that can
     miss bugs
  4  an error in Mazurka itself
"""


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mazurka",
        description="Checks concurrent C and C++ programs in all of their executions.",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="show the version and exit")
    parser.add_argument("--cmake-dir", action="store_true", help="show where the CMake package Mazurka is, and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, command in COMMANDS.items():
        _add_command(commands, name, command)
    return parser


def parse(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    """The options of a command line, and as `compiling` what the front end has to know. Files can be among the options,
    as with a C compiler; argparse leaves those after the first ones to us."""
    cut = words.index("--") if "--" in words else len(words)
    options = _parse_files_anywhere(parser, words[:cut])
    if options.command is not None:
        _find_sources(options)
        sources = options.sources
        used, values = config.defaults(options)
        options.parser.set_defaults(**values)
        options = _parse_files_anywhere(parser, words[:cut])
        options.config_used, options.configured, options.sources = used, values, sources
        options.compiling = {
            "compiler_arguments": options.compiler_arguments,
            "program_arguments": list(words[cut + 1 :]),
            "cc": options.cc,
        }
    return options


def _find_sources(options: argparse.Namespace) -> None:
    """The files of a program: those that are named, or as a build has them. The last one of a replay is no such."""
    build, target = getattr(options, "build", None), getattr(options, "target", None)
    named = options.files[:-1] if options.command == "replay" else options.files
    options.sources = named
    if getattr(options, "tests", False) and options.test is not None:
        raise InputError("--tests checks all test cases, --test one of them; leave one of the two out")
    if target is not None and build is None:
        raise InputError("--target needs --build DIR: the folder of the build that the target is in")
    if build is not None:
        from mazurka.builds import sources

        options.sources = sources(build, target, named)
    elif not options.files:
        options.parser.error("the following arguments are required: FILE")


def _parse_files_anywhere(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    options, rest = parser.parse_known_args(words)
    unknown = []
    for word in rest:
        if not word.startswith("-"):
            options.files.append(word)
        elif options.command is not None and _is_flag(word):
            options.compiler_arguments = [*options.compiler_arguments, word]
        else:
            unknown.append(word)
    if unknown:
        (options.parser if options.command else parser).error(f"unrecognized arguments: {' '.join(unknown)}")
    return options


def _is_flag(word: str) -> bool:
    from mazurka.frontends.c.flags import is_known

    return is_known(word)


class _CompilerOption(argparse.Action):
    """Options for the C compiler, kept in their order: `-DX=1`, `-D X`, `-std=c11`, `-include FILE`."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, value: Any, option: str | None = None
    ) -> None:
        assert option is not None
        attached = option + ("=" if option == "-std" else "") + value
        words = [option, value] if option in ("-include", "-isystem", "-idirafter") else [attached]
        namespace.compiler_arguments = [*namespace.compiler_arguments, *words]


def _add_command(commands: Any, name: str, command: Command) -> None:
    files = "FILE… | --build DIR --target NAME" if command.project else "FILE…"
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=command.description,
        description=command.description[0].upper() + command.description[1:] + ".",
        usage=f"mazurka {name} [options] {files} {command.usage}[-- ARGUMENT…]",
        epilog="What follows -- are the arguments of the program itself.",
        allow_abbrev=False,
    )
    parser.set_defaults(compiler_arguments=[], parser=parser)
    parser.add_argument("files", nargs="*", metavar="FILE", help=command.files)
    compiler = parser.add_argument_group(
        "compiler",
        "as a C compiler takes them; others are accepted as well (-O2 or -fPIC change nothing, with -fwrapv signed "
        "numbers may overflow), or refused where the program would not be the same",
    )
    for flag, value, meaning in _COMPILER_OPTIONS:
        compiler.add_argument(flag, action=_CompilerOption, metavar=value, help=meaning, dest="compiler_arguments")
    compiler.add_argument("--cc", metavar="CLANG", help="use this clang instead of the one that is installed along")
    if command.project:
        project = parser.add_argument_group("project")
        for option in command.project:
            _add_option(project, option)
    for title, options in command.groups.items():
        group = parser if title is None else parser.add_argument_group(title)
        for option in options:
            _add_option(group, option)
    configuration = parser.add_argument_group("configuration")
    for option in CONFIGURATION:
        _add_option(configuration, option)


def _add_option(group: argparse._ActionsContainer, option: Option) -> None:
    common: dict[str, Any] = {"dest": option.keyword, "help": option.explained, "default": option.unsaid}
    match option.values:
        case None:
            group.add_argument(option.flag, action="store_false" if option.default else "store_true", **common)
        case Kind() as kind:
            common |= {"metavar": option.metavar or kind.metavar, "required": option.required}
            common |= {"action": "append"} if option.repeatable else {}
            group.add_argument(option.flag, type=_reader(kind), **common)
        case choices:
            group.add_argument(option.flag, type=type(choices[0]), choices=choices, **common)


def _reader(kind: Kind) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        try:
            return kind.parse(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    read.__name__ = kind.noun  # what argparse calls a value that does not convert
    return read
