"""The flags of real builds: which of them the compiler gets here, which make no difference, and which are refused.

A build is made for a machine, this is not: what a flag says about speed, warnings, sections or files that are written
has no meaning, while a macro, a folder of headers or the standard says what the program is. A flag is *kept* if it is
of the second sort, *dropped* if it is of the first, and *refused* if it is of the second sort but says something that
the program here would not have: better no answer than one about another program. So is a flag that is not in the table.

What a later flag undoes does not count: `-fno-fast-math` after `-ffast-math` is how to check a program without it.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mazurka.errors import InputError


@dataclass(frozen=True, slots=True)
class Flags:
    """Flags of which the same can be said. A `*` at the end of a word stands for any text, also for none. Those in
    `valued` have a value, which is the next word unless it is attached. `why` they are refused, if they are."""

    words: str = ""
    valued: str = ""
    kept: bool = False
    why: str = ""


_FLOATS = "floating-point numbers are those of IEEE 754 here, and results may be others in such a build"
_OTHER_MACHINE = "programs are checked for x86_64 Linux with 64 bits"

TABLE = (
    # What the program is: macros, headers, the standard, and what it makes of what C leaves to implementations.
    Flags(
        """
        -std=* -ansi -trigraphs -undef -pthread -fwrapv -fno-wrapv -fno-strict-overflow -fstrict-overflow
        -fwrapv-pointer -fno-finite-loops -fsigned-char -funsigned-char -fno-signed-char -fno-unsigned-char
        -fshort-enums -fno-short-enums -fexceptions -fno-exceptions -frtti -fno-rtti -fthreadsafe-statics
        -fno-threadsafe-statics -fchar8_t -fno-char8_t -faligned-new* -fno-aligned-new -faligned-allocation
        -fsized-deallocation -ffreestanding -fhosted -fbuiltin -fno-builtin* -fgnu89-inline -fms-extensions
        -fno-ms-extensions -fcommon -fno-common -ftrivial-auto-var-init=* -fstrict-flex-arrays=* -fno-operator-names
        -fno-gnu-keywords -ffp-contract=off -ffp-contract=on -fmacro-prefix-map=* -ffile-prefix-map=* -finput-charset=*
        -fexec-charset=* -ftemplate-depth=* -fconstexpr-depth=* -fconstexpr-steps=*
        """,
        valued="-D -U -I -isystem -iquote -idirafter -include -imacros -x",
        kept=True,
    ),
    # The macros that they define, such as __AVX2__, choose what is compiled. (Code for vectors is refused where it is.)
    Flags(
        """
        -march=* -msse* -mno-sse* -mssse3 -mavx* -mno-avx* -mfma -mno-fma -mbmi* -mpopcnt -mlzcnt -mcx16 -mf16c -maes
        -mpclmul -mcrc32 -mmmx -mno-mmx -mrdrnd -mrdseed -msha -mgfni -mmovbe -mwaitpkg
        """,
        kept=True,
    ),
    # What is written, where to, and what is told meanwhile.
    Flags(
        """
        -c -S -emit-llvm -pipe -v -save-temps* -no-canonical-prefixes -Qunused-arguments -time -Q -M -MM -MD -MMD -MP
        -MG -MV -W* -w -pedantic -pedantic-errors -fpermissive -fmax-errors=* -ferror-limit=* -fmessage-length=*
        -fdiagnostics-* -fno-diagnostics-* -fcolor-diagnostics -fno-color-diagnostics -fansi-escape-codes
        -fno-caret-diagnostics -fshow-* -fno-show-* -fspell-checking -fno-spell-checking -fno-elide-type -g* -fdebug-*
        -fno-debug-* -fno-eliminate-unused-debug-* -feliminate-unused-debug-* -fvar-tracking* -fno-var-tracking*
        -fstandalone-debug -fno-standalone-debug -frecord-* -fno-record-* -fident -fno-ident -fverbose-asm
        -frandom-seed=* -fno-canonical-system-headers -fdebug-prefix-map=* -fpch-* -fno-pch-*
        """,
        valued="-o -MF -MT -MQ -MJ -include-pch -dumpbase -dumpdir -Xassembler",
    ),
    # How fast and how large it is.
    Flags(
        """
        -O* -mtune=* -mcmodel=* -mprefer-vector-width=* -mno-red-zone -mred-zone -mindirect-branch* -mfunction-return=*
        -mfpmath=sse -mstackrealign -mno-omit-leaf-frame-pointer -momit-leaf-frame-pointer -mshstk -mvzeroupper
        -finline* -fno-inline* -funroll-* -fno-unroll-* -fpeel-loops -ftree-* -fno-tree-* -fipa-* -fno-ipa-* -fvectorize
        -fno-vectorize -fslp-vectorize -fno-slp-vectorize -fgcse* -fno-gcse* -fsched* -fno-sched* -falign-* -fno-align-*
        -freorder-* -fno-reorder-* -fschedule-* -fno-schedule-* -fdevirtualize* -fno-devirtualize* -foptimize-*
        -fno-optimize-* -fomit-frame-pointer -fno-omit-frame-pointer -floop-* -fpartial-inlining -fno-partial-inlining
        -fsemantic-interposition -fno-semantic-interposition -fweb -fstrict-aliasing -fno-strict-aliasing -fstrict-enums
        -fno-strict-enums -fassume-* -fno-assume-* -fdelete-null-pointer-checks -fno-delete-null-pointer-checks
        -fstrict-vtable-pointers -fno-merge-constants -flifetime-dse* -fno-lifetime-dse -fallow-store-data-races
        -fno-allow-store-data-races -fcse-* -fconstexpr-loop-* -fconstexpr-ops-* -fmath-errno -fno-math-errno
        -ftrapping-math -fno-trapping-math --param=*
        """,
        valued="--param",
    ),
    # How it is put together, and what is built in to watch it: bounds, overflow and races are checked here anyway.
    Flags(
        """
        -fPIC -fpic -fPIE -fpie -fno-PIC -fno-pic -fno-PIE -fno-pie -fplt -fno-plt -pie -no-pie -static-pie -flto*
        -fno-lto* -ffat-lto-objects -fno-fat-lto-objects -fwhole-program* -fuse-linker-plugin -fno-use-linker-plugin
        -fuse-ld=* -fvisibility* -fno-visibility* -ffunction-sections -fno-function-sections -fdata-sections
        -fno-data-sections -funique-* -fno-unique-* -ftls-model=* -femulated-tls -fno-emulated-tls
        -fasynchronous-unwind-tables -fno-asynchronous-unwind-tables -funwind-tables -fno-unwind-tables -fstack-*
        -fno-stack-* -fcf-protection* -fzero-call-used-regs=* -fhardened -mbranch-protection=* -fsanitize*
        -fno-sanitize* -ftrapv -fno-trapv -fprofile-* -fno-profile-* -fcoverage-* -ftest-coverage --coverage -p -pg
        -fno-instrument-functions -fxray-* -fpatchable-function-entry=* -fabi-version=*
        -fabi-compat-version=* -fno-gnu-unique -fgnu-unique -fconcepts* -fcoroutines -fkeep-inline-functions
        -fno-keep-inline-dllexport -stdlib=* -fopenmp-simd -fno-openmp -fno-fast-math -fno-unsafe-math-optimizations
        -fno-finite-math-only -fno-associative-math -fno-reciprocal-math -fsigned-zeros -fno-openacc -m64 -shared
        -static -static-libgcc -static-libstdc++ -rdynamic -s -nostartfiles -nodefaultlibs -nostdlib*
        """,
        valued="-l -L -T -z -u -Xlinker",
    ),
    # What would be another program here.
    Flags(
        """
        -ffast-math -Ofast -funsafe-math-optimizations -ffinite-math-only -fassociative-math -freciprocal-math
        -fno-signed-zeros -ffp-contract=fast -frounding-math -mfpmath=*
        """,
        why=_FLOATS,
    ),
    Flags(
        "-fopenmp* -fopenacc",
        why="the threads that its directives start have no model; use pthreads",
    ),
    Flags(
        "-m32 -mx32 -m16 --target=* -mcpu=*",
        valued="-target -arch",
        why=_OTHER_MACHINE,
    ),
    Flags(
        "-mlong-double-64 -mlong-double-128 -mabi=* -mms-bitfields",
        why="types lie in memory as on x86_64 Linux",
    ),
    Flags(
        "-nostdinc -nostdinc++ -nostdlibinc",
        why="the headers of the C library are those that come with Mazurka",
    ),
    Flags(
        "--sysroot=*",
        valued="--sysroot -isysroot",
        why="give the headers that it has besides those of C as -isystem",
    ),
    Flags(
        "-finstrument-functions*",
        why="the functions that it has called are not called here",
    ),
    Flags(
        "-fplugin=* -fpass-plugin=*",
        why="what it makes of the program is not known here",
    ),
    Flags(
        "-fmodules* -fmodule-* -fcxx-modules -fprebuilt-*",
        why="modules of C++ are not supported; use headers",
    ),
    Flags(
        "-fnon-call-exceptions",
        why="what it throws is a bug here, at which executions end",
    ),
)

# Flags that say where to look, or for what.
_PATHS = frozenset({"-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros"})
# After these, as after `-D`, the value may be in the same word.
_ATTACHED = frozenset({"-D", "-U", "-I", "-isystem", "-iquote", "-idirafter", "-x", "-o", "-l", "-L", "-T", "-z", "-u"})
_SAME_MACHINE = ("x86_64-linux", "x86_64-pc-linux", "x86_64-unknown-linux", "x86_64-redhat-linux", "x86_64-suse-linux")


@dataclass(frozen=True, slots=True)
class Flag:
    """One of a command line: `words` as they stand there, the `name` without a value that is attached or comes next."""

    words: tuple[str, ...]
    name: str
    value: str | None
    row: Flags | None


@cache
def _exact() -> dict[str, tuple[Flags, bool]]:
    plain = {word: (row, False) for row in TABLE for word in row.words.split() if not word.endswith("*")}
    return plain | {word: (row, True) for row in TABLE for word in row.valued.split()}


@cache
def _beginnings() -> list[tuple[str, Flags]]:
    """The longest first: `-fopenmp-simd` is not like `-fopenmp`, and `-Ofast` is no `-O*`."""
    found = [(word[:-1], row) for row in TABLE for word in row.words.split() if word.endswith("*")]
    return sorted(found, key=lambda pair: -len(pair[0]))


def read(arguments: Sequence[str]) -> Iterator[Flag]:
    """The flags of a compiler's command line, without files. What is passed on by -Wp, and -Xclang is like the rest."""
    words = iter(_unwrapped(arguments))
    for word in words:
        if not word.startswith("-") or word == "-":
            continue
        row, valued = _exact().get(word, (None, False))
        if row is not None:
            value = next(words, None) if valued else None
            yield Flag((word,) if value is None else (word, value), word, value, row)
            continue
        name = next((name for name in sorted(_ATTACHED, key=len, reverse=True) if word.startswith(name)), None)
        beginning, found = next(((text, row) for text, row in _beginnings() if word.startswith(text)), ("", None))
        if name is not None and len(name) > len(beginning):
            yield Flag((word,), name, word[len(name) :], _exact()[name][0])
        else:
            yield Flag((word,), word, None, found)


def _unwrapped(arguments: Sequence[str]) -> Iterator[str]:
    for word in arguments:
        if word.startswith("-Wp,"):
            yield from word.split(",")[1:]
        elif word != "-Xclang":
            yield word


def accepted(arguments: Sequence[str], where: str = "") -> list[str]:
    """What the compiler gets of the flags of a build. Raises `InputError` for what is refused; `where` it was found."""
    kept: list[str] = []
    refused: dict[str, str] = {}
    for flag in read(arguments):
        refused = {earlier: why for earlier, why in refused.items() if not _undoes(flag.name, earlier)}
        if flag.row is None:
            refused[flag.name] = "it is not known here, and might make another program of it"
        elif flag.row.why and not _harmless(flag):
            refused[flag.name] = flag.row.why
        elif flag.row.kept:
            kept += flag.words
    if refused:
        whose = f"{where}: " if where else ""
        raise InputError("\n".join(f"{whose}the flag {flag} is refused: {why}" for flag, why in refused.items()))
    return kept


def _undoes(name: str, earlier: str) -> bool:
    """Whether a flag leaves nothing of one before it."""
    if earlier == "-Ofast":
        return name.startswith("-O") or name == "-fno-fast-math"
    what, equals, _ = name.partition("=")
    if equals:
        return earlier.startswith(f"{what}=")
    return (
        (name, earlier) == ("-m64", "-m32")
        or name.removeprefix("-fno-") == earlier.removeprefix("-f")
        or (name.removeprefix("-f") == earlier.removeprefix("-fno-"))
    )


def _harmless(flag: Flag) -> bool:
    """Whether a flag that names a machine names the one that programs are checked for."""
    machine = flag.value if flag.name == "-target" else flag.name.removeprefix("--target=")
    return machine is not None and machine.startswith(_SAME_MACHINE)


def is_known(word: str) -> bool:
    """Whether a word of a command line is a flag without a value of its own in the next word."""
    flags = list(read([word]))
    return len(flags) == 1 and flags[0].row is not None and (flags[0].value is not None or word not in _valued())


def _valued() -> set[str]:
    return {word for row in TABLE for word in row.valued.split()}


def anchored(arguments: Sequence[str], folder: Path) -> list[str]:
    """The flags of a compiler that runs in `folder`, for one that runs anywhere."""
    words: list[str] = []
    for flag in read(arguments):
        if flag.name not in _PATHS or flag.value is None:
            words += flag.words
            continue
        place = folder / flag.value
        # A file to include first may also be among the headers.
        found = flag.name not in ("-include", "-imacros") or place.exists()
        words += [flag.name, os.path.normpath(place) if found else flag.value]
    return words


def expanded(words: Sequence[str], folder: Path, depth: int = 0) -> list[str]:
    """A command line with the contents of its response files, `@FILE`, in their places."""
    found: list[str] = []
    for word in words:
        file = folder / word[1:]
        if not word.startswith("@") or not file.is_file():
            found.append(word)
            continue
        if depth > 20:
            raise InputError(f"{file}: a response file that contains itself")
        try:
            found += expanded(shlex.split(file.read_text(errors="surrogateescape")), folder, depth + 1)
        except (OSError, ValueError) as error:
            raise InputError(f"{file}: not a response file: {error}") from None
    return found
